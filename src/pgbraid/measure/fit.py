"""Settings fitted to judged questions, with a guard: what is proposed is no worse than the best single branch.

Weights and fusion are chosen on some questions and scored on others (cross-validation), so the score that is told is
one that the settings did not see. Nothing here searches: stored branch results are fused again.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pgbraid.errors import SettingsError
from pgbraid.measure.compare import Comparison, compare
from pgbraid.measure.replay import replay
from pgbraid.measure.scores import mean, per_question
from pgbraid.measure.values import Grades, Observed
from pgbraid.values import Profile

FOLDS = 5
SEED = 7
WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
RRF_K = (5, 20, 60)
DEPTH = 10

Scores = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A proposed profile and what speaks for it.

    `held_out` are mean scores of fitting by cross-validation, on questions that each fold did not see; `lexical`,
    `dense`, `current` and `rrf` (equal weights, k = 60) are means over the same questions. `guarded` tells that fusing
    was no better than one branch, which is proposed instead. `gain` compares the proposal with the current profile.
    """

    profile: Profile
    questions: int
    held_out: float
    lexical: float
    dense: float
    current: float
    rrf: float
    guarded: bool
    gain: Comparison


def fit(observed: Mapping[str, Observed], grades: Mapping[str, Grades], current: Profile = Profile()) -> Fitted:
    """Choose fusion, weights and rrf_k for nDCG@10. Raises SettingsError for fewer than 10 questions.

    `observed` are branch results by question id; every one of them needs grades.
    """
    if len(observed) < 2 * FOLDS:
        raise SettingsError(f"{len(observed)} judged questions are too few to fit on: at least {2 * FOLDS}, better 50")
    table = {p: _scores(observed, grades, p) for p in candidates(current)}
    held_out: dict[str, float] = {}
    for fold in _folds(list(observed)):
        chosen = _best(table, [key for key in observed if key not in fold])
        held_out |= {key: table[chosen][key] for key in fold}
    singles = {name: _scores(observed, grades, one) for name, one in _singles(current).items()}
    better = max(singles, key=lambda name: mean(singles[name]))
    guarded = mean(held_out) < mean(singles[better])
    profile = _singles(current)[better] if guarded else _best(table, list(observed))
    before = _scores(observed, grades, current)
    rrf = _scores(observed, grades, replace(current, fusion="rrf", rrf_k=60, dense_weight=1.0, lexical_weight=1.0))
    return Fitted(
        profile=profile,
        questions=len(observed),
        held_out=mean(held_out),
        lexical=mean(singles["lexical"]),
        dense=mean(singles["dense"]),
        current=mean(before),
        rrf=mean(rrf),
        guarded=guarded,
        gain=compare(before, singles[better] if guarded else held_out),
    )


def candidates(current: Profile) -> Iterator[Profile]:
    """The settings that are tried: each fusion with each share of weight. Single branches are the guard's."""
    for weight in WEIGHTS:
        weighed = replace(current, dense_weight=weight, lexical_weight=round(1 - weight, 3))
        yield replace(weighed, fusion="zscore")
        yield replace(weighed, fusion="minmax")
        for k in RRF_K:
            yield replace(weighed, fusion="rrf", rrf_k=k)


def _singles(current: Profile) -> dict[str, Profile]:
    return {
        "lexical": replace(current, dense_weight=0.0, lexical_weight=1.0),
        "dense": replace(current, dense_weight=1.0, lexical_weight=0.0),
    }


def _scores(observed: Mapping[str, Observed], grades: Mapping[str, Grades], profile: Profile) -> Scores:
    deep = replace(profile, top_k=DEPTH)
    return per_question(grades, {key: replay(one, deep) for key, one in observed.items()})


def _best(table: Mapping[Profile, Scores], keys: Sequence[str]) -> Profile:
    """The first of the best: ties go to the fusion and weight that stand first among the candidates."""
    return max(table, key=lambda profile: sum(table[profile][key] for key in keys))


def _folds(keys: list[str]) -> list[set[str]]:
    random.Random(SEED).shuffle(keys)  # noqa: S311 - a fixed division, no secret
    return [set(keys[start::FOLDS]) for start in range(FOLDS)]
