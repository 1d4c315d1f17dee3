"""Runs an encoder over rows of unequal length without padding: all tokens of a batch in one line, attention row by row.

Everything but attention treats each token by itself, so rows can stand behind each other in one sequence; attention is
computed for each row alone. Exact: only the order of summation differs from a padded run. Models whose attention is
of another kind run padded, in batches of like length. Loads torch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

from pgbraid.embed import batches
from pgbraid.embed.tokens import ModelTokens, Row

BUDGET = 2048  # tokens in one forward: more no longer fits the caches, and costs bfloat16 its lead
NAME = "pgbraid_rows"
_OFFSET_AFTER_PADDING = frozenset({"roberta", "xlm-roberta", "camembert"})
PACKABLE = frozenset({"bert"}) | _OFFSET_AFTER_PADDING

Keep = Callable[[list[int], torch.Tensor], None]
_registering = threading.Lock()


def row_attention(
    module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attention_mask: Any, **named: Any
) -> tuple[torch.Tensor, None]:
    """Attention of each row to itself. query, key, value: (1, heads, tokens, width); `rows` has the rows' lengths."""
    lengths, scale = named["rows"], named.get("scaling")
    parts = zip(*(torch.split(one, lengths, 2) for one in (query, key, value)), strict=True)
    found = [scaled_dot_product_attention(q, k, v, scale=scale) for q, k, v in parts]
    return torch.cat(found, 2).transpose(1, 2).contiguous(), None


def prepare(model: Any) -> bool:
    """Let a model run packed from now on, if its kind can; whether it can."""
    if model.config.model_type not in PACKABLE or model.config.is_decoder:
        return False
    from transformers import AttentionInterface

    with _registering:
        AttentionInterface.register(NAME, row_attention)
    model.set_attn_implementation(NAME)
    return True


def first_tokens(rows: Sequence[Row], tokens: ModelTokens, encoder: Any) -> torch.Tensor:
    """The last hidden state of each row's first token, (rows, width), from one packed forward."""
    lengths = [len(row) for row in rows]
    start = int(encoder.config.pad_token_id) + 1 if encoder.config.model_type in _OFFSET_AFTER_PADDING else 0
    places = torch.cat([torch.arange(start, start + length) for length in lengths])[None]
    inputs: dict[str, torch.Tensor] = {"input_ids": torch.tensor([[one for row in rows for one in row.ids]])}
    if tokens.uses_segments:
        inputs["token_type_ids"] = torch.tensor([[one for row in rows for one in row.segments]])
    inner = encoder.embeddings(position_ids=places, **inputs)
    hidden: torch.Tensor = encoder.encoder(inner, rows=lengths).last_hidden_state[0]
    return hidden[torch.tensor([0, *lengths[:-1]]).cumsum(0)]


def packs(lengths: Sequence[int], budget: int = BUDGET) -> Iterator[list[int]]:
    """Indexes of `lengths` in batches of at most `budget` tokens, longest first; a longer row is a batch alone."""
    batch: list[int] = []
    used = 0
    for index in sorted(range(len(lengths)), key=lambda at: (-lengths[at], at)):
        if batch and used + lengths[index] > budget:
            yield batch
            batch, used = [], 0
        batch.append(index)
        used += lengths[index]
    if batch:
        yield batch


def planned(lengths: Sequence[int], packed: bool) -> Iterator[list[int]]:
    """The batches of a run, packed or padded."""
    return packs(lengths) if packed else batches.plan(lengths)
