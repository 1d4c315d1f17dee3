"""Encoders with trained exits: a head for each of some layers and widths, so that the forward pass can stop early.

A folder holds, beside the encoder, `matryoshka_config.json` (which layers and dimensions have a head) and
`classification_heads.safetensors` (tensors `{layer}.{dimensions}.0.weight|bias` and `….3.weight|bias`). The logit of an
exit: hidden state of the first token after that layer and the final norm, its first D components in float32,
linear to D/2, GELU, linear to 1. Layers above the exit are dropped at load: they are never run. Loads torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import gelu, linear

from pgbraid.embed.files import locate, read_object
from pgbraid.embed.tokens import ModelTokens, Row
from pgbraid.embed.weights import Loaded, load_weights, read_config
from pgbraid.errors import ModelError, SettingsError
from pgbraid.rerank import packed
from pgbraid.rerank.crossencoder import CrossEncoder, longest_of
from pgbraid.rerank.precision import PRECISIONS
from pgbraid.rerank.spec import Spec

OPTIONS = ("precision", "max_tokens", "layer", "dimensions")
CONFIG, HEADS = "matryoshka_config.json", "classification_heads.safetensors"
# Where an encoder keeps its layers, and the norm that its last hidden state went through.
_LAYERS = {"modernbert": ("layers", "final_norm"), "bert": ("encoder.layer", ""), "xlm-roberta": ("encoder.layer", "")}
_PARTS = ("0.weight", "0.bias", "3.weight", "3.bias")


@dataclass(frozen=True, slots=True)
class Exit:
    """A layer, counted from 1, and how many components of its hidden state its head reads."""

    layer: int
    dimensions: int


def load(spec: Spec) -> CrossEncoder:
    """The reranker at one exit of an encoder; the last layer at full width unless the spec names another.

    Raises ModelError for a folder that is not laid out so, and SettingsError for an exit that was not trained.
    """
    spec.only(OPTIONS)
    folder = locate(spec.model)
    config = read_config(folder)
    trained = trained_exits(folder, config)
    chosen = Exit(
        spec.whole("layer") or max(one.layer for one in trained),
        spec.whole("dimensions") or max(one.dimensions for one in trained),
    )
    if chosen not in trained:
        served = ", ".join(f"layer={one.layer},dimensions={one.dimensions}" for one in trained)
        raise SettingsError(f"{spec.text!r}: this exit was not trained. There are: {served}")
    tensors = _head(folder, chosen)
    loaded = load_weights(folder, "AutoModel", "pooler")
    _stop_at(loaded, chosen.layer)
    precision = spec.one_of("precision", PRECISIONS, "auto")
    return CrossEncoder(Path(spec.model).name, loaded, ExitHead(chosen, tensors), precision, longest_of(spec, loaded))


def trained_exits(folder: Path, config: Any) -> tuple[Exit, ...]:
    """The exits that have a whole head, read from the files' headers alone. Raises ModelError."""
    said = read_object(folder / CONFIG)
    if config.model_type not in _LAYERS:
        raise ModelError(f"{folder} is a {config.model_type}; trained exits are read of: {', '.join(_LAYERS)}")
    wanted = {"hidden_size": config.hidden_size, "num_layers": config.num_hidden_layers, "pooling_strategy": "cls"}
    normed = bool(_LAYERS[config.model_type][1])
    for key, value in {**wanted, "has_final_norm": normed}.items():
        if said.get(key, value) != value:
            raise ModelError(f"{folder / CONFIG}: {key} is {said[key]!r}, the encoder has {value!r}")
    _check_contract(folder, said, normed)
    layers = _numbers(folder, said, "layer_indices", 1, config.num_hidden_layers)
    widths = _numbers(folder, said, "dim_indices", 2, config.hidden_size)
    shapes = _shapes(folder / HEADS)
    found = tuple(e for e in (Exit(a, b) for a in layers for b in widths) if _whole(folder, shapes, e))
    if not found:
        raise ModelError(f"{folder / HEADS} holds no whole head for any exit that {CONFIG} names")
    return found


