"""What a vector must be to be stored: float32, finite, not zero, and within the range of pgvector's halfvec."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pgbraid.errors import EmbeddingFailed
from pgbraid.values import Vectors

LARGEST = 65504.0  # of a half precision number, which is what the index stores
SMALLEST = 2.0**-25  # and below this, half precision knows only zero


def check_vectors(vectors: ArrayLike, dimensions: int, what: str) -> dict[int, str]:
    """Say for each row that cannot be stored why, so that its document alone is rejected; empty when all are good.

    Raises EmbeddingFailed when `vectors` as a whole is not float32 of shape (n, dimensions); `what` names the embedder.
    """
    found = np.asarray(vectors)
    if found.dtype != np.float32 or found.ndim != 2 or found.shape[1] != dimensions:
        raise EmbeddingFailed(
            f"{what} gave {found.dtype} of shape {found.shape} instead of float32 of shape (n, {dimensions}). "
            "Correct the embedder, or declare the dimensions it has."
        )
    finite = np.isfinite(found).all(axis=1)
    largest = np.abs(found).max(axis=1, initial=0.0)
    problems: dict[int, str] = {}
    for row in np.flatnonzero(~finite | (largest > LARGEST) | (largest <= SMALLEST)):
        problems[int(row)] = _problem(bool(finite[row]), float(largest[row]), what)
    return problems


def _problem(finite: bool, largest: float, what: str) -> str:
    if not finite:
        return f"{what} gave a vector with a number that is not finite"
    if largest > LARGEST:
        return f"{what} gave a vector with the number {largest:g}, beyond the {LARGEST:g} that a halfvec can hold"
    return f"{what} gave a vector that is zero in half precision, which has no direction"


def as_vectors(found: Any, count: int, dimensions: int, what: str) -> Vectors:
    """What somebody else's code gave, as float32 of shape (count, dimensions).

    Raises EmbeddingFailed for another shape and for what is not numbers. The rows themselves are not judged here.
    """
    try:
        with np.errstate(over="ignore"):  # too large becomes infinite, which check_vectors reports
            vectors = np.asarray(found, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EmbeddingFailed(f"{what} gave something that is no array of numbers: {error}") from error
    if count == 0 and vectors.size == 0:
        return np.empty((0, dimensions), dtype=np.float32)
    if vectors.shape != (count, dimensions):
        raise EmbeddingFailed(
            f"{what} gave an array of shape {vectors.shape} for {count} texts, expected ({count}, {dimensions}). "
            "Correct the embedder, or declare the dimensions it has."
        )
    return vectors
