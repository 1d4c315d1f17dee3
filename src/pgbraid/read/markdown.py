"""Markdown files: the front matter becomes metadata, the rest is the text as it stands."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

import yaml

from pgbraid.read.decoding import decoded
from pgbraid.split.markdown import find_headings
from pgbraid.values import Document

_OPENED = re.compile(r"---[ \t]*\n")
_CLOSED = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)


def markdown_document(data: bytes, name: str) -> Document:
    """A Markdown file as one document; its title from the front matter, else the first heading of level 1, else the
    file's stem. Raises `ValueError` when the file cannot be decoded or its front matter read."""
    metadata, text = _parted(decoded(data).replace("\r\n", "\n").replace("\r", "\n"))
    title = metadata.pop("title", None)
    if title is None or not str(title).strip():
        title = next((heading.title for heading in find_headings(text) if heading.level == 1), PurePosixPath(name).stem)
    return Document(name, text, str(title), metadata, format="markdown")


def _parted(text: str) -> tuple[dict[Any, Any], str]:
    """Front matter and the rest. A `---` that nothing closes is a rule."""
    opened = _OPENED.match(text)
    closed = _CLOSED.search(text, opened.end()) if opened else None
    if opened is None or closed is None:
        return {}, text
    return _front_matter(text[opened.end() : closed.start()]), text[closed.end() :]


def _front_matter(source: str) -> dict[Any, Any]:
    try:
        values = yaml.safe_load(source)
    except yaml.YAMLError as error:
        raise ValueError(f"front matter is not YAML: {_where(error)}") from error
    except (ValueError, OverflowError, RecursionError) as error:  # such as the date 2026-13-01
        raise ValueError(f"front matter cannot be read: {error}") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ValueError(f"front matter is {type(values).__name__}, not a mapping of keys to values")
    return values


def _where(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    return f"{problem} in line {mark.line + 2}" if mark else problem  # the --- above is line 1
