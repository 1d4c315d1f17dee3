"""The vector index measured beside exact answers, on vectors that are hard for it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from fix_braid import made_of, with_function
from pgbraid import Braid, Document, VectorIndex
from pgbraid.errors import CatalogError, SettingsError
from pgbraid.filters import compile_filter
from pgbraid.measure.recall import Sweep

CHUNKS = 3_000


def scattered(texts: Sequence[str]) -> Any:
    """A vector of its own for each text, in no cluster."""
    return np.array([np.random.default_rng(crc32(t.encode())).normal(size=24) for t in texts])


def filled(braid: Braid, chunks: int = CHUNKS, **index: Any) -> None:
    with_function(braid, "scattered", scattered, 24)
    made_of(braid, embedder="scattered", index=VectorIndex(**index))
    words = random.Random(5)
    texts = ["".join(words.choices("abcdefghijklmnopqrstuvwxyz", k=14)) for _ in range(chunks)]
    braid.ingest("notes", [Document(f"d{i}", t, metadata={"tenth": i % 10 == 0}) for i, t in enumerate(texts)])


@pytest.fixture
def sparse(braid: Braid) -> Braid:
    """An index with few neighbours, which misses much when it looks at little."""
    filled(braid, m=4, ef_construction=8, exact_below=500)
    return braid


def test_looking_at_more_nodes_finds_more(sparse: Braid) -> None:
    done = sparse.recall("notes", Sweep(sample=20, candidates=10, breadths=(400, 2)))
    few, many = done.lines[0].points
    assert (few.ef_search, many.ef_search) == (2, 400) and done.used and done.chunks == CHUNKS
    assert few.recall < 0.9 < many.recall <= 1.0
    assert few.least <= few.recall and few.median_ms > 0
    assert done.lines[0].smallest(few.recall + 0.01) == many


def test_each_filter_has_a_line_and_its_share(sparse: Braid) -> None:
    filters = {"": None, "tenth": compile_filter({"tenth": True}), "none": compile_filter({"tenth": "never"})}
    done = sparse.recall("notes", Sweep(sample=5, candidates=10, breadths=(40,), filters=filters))
    assert [(line.filter, round(line.share, 3)) for line in done.lines] == [("", 1.0), ("tenth", 0.1), ("none", 0.0)]
    assert done.lines[2].points[0].recall == 1.0


def test_the_same_vectors_are_sampled_again(sparse: Braid) -> None:
    sweep = Sweep(sample=10, candidates=10, breadths=(5,))
    first, second = (sparse.recall("notes", sweep).lines[0].points[0] for _ in range(2))
    assert (first.recall, first.least) == (second.recall, second.least)


def test_a_small_collection_says_that_its_index_is_not_used(braid: Braid) -> None:
    filled(braid, 60)
    assert not braid.recall("notes", Sweep(sample=3, candidates=5, breadths=(40,))).used


def test_what_cannot_be_measured_is_refused(braid: Braid) -> None:
    made_of(braid)
    with pytest.raises(CatalogError, match="no chunks"):
        braid.recall("notes")
    for wrong in (Sweep(breadths=(0,)), Sweep(breadths=()), Sweep(breadths=(1001,)), Sweep(sample=0)):
        with pytest.raises(SettingsError):
            braid.recall("notes", wrong)
    with pytest.raises(SettingsError, match="no tenants"):
        braid.recall("notes", Sweep(tenant="a"))
