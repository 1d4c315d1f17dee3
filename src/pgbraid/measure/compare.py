"""Two sets of scores of the same questions: who won where, and whether it is more than chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, stdev

from pgbraid.errors import MissingExtra, SettingsError

SMALL = 50  # judged questions below which a difference is hardly ever told from chance
RESAMPLES = 9_999
SEED = 20_240_601


@dataclass(frozen=True, slots=True)
class Comparison:
    """How `b` does against `a`: means, mean difference b - a with the half width of its 95 % interval, p value.

    `differences` has b - a by question, only where they differ; `small` tells that too few questions were asked.
    """

    questions: int
    a: float
    b: float
    difference: float
    half_width: float
    p_value: float
    small: bool
    differences: Mapping[str, float]

    @property
    def wins(self) -> int:
        return sum(value > 0 for value in self.differences.values())

    @property
    def losses(self) -> int:
        return sum(value < 0 for value in self.differences.values())


def compare(a: Mapping[str, float], b: Mapping[str, float]) -> Comparison:
    """Compare scores of the same questions by a paired randomisation test (signs of the differences are flipped;
    Smucker, Allan and Carterette, CIKM 2007), two-sided.

    Raises SettingsError where the questions are not the same or none, MissingExtra without scipy.
    """
    if not a or a.keys() != b.keys():
        raise SettingsError(f"The two runs answer other questions ({len(a.keys() & b.keys())} in common): ask the same")
    values = [b[key] - a[key] for key in a]
    spread = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return Comparison(
        questions=len(values),
        a=fmean(a.values()),
        b=fmean(b.values()),
        difference=fmean(values),
        half_width=1.96 * spread,
        p_value=_p_value(values),
        small=len(values) < SMALL,
        differences={key: b[key] - a[key] for key in a if b[key] != a[key]},
    )


def _p_value(values: list[float]) -> float:
    if not any(values) or len(values) < 2:
        return 1.0
    try:
        import numpy as np
        from scipy.stats import permutation_test
    except ImportError:
        raise MissingExtra("A significance test", "eval") from None
    done = permutation_test(
        (np.array(values),),
        np.mean,
        permutation_type="samples",
        n_resamples=RESAMPLES,
        rng=np.random.default_rng(SEED),
        batch=500,
    )
    return float(done.pvalue)
