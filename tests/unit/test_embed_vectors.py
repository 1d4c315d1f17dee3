"""What a vector must be to be stored."""

import numpy as np
import pytest

from pgbraid.embed import check_vectors
from pgbraid.errors import EmbeddingFailed


def _three_good_rows() -> np.ndarray:
    return np.array([[1, 0], [0, -2], [65504, 1e-7]], dtype=np.float32)


def test_good_vectors_have_no_problems():
    assert check_vectors(_three_good_rows(), 2, "it") == {}
    assert check_vectors(np.empty((0, 2), np.float32), 2, "it") == {}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ([np.nan, 1], "not finite"),
        ([np.inf, 1], "not finite"),
        ([0, 0], "zero"),
        ([1e-9, -1e-9], "zero"),
        ([1, -65600], "65504"),
    ],
)
def test_a_bad_row_is_named_and_the_others_are_not(row, reason):
    vectors = _three_good_rows()
    vectors[1] = row
    problems = check_vectors(vectors, 2, "the embedder m")
    assert list(problems) == [1]
    assert reason in problems[1] and "the embedder m" in problems[1]


def test_the_limits_are_those_of_half_precision():
    for number in (65504.0, 2.0**-24):
        assert np.isfinite(np.float16(number)) and np.float16(number) != 0
        assert check_vectors(np.full((1, 2), number, np.float32), 2, "it") == {}
    assert np.float16(2.0**-25) == 0
    assert check_vectors(np.full((1, 2), 2.0**-25, np.float32), 2, "it")


@pytest.mark.parametrize(
    "vectors",
    [np.ones((3, 3), np.float32), np.ones(2, np.float32), np.ones((3, 2), np.float64), np.ones((3, 2), np.int32)],
)
def test_an_array_of_another_shape_or_type_is_refused_as_a_whole(vectors):
    with pytest.raises(EmbeddingFailed, match=r"float32 of shape \(n, 2\)"):
        check_vectors(vectors, 2, "it")
