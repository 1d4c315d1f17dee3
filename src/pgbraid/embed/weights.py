"""Loads a transformer and its tokenizer from a folder: float32, safetensors, no code of the model's, nothing invented.

transformers fills weights that a file lacks with random numbers and goes on; here that is an error. Shared by the
embedders and the cross-encoders.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgbraid.embed.files import model_digest, require
from pgbraid.errors import ModelError

_MODULES = ("torch", "transformers", "tokenizers", "safetensors")
_SANE = 1_000_000  # tokenizers without a limit say 10**30
_POSITIONS_AFTER_PADDING = frozenset({"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer"})


@dataclass(frozen=True, slots=True)
class Loaded:
    """A transformer ready to run, its tokenizer as transformers gives it, its configuration, a digest of its files."""

    model: Any
    tokenizer: Any
    config: Any
    digest: str

    def longest(self, declared: int | None = None) -> int:
        """The longest sequence in tokens, with the special ones: the least of what the files say."""
        limits = [declared, self.tokenizer.model_max_length, _positions(self.config)]
        known = [int(limit) for limit in limits if limit is not None and 0 < limit < _SANE]
        return min(known, default=512)


def require_models(what: str) -> None:
    """Raise MissingExtra unless torch and transformers are installed."""
    require(_MODULES, what, "models")


def read_config(folder: Path) -> Any:
    """The configuration of the transformer in a folder. Raises ModelError."""
    from transformers import AutoConfig

    return _or_model_error(AutoConfig.from_pretrained, folder)


def load_weights(folder: Path, automatic: str, may_lack: str = "") -> Loaded:
    """Load with transformers' class named `automatic`; weights whose name begins with `may_lack` may be missing.

    Raises ModelError when a file is missing or unreadable, and when weights are missing or of another shape.
    """
    import transformers

    digest = model_digest(folder)
    with _quietly(transformers):
        tokenizer = _or_model_error(transformers.AutoTokenizer.from_pretrained, folder)
        model, report = _or_model_error(
            getattr(transformers, automatic).from_pretrained, folder, use_safetensors=True, output_loading_info=True
        )
    missing = [name for name in report["missing_keys"] if not (may_lack and name.startswith(may_lack))]
    if missing or report["mismatched_keys"]:
        lacking = sorted(missing) or sorted(str(key) for key in report["mismatched_keys"])
        raise ModelError(
            f"{folder} lacks {len(lacking)} weights that a {type(model).__name__} needs, among them {lacking[0]}. "
            "It was saved as another kind of model."
        )
    return Loaded(model.float().eval(), tokenizer, model.config, digest)


def _or_model_error(load: Any, folder: Path, **arguments: Any) -> Any:
    try:
        return load(str(folder), local_files_only=True, trust_remote_code=False, **arguments)
    except Exception as error:  # files of somebody else's making fail in every way: OSError, KeyError, a Rust error
        raise ModelError(f"The model in {folder} cannot be loaded: {type(error).__name__}: {error}") from error


def _positions(config: Any) -> int | None:
    positions = getattr(config, "max_position_embeddings", None)
    if positions is not None and config.model_type in _POSITIONS_AFTER_PADDING:
        return int(positions) - int(config.pad_token_id) - 1
    return positions


@contextmanager
def _quietly(transformers: Any) -> Iterator[None]:
    """Without the progress bar that transformers draws for each model; put back as it was."""
    logs = transformers.utils.logging
    was_on = logs.is_progress_bar_enabled()
    logs.disable_progress_bar()
    try:
        yield
    finally:
        if was_on:
            logs.enable_progress_bar()
