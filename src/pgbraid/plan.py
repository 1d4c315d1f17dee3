"""What a search will do, decided before anything is done: a value that can be printed.

Pure. Takes the decision, what the catalogue knows and the caller's options; gives the branches, their pools and
limits. `compose` turns it into one statement.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from pgbraid.errors import SettingsError, UnknownOption, nearest
from pgbraid.lexical import LexicalQuery
from pgbraid.values import Collection, Profile

Way = Literal["index", "exact", "adaptive", "words"]
MAX_EF_SEARCH = 1000
GROWTH = 4
EVIDENCE_FLOOR = 0.4  # a collection that holds none of the words may still answer by meaning


@dataclass(frozen=True, slots=True)
class Branch:
    """One ranked list:

    one collection searched by one method. Branches of a pool have scores that compare as they are.
    """

    number: int
    collection: Collection
    method: Literal["dense", "lexical"]
    way: Way
    pool: int
    weight: float
    threshold: float | None = None

    @property
    def name(self) -> str:
        return f"{self.collection.name}/{self.method}"

    @property
    def metric(self) -> str:
        return self.collection.embedder.metric if self.method == "dense" else "bm25"


@dataclass(frozen=True, slots=True)
class Plan:
    """A search, decided.

    `documents` is how many parents leave the fusion, `candidates` how many hits a branch gives.
    """

    branches: tuple[Branch, ...]
    collections: tuple[Collection, ...]
    profile: Profile
    documents: int
    candidates: int
    tenant: str
    filter: str | None
    words: Mapping[int, LexicalQuery]
    with_text: bool

    @property
    def evidence_branches(self) -> tuple[int, ...]:
        """The branches that say how likely each collection has the answer; none where only one is asked."""
        if len(self.collections) < 2 or self.profile.fusion != "zscore" or self.profile.evidence_weight == 0:
            return ()
        return tuple(b.number for b in self.branches if b.method == "lexical")

    @property
    def ef_search(self) -> int | None:
        """The breadth of HNSW scans, or None when no branch uses an index.

        Twice the candidates: a question between two clusters finds 0.80 of the nearest 100 at breadth 100, 0.97 at 200.
        """
        asked = [b.collection.index.ef_search for b in self.branches if b.way in ("index", "adaptive")]
        return min(MAX_EF_SEARCH, max([*asked, 2 * self.candidates])) if asked else None

    def wider(self) -> Plan:
        """The same search with more candidates a branch, for when too few documents came."""
        grown = replace(self, candidates=self.candidates * GROWTH)
        return replace(grown, branches=tuple(replace(b, way=_way(b, grown)) for b in grown.branches))


def make_plan(
    collections: Sequence[Collection],
    words: Mapping[int, LexicalQuery],
    profile: Profile,
    *,
    tenant: str = "",
    condition: str | None = None,
) -> Plan:
    """The branches of a search over these collections.

    A collection that holds none of the words has no lexical branch.
    """
    documents = max(profile.top_k, profile.rerank_top_k) if profile.rerank else profile.top_k
    plan = Plan(
        branches=(),
        collections=tuple(collections),
        profile=profile,
        documents=documents,
        candidates=max(profile.candidates, documents),
        tenant=tenant,
        filter=condition,
        words=words,
        with_text=profile.rerank is None or profile.rerank_reads in ("neighbours", "document"),
    )
    pools: dict[tuple[str, object], int] = {}
    branches: list[Branch] = []
    for collection in collections:
        for method, weight, threshold in (
            ("dense", profile.dense_weight, profile.dense_threshold),
            ("lexical", profile.lexical_weight, profile.lexical_threshold),
        ):
            if weight == 0 or (method == "lexical" and collection.id not in words):
                continue
            kind = collection.embedder.id if method == "dense" else collection.text_config
            pool = pools.setdefault((method, kind), len(pools) + 1)
            branch = Branch(len(branches) + 1, collection, method, "words", pool, weight, threshold)  # type: ignore[arg-type]
            branches.append(replace(branch, way=_way(branch, plan)))
    return replace(plan, branches=tuple(branches))


def _way(branch: Branch, plan: Plan) -> Way:
    """Exact where that is cheap;

    the index on many rows; counted first where a filter or a tenant leaves an unknown part.
    """
    if branch.method == "lexical":
        return "words"
    rows = branch.collection.chunks
    if rows <= branch.collection.index.exact_below or plan.candidates * 4 >= rows:
        return "exact"
    if plan.filter is not None or branch.collection.tenants:
        return "adaptive"
    return "index"


def with_options(profile: Profile, options: Mapping[str, Any]) -> Profile:
    """A profile with a caller's options over it;

    None leaves a setting as it is. Raises for unknown keys and wrong values.
    """
    known = {f.name for f in fields(Profile)} - {"name"}
    for key in options:
        if key not in known:
            raise UnknownOption(f"A profile has no setting {key!r}. {nearest(key, known)}")
    changed = replace(profile, **{k: v for k, v in options.items() if v is not None})
    check_profile(changed)
    return changed


_WHOLE = {"top_k": 1000, "candidates": 100_000, "rrf_k": 10_000, "rerank_top_k": 1000, "rerank_top_m": 100}
_WEIGHTS = ("dense_weight", "lexical_weight", "evidence_weight")
_THRESHOLDS = ("dense_threshold", "lexical_threshold")
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "fusion": ("zscore", "minmax", "rrf"),
    "rerank_reads": ("chunk", "chunks", "neighbours", "document"),
    "rerank_overflow": ("reject", "truncate", "window"),
    "rerank_on_failure": ("keep_order", "fail"),
}


def check_profile(profile: Profile) -> None:
    """Raise SettingsError for a value that cannot work."""
    for name, high in _WHOLE.items():
        _expect(profile, name, _whole_to(high), f"a whole number from 1 to {high}")
    for name in _WEIGHTS:
        _expect(profile, name, lambda v: _is_number(v) and 0 <= v <= 1000, "a number from 0 to 1000")
    for name in _THRESHOLDS:
        _expect(profile, name, lambda v: v is None or _is_number(v), "a number, or null for none")
    for name, choices in _CHOICES.items():
        _expect(profile, name, lambda v, choices=choices: v in choices, _either(choices))  # type: ignore[misc]
    _check_rerank(profile)
    if profile.dense_weight == 0 and profile.lexical_weight == 0:
        raise SettingsError("dense_weight and lexical_weight are both 0: nothing would be searched")


def _check_rerank(profile: Profile) -> None:
    _expect(
        profile, "rerank", lambda v: v is None or (isinstance(v, str) and bool(v.strip())), "the name of a reranker"
    )
    _expect(profile, "rerank_strict", lambda v: isinstance(v, bool), "true or false")
    _expect(
        profile, "rerank_blend", lambda v: v is None or (_is_number(v) and 0 <= v <= 1), "a number from 0 to 1, or null"
    )
    _expect(
        profile,
        "rerank_budget_ms",
        lambda v: v is None or (type(v) is int and v >= 1),
        "a whole number of milliseconds, or null for no limit",
    )
    if profile.rerank is None:
        return
    if profile.rerank_top_k > profile.candidates:
        raise SettingsError(
            f"rerank_top_k is {profile.rerank_top_k}, more than the {profile.candidates} candidates of a branch"
        )
    if profile.rerank_reads == "document" and profile.rerank_overflow == "reject":
        raise SettingsError(
            "rerank_reads document with rerank_overflow reject leaves out most documents: choose window or truncate"
        )


def _either(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _expect(profile: Profile, name: str, fits: Callable[[Any], bool], what: str) -> None:
    value = getattr(profile, name)
    if not fits(value):
        raise SettingsError(f"{name} is {what}, not {value!r}")


def _whole_to(high: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and 1 <= value <= high


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
