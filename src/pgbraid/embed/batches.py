"""Runs a model over rows of tokens: batches of like length under a budget, padded, one forward at a time.

Imported only by what runs a model, since it loads torch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from pgbraid.embed.tokens import ModelTokens, Row

BUDGET = 4096  # padded tokens in one forward: more gains nothing on a CPU and costs memory
MOST = 64  # rows in one forward

# Two forwards at once share the cores badly: each brings a team of threads that waits by spinning.
ONE_FORWARD = threading.Lock()


def plan(lengths: Sequence[int], budget: int = BUDGET, most: int = MOST) -> Iterator[list[int]]:
    """Indexes of `lengths` in batches, longest first, so that no batch holds over `budget` tokens once padded.

    A row longer than the budget is a batch alone.
    """
    order = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    while order:
        fitting = max(1, min(most, budget // max(lengths[order[0]], 1)))
        yield order[:fitting]
        order = order[fitting:]


def run(
    rows: Sequence[Row], tokens: ModelTokens, model: Callable[..., Any], keep: Callable[[list[int], Any, Any], None]
) -> None:
    """Run the model over all rows and hand each batch to `keep`: indexes, the model's output, and the mask.

    The mask is int64 of shape (batch, longest), 1 for tokens and 0 for padding, which is on the right. A row without
    any token (an empty text, for a model without special tokens) is not run.
    """
    filled = [index for index, row in enumerate(rows) if len(row)]
    for batch in plan([len(rows[index]) for index in filled]):
        indexes = [filled[place] for place in batch]
        inputs = padded([rows[index] for index in indexes], tokens)
        with ONE_FORWARD, torch.inference_mode():
            keep(indexes, model(**inputs), inputs["attention_mask"])


def padded(rows: Sequence[Row], tokens: ModelTokens) -> dict[str, torch.Tensor]:
    """The keyword arguments of the model for these rows, each int64 of shape (rows, longest)."""
    longest = max(len(row) for row in rows)

    def tensor(pieces: Sequence[list[int]], filler: int) -> torch.Tensor:
        return torch.tensor([piece + [filler] * (longest - len(piece)) for piece in pieces], dtype=torch.int64)

    inputs = {
        "input_ids": tensor([row.ids for row in rows], tokens.pad_id),
        "attention_mask": tensor([[1] * len(row) for row in rows], 0),
    }
    if tokens.uses_segments:
        inputs["token_type_ids"] = tensor([row.segments for row in rows], 0)
    return inputs
