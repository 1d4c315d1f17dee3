"""Branch results fused again give what a search gives."""

from __future__ import annotations

import pytest

from fix_braid import ids, made_of, sentences
from pgbraid import Braid, Document
from pgbraid.errors import SettingsError
from pgbraid.measure.replay import replay
from pgbraid.plan import with_options
from pgbraid.values import Profile

SETTINGS = [
    {},
    {"fusion": "minmax", "dense_weight": 0.3, "lexical_weight": 0.7},
    {"fusion": "rrf", "rrf_k": 20, "lexical_weight": 0.4},
    {"dense_weight": 0.0},
    {"lexical_weight": 0.0},
    {"candidates": 15, "dense_threshold": 0.2},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_fusing_again_gives_what_a_search_gives(braid: Braid, settings: dict[str, object]) -> None:
    made_of(braid)
    braid.ingest("notes", [Document(f"d{i}", text) for i, text in enumerate(sentences(3, 120, words=60))])
    for question in sentences(4, 8, words=5):
        observed = braid.observe(question, collections="notes")
        searched = braid.search(question, collections="notes", top_k=10, **settings)
        assert not searched.trace.notes
        assert replay(observed, with_options(Profile(top_k=10), settings)) == ids(searched)


def test_only_one_collection_is_observed(braid: Braid) -> None:
    with pytest.raises(SettingsError, match="One collection"):
        braid.observe("leave", collections=["a", "b"])