def _check_contract(folder: Path, said: Mapping[str, object], normed: bool) -> None:
    """Raise ModelError where the folder states how its hidden states are read, and that is not how it is done here."""
    stated = said.get("representation_contract") or read_object(folder / "config.json").get("representation_contract")
    if stated is None:
        return
    if not isinstance(stated, dict):
        raise ModelError(f"{folder / CONFIG}: representation_contract must be an object, not {stated!r}")
    norm = "final_norm" if normed else "none"
    done = {"version": 1, "pooling": "cls", "intermediate_normalization": norm, "final_normalization": norm}
    for key, value in {**done, "head_dtype": "float32"}.items():
        if stated.get(key, value) != value:
            raise ModelError(f"{folder}: representation_contract has {key} {stated[key]!r}, only {value!r} can be read")


class ExitHead:
    """The head of one exit, in float32 whatever the encoder computes in."""

    def __init__(self, chosen: Exit, tensors: Mapping[str, torch.Tensor]) -> None:
        self.name = f"layer={chosen.layer},dimensions={chosen.dimensions}"
        self._width = chosen.dimensions
        self._tensors = tensors

    def packed(self, model: Any, rows: Sequence[Row], tokens: ModelTokens) -> torch.Tensor:
        """Logits of shape (rows,) from one packed forward."""
        return self._logits(packed.first_tokens(rows, tokens, model))

    def padded(self, model: Any, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        """Logits of shape (rows,) from one padded forward."""
        return self._logits(model(**inputs).last_hidden_state[:, 0])

    def _logits(self, first: torch.Tensor) -> torch.Tensor:
        head = self._tensors
        inner = gelu(linear(first[:, : self._width].float(), head["0.weight"], head["0.bias"]))
        return linear(inner, head["3.weight"], head["3.bias"])[:, 0]


def _stop_at(loaded: Loaded, layer: int) -> None:
    """Drop the layers above the exit."""
    owner: Any = loaded.model
    *path, last = _LAYERS[loaded.config.model_type][0].split(".")
    for name in path:
        owner = getattr(owner, name)
    setattr(owner, last, getattr(owner, last)[:layer])
    loaded.config.num_hidden_layers = layer


def _numbers(folder: Path, said: Mapping[str, object], key: str, least: int, most: int) -> list[int]:
    found = said.get(key)
    if not isinstance(found, list) or not found or any(type(n) is not int or not least <= n <= most for n in found):
        raise ModelError(f"{folder / CONFIG}: {key} is a list of whole numbers from {least} to {most}, not {found!r}")
    return sorted(set(found))


def _shapes(path: Path) -> Mapping[str, tuple[str, list[int]]]:
    """Type and shape of each tensor, from the header of the file."""
    from safetensors import safe_open

    try:
        with safe_open(path, "pt") as file:
            parts = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 - the file is no mapping
            return {name: (part.get_dtype(), part.get_shape()) for name, part in parts.items()}
    except Exception as error:  # its own error has no public base
        raise ModelError(f"{path} cannot be read: {type(error).__name__}: {error}") from error


def _whole(folder: Path, shapes: Mapping[str, tuple[str, list[int]]], one: Exit) -> bool:
    """Whether an exit has its four tensors. Raises ModelError for some of them, and for another type or shape."""
    half = one.dimensions // 2
    wanted = dict(zip(_PARTS, ([half, one.dimensions], [half], [1, half], [1]), strict=True))
    names = {part: f"{one.layer}.{one.dimensions}.{part}" for part in _PARTS}
    missing = [name for name in names.values() if name not in shapes]
    if len(missing) == len(names):
        return False
    if missing:
        raise ModelError(f"{folder / HEADS} lacks {missing[0]}: the head of layer {one.layer} is not whole")
    for part, shape in wanted.items():
        if shapes[names[part]] != ("F32", shape):
            raise ModelError(f"{folder / HEADS}: {names[part]} is {shapes[names[part]]}, not F32 of shape {shape}")
    return True


def _head(folder: Path, one: Exit) -> dict[str, torch.Tensor]:
    from safetensors import safe_open

    with safe_open(folder / HEADS, "pt") as file:
        return {part: file.get_tensor(f"{one.layer}.{one.dimensions}.{part}") for part in _PARTS}
