"""From token vectors to one vector: the ways of pooling, and the layers that some models have behind it.

Imported only by what runs a model, since it loads torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from pgbraid.embed.layout import Dense, Layout, Mode
from pgbraid.errors import ModelError

Step = Callable[[torch.Tensor], torch.Tensor]


def pool(hidden: torch.Tensor, mask: torch.Tensor, modes: Sequence[Mode]) -> torch.Tensor:
    """Token vectors (batch, tokens, width) to vectors (batch, width × modes). Padding is on the right, mask 0."""
    return torch.cat([_POOLED[mode](hidden, mask) for mode in modes], dim=1)


def _cls(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return hidden[:, 0]


def _last(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return hidden[torch.arange(len(hidden)), mask.sum(dim=1) - 1]


def _max(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return hidden.masked_fill(mask.unsqueeze(-1) == 0, -torch.inf).amax(dim=1)


def _mean(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return _summed(hidden, mask.to(hidden.dtype)) / mask.sum(dim=1, keepdim=True)


def _mean_sqrt_len(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return _summed(hidden, mask.to(hidden.dtype)) / mask.sum(dim=1, keepdim=True).sqrt()


def _weighted_mean(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Each token weighs its place, from 1: in a causal model the later ones have seen more."""
    weights = mask * torch.arange(1, mask.shape[1] + 1)
    return _summed(hidden, weights.to(hidden.dtype)) / weights.sum(dim=1, keepdim=True)


def _summed(hidden: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return (hidden * weights.unsqueeze(-1)).sum(dim=1)


_POOLED: dict[Mode, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "cls": _cls,
    "max": _max,
    "mean": _mean,
    "mean_sqrt_len_tokens": _mean_sqrt_len,
    "weightedmean": _weighted_mean,
    "lasttoken": _last,
}


def load_steps(folder: Path, layout: Layout, width: int) -> tuple[tuple[Step, ...], int]:
    """The steps behind the pooling, ready to run, and the dimensions that come out. Raises ModelError."""
    size = width * len(layout.modes)
    steps: list[Step] = []
    for step in layout.steps:
        if isinstance(step, Dense):
            steps.append(_dense(folder, step, size))
            size = step.outputs
        else:
            steps.append(_normalize)
    return tuple(steps), size


def _normalize(vectors: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.normalize(vectors, p=2.0, dim=-1)


def _dense(folder: Path, step: Dense, size: int) -> Step:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    linear = torch.nn.Linear(step.inputs, step.outputs, bias=step.bias)
    file = folder / step.folder / "model.safetensors"
    try:
        weights = {name.removeprefix("linear."): tensor.float() for name, tensor in load_file(file).items()}
        linear.load_state_dict(weights)
    except (OSError, SafetensorError, RuntimeError) as error:
        raise ModelError(f"The Dense layer in {file} cannot be loaded: {error}") from error
    if step.inputs != size or (step.residual and step.inputs != step.outputs):
        raise ModelError(f"The Dense layer in {file} takes {step.inputs} numbers to {step.outputs}, but gets {size}.")
    activation: torch.nn.Module = getattr(torch.nn, step.activation)()

    def apply(vectors: torch.Tensor) -> torch.Tensor:
        projected: torch.Tensor = activation(linear(vectors))
        return projected + vectors if step.residual else projected

    return apply
