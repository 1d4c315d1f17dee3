"""Reads how a model folder says that vectors are made of it: pooling, layers after it, length, prefixes.

Understands the layout that sentence-transformers saves (all its generations), without that package. What it does not
understand it refuses by name: a vector made otherwise than the model was trained for looks right and finds nothing.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, cast

from pgbraid.embed.files import read_json, read_object
from pgbraid.errors import ModelError

Mode = Literal["cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]
MODES: tuple[Mode, ...] = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
_FLAGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_ACTIVATIONS = ("Identity", "Tanh", "ReLU", "GELU", "Sigmoid")
_DOCUMENT_PROMPTS = ("document", "passage", "corpus")


@dataclass(frozen=True, slots=True)
class Dense:
    """A linear layer behind the pooling, its weights in `folder`, relative to the model."""

    folder: str
    inputs: int
    outputs: int
    bias: bool
    activation: str
    residual: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """How a vector is made: the transformer in `transformer` (relative), pooled, then each step in order.

    A step is a Dense layer or "normalize". `max_sequence` is in tokens with the special ones; None leaves it to the
    transformer. `declared` is False for a folder that says nothing about pooling.
    """

    transformer: str = "."
    modes: tuple[Mode, ...] = ("mean",)
    steps: tuple[Dense | Literal["normalize"], ...] = ("normalize",)
    max_sequence: int | None = None
    lowercase: bool = False
    query_prefix: str = ""
    document_prefix: str = ""
    include_prompt: bool = True
    declared: bool = False

    def identity(self) -> dict[str, Any]:
        """What of this changes vectors, and is not in the files that are hashed or decided by the record."""
        steps = [step if isinstance(step, str) else asdict(step) | {"folder": ""} for step in self.steps]
        return {"modes": self.modes, "steps": steps, "lowercase": self.lowercase}


def read_layout(folder: Path) -> Layout:
    """The layout of a model folder; one without modules.json is mean pooling, normalised. Raises ModelError."""
    if not (folder / "modules.json").is_file():
        return Layout()
    modules = _modules(folder)
    kinds = [kind for kind, _ in modules]
    if kinds[:2] != ["Transformer", "Pooling"]:
        raise ModelError(f"{folder}: modules.json must begin with Transformer and Pooling, it has {', '.join(kinds)}.")
    pooling = read_object(folder / modules[1][1] / "config.json")
    max_sequence, lowercase = _reading(folder / modules[0][1])
    query_prefix, document_prefix = _prompts(folder)
    return Layout(
        transformer=modules[0][1] or ".",
        modes=_modes(pooling, folder),
        steps=tuple(_step(kind, path, folder) for kind, path in modules[2:]),
        max_sequence=max_sequence,
        lowercase=lowercase,
        query_prefix=query_prefix,
        document_prefix=document_prefix,
        include_prompt=pooling.get("include_prompt", True) is not False,
        declared=True,
    )


def _modules(folder: Path) -> list[tuple[str, str]]:
    """(class, path) of each module."""
    content = read_json(folder / "modules.json")
    try:
        found = [(str(module["type"]), str(module["path"])) for module in cast(Any, content)]
    except (TypeError, KeyError) as error:
        raise ModelError(f"{folder}: modules.json is no list of modules with type and path.") from error
    for kind, path in found:
        if not kind.startswith("sentence_transformers."):
            raise ModelError(f"{folder}: the module {kind!r} is code that comes with the model, which is never run.")
        if Path(path).is_absolute() or ".." in Path(path).parts:
            raise ModelError(f"{folder}: the path {path!r} in modules.json leaves the folder.")
    return [(kind.rpartition(".")[2], path) for kind, path in found]


def _step(kind: str, path: str, folder: Path) -> Dense | Literal["normalize"]:
    config = read_object(folder / path / "config.json", optional=kind == "Normalize")
    if config.get("module_input_name", "sentence_embedding") != "sentence_embedding":
        raise ModelError(f"{folder}: {kind} in {path!r} works on {config['module_input_name']!r}, not on the vector.")
    if kind == "Normalize":
        return "normalize"
    if kind != "Dense":
        raise ModelError(f"{folder}: the module {kind!r} is not supported. Supported behind pooling: Dense, Normalize.")
    activation = str(config.get("activation_function", "torch.nn.modules.activation.Tanh"))
    if not activation.startswith("torch.nn.") or activation.rpartition(".")[2] not in _ACTIVATIONS:
        raise ModelError(f"{folder}: Dense in {path!r} has the activation {activation!r}, not one of {_ACTIVATIONS}.")
    try:
        inputs, outputs = int(cast(Any, config["in_features"])), int(cast(Any, config["out_features"]))
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{folder}: Dense in {path!r} does not say its in_features and out_features.") from error
    bias, residual = config.get("bias", True) is not False, bool(config.get("use_residual", False))
    return Dense(path, inputs, outputs, bias, activation.rpartition(".")[2], residual)


def _modes(pooling: dict[str, object], folder: Path) -> tuple[Mode, ...]:
    """Newer files name the modes, older ones have a flag for each."""
    named = pooling.get("pooling_mode")
    if named is None:
        chosen = {mode for flag, mode in _FLAGS.items() if pooling.get(flag)}
        named = [mode for mode in MODES if mode in chosen]
    names: list[Mode] = [cast(Mode, named)] if isinstance(named, str) else list(cast(Any, named))
    unknown = [name for name in names if name not in MODES]
    if unknown or not names:
        raise ModelError(f"{folder}: the pooling {unknown or named!r} is not supported. Supported: {', '.join(MODES)}.")
    return tuple(names)


def _reading(folder: Path) -> tuple[int | None, bool]:
    """(longest sequence, whether to lower the case), from sentence_bert_config.json or its likes."""
    files = sorted(folder.glob("sentence_*_config.json"))
    config = read_object(files[0]) if files else {}
    task = config.get("transformer_task", "feature-extraction")
    if task != "feature-extraction":
        raise ModelError(f"{folder}: a transformer for the task {task!r} is not supported, only feature-extraction.")
    longest = config.get("max_seq_length")
    if longest is not None and not (isinstance(longest, int) and longest > 0):
        raise ModelError(f"{folder}: max_seq_length is {longest!r}, expected a number of tokens or null.")
    return longest, bool(config.get("do_lower_case", False))


def _prompts(folder: Path) -> tuple[str, str]:
    """(query prefix, document prefix) that the model was trained with; the default prompt stands in for either."""
    config = read_object(folder / "config_sentence_transformers.json", optional=True)
    prompts = config.get("prompts") or {}
    if not isinstance(prompts, dict):
        raise ModelError(f"{folder}: prompts in config_sentence_transformers.json must be an object, not {prompts!r}.")
    default = str(prompts.get(config.get("default_prompt_name"), "") or "")
    documents = next((prompts[name] for name in _DOCUMENT_PROMPTS if prompts.get(name)), default)
    return str(prompts.get("query") or default), str(documents)
