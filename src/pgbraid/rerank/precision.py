"""In which numbers a model computes: what the CPU is good at, and only after its scores were held against float32.

bfloat16 has the range of float32 and 8 bits of precision; CPUs with AMX or AVX512-BF16 multiply it several times
as fast. int8 (weights by channel, activations by batch) is chosen by name only. Loads torch.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Sequence
from typing import Any

import torch

from pgbraid.errors import ModelError

PRECISIONS = ("auto", "fp32", "bf16", "int8")
ALLOWED_DRIFT = 0.1  # of the spread of the float32 scores, on average over the probes
LEAST_SPREAD = 0.1  # a model whose scores hardly differ is not refused for what rounding does to them

# Pairs that differ much in how well they fit, short and long, in two scripts.
PROBES: tuple[tuple[str, str], ...] = (
    ("how many days of annual leave may be carried over", "Up to five days of leave may be carried over to March."),
    ("how many days of annual leave may be carried over", "Flights need the approval of the manager."),
    ("restore a database", "A restore is rehearsed once a month, on a machine that holds nothing else. " * 4),
    ("restore a database", "Overtime is paid at one and a half times the usual rate."),
    ("合同审批要走什么流程", "业务部门发起，法务审查，财务审核，最后用印归档。"),
    ("合同审批要走什么流程", "The engineer on call answers within ten minutes."),
    ("does vitamin C cure a cold", "In a trial of 1,200 people vitamin C did not shorten colds. " * 8),
    ("does vitamin C cure a cold", "Water boils at a lower temperature in the mountains."),
)

_log = logging.getLogger(__name__)


def best_here() -> str:
    """`bf16` where the CPU multiplies bfloat16 in hardware, else `fp32`."""
    fast = (getattr(torch.cpu, name, None) for name in ("_is_amx_tile_supported", "_is_avx512_bf16_supported"))
    return "bf16" if any(known is not None and known() for known in fast) else "fp32"


def in_precision(model: Any, wanted: str, probe: Callable[[Any], Sequence[float]], what: str) -> tuple[Any, str, float]:
    """The model in the precision wanted, that precision, and the drift of its scores on the probes.

    `probe` scores `PROBES` with a model. With `auto` a model that drifts stays in float32. Raises ModelError
    when a precision that was named drifts too far.
    """
    chosen = best_here() if wanted == "auto" else wanted
    exact = probe(model)  # in float32 too: it warms the model up before the first question
    if chosen == "fp32":
        return model, "fp32", 0.0
    lower = _int8(model) if chosen == "int8" else copy.deepcopy(model).to(torch.bfloat16)
    drift = drift_of(exact, probe(lower))
    if drift <= ALLOWED_DRIFT:
        return lower, chosen, drift
    told = f"{what} in {chosen} drifts from its float32 scores by {drift:.2f} of their spread (allowed {ALLOWED_DRIFT})"
    if wanted != "auto":
        raise ModelError(f"{told}. Use precision=fp32.")
    _log.warning("%s: it stays in float32", told)
    return model, "fp32", 0.0


def drift_of(exact: Sequence[float], lower: Sequence[float]) -> float:
    """Mean absolute difference over the standard deviation of the exact scores; infinite for what is no number."""
    known, found = torch.tensor(exact, dtype=torch.float64), torch.tensor(lower, dtype=torch.float64)
    if not bool(torch.isfinite(found).all()):
        return float("inf")
    spread = max(float(known.std(correction=0)), LEAST_SPREAD)
    return float((known - found).abs().mean()) / spread


def _int8(model: Any) -> Any:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch announces that this moves to torchao
        quantize: Any = torch.ao.quantization.quantize_dynamic
        return quantize(copy.deepcopy(model), {torch.nn.Linear}, dtype=torch.qint8)
