"""Vectors on the wire. Text for the one vector of a question, so that a statement can be pasted; binary for COPY."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg.adapt import Dumper
from psycopg.pq import Format


def as_text(vector: NDArray[np.float32]) -> str:
    """A vector of shape (d,) as PostgreSQL reads it: nine digits, so every float32 comes back as it was."""
    return "[" + ",".join([f"{x:.9g}" for x in vector.tolist()]) + "]"


def vector_dumper(oid: int) -> type[Dumper]:
    """A dumper of arrays of shape (d,) for binary COPY into columns of the type with this oid."""

    class VectorDumper(Dumper):
        format = Format.BINARY

        def dump(self, obj: Any) -> bytes:
            return bytes(Vector(obj).to_binary())

    VectorDumper.oid = oid
    return VectorDumper
