"""Finds the files to read, decides their formats, and hands each to its reader.

What the caller asked for wrongly (a missing path, an unknown format) is an error at once, before anything is read.
What is wrong with a file is a `Rejected`, and the rest goes on.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pgbraid.errors import SettingsError
from pgbraid.read.decoding import decoded
from pgbraid.read.html import html_document
from pgbraid.read.lines import beir_documents, jsonl_documents
from pgbraid.read.markdown import markdown_document
from pgbraid.values import Document, Rejected

FORMATS = ("jsonl", "beir", "markdown", "html", "text")
CORPUS = "corpus.jsonl"
STDIN = Path("-")
_SUFFIXES: Mapping[str, str] = MappingProxyType(
    {".jsonl": "jsonl", ".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html", ".txt": "text"}
)

Read = Iterator[Document | Rejected]


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read (for `beir` its corpus file), its format, and its name relative to what the caller gave."""

    path: Path
    format: str
    name: str


def read(paths: Sequence[Path], format: str | None = None) -> Read:
    """The documents of files, folders and standard input (`-`), in the order given, folders sorted.

    `format` is one of `FORMATS`; None takes it from each file's suffix (`-`: jsonl; a folder with corpus.jsonl:
    beir). In folders, files of other formats and names that begin with a dot are passed over. The external id of a
    Markdown, HTML or text file is its path inside the folder given, or its name when it was given itself; a second
    file with the same one is rejected. Raises `SettingsError` for a missing path, an unknown format, or a suffix that
    tells none.
    """
    if format is not None and format not in FORMATS:
        raise SettingsError(f"format {format!r} does not exist; the formats are {', '.join(FORMATS)}.")
    given = [Path(path) for path in paths]
    for path in given:
        _check(path, format)
    return _read(given, format)


def _check(path: Path, format: str | None) -> None:
    if path == STDIN:
        if format not in (None, "jsonl", "text"):
            raise SettingsError(f"standard input can be read as jsonl or text, not as {format}; give a path.")
        return
    if not path.exists():
        raise SettingsError(f"{path} does not exist; give a file, a folder, or - for standard input.")
    if path.is_dir():
        if format == "beir" and not (path / CORPUS).is_file():
            raise SettingsError(f"{path} holds no {CORPUS}, which a folder of format beir must have.")
    elif format is None and path.suffix.lower() not in _SUFFIXES:
        known = ", ".join(f"{suffix} ({name})" for suffix, name in _SUFFIXES.items())
        raise SettingsError(
            f"{path}: the suffix {path.suffix!r} tells no format; known are {known}. Or name one: {', '.join(FORMATS)}."
        )


def _read(paths: Sequence[Path], format: str | None) -> Read:
    seen: set[str] = set()
    for path in paths:
        for source in _sources(path, format):
            if source.format in _WHOLE and source.name in seen:
                yield Rejected(source.name, f"{source.path}: another file read before has this name; read their parent")
                continue
            seen.update([source.name] if source.format in _WHOLE else [])
            yield from _documents(source)


# ── which files ────────────────────────────────────────────────────────────────────────────────────────────


def _sources(path: Path, format: str | None) -> Iterator[Source]:
    if path == STDIN:
        yield Source(path, format or "jsonl", "stdin")
    elif path.is_dir():
        yield from _in_folder(path, format)
    else:
        yield Source(path, format or _SUFFIXES[path.suffix.lower()], path.name)


def _in_folder(top: Path, format: str | None) -> Iterator[Source]:
    for folder, folders, files in os.walk(top):  # links to folders are not followed: they may lead back
        here = Path(folder)
        if format in (None, "beir") and CORPUS in files:
            folders.clear()
            yield Source(here / CORPUS, "beir", (here / CORPUS).relative_to(top).as_posix())
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            found = _SUFFIXES.get(Path(name).suffix.lower())
            if found and found == (format or found) and not name.startswith("."):
                yield Source(here / name, found, (here / name).relative_to(top).as_posix())


# ── reading one ────────────────────────────────────────────────────────────────────────────────────────────


def _documents(source: Source) -> Read:
    try:
        if source.format in _WHOLE:
            yield _whole(source)
        elif source.path == STDIN:
            yield from jsonl_documents(sys.stdin.buffer, source.name)
        elif source.format == "beir":
            yield from beir_documents(source.path)
        else:
            with source.path.open("rb") as lines:
                yield from jsonl_documents(lines, str(source.path))
    except OSError as error:
        yield Rejected(source.name, f"{source.path}: {error.strerror or error}")


def _whole(source: Source) -> Document | Rejected:
    data = sys.stdin.buffer.read() if source.path == STDIN else source.path.read_bytes()
    try:
        return _WHOLE[source.format](data, source.name)
    except ValueError as error:
        return Rejected(source.name, f"{source.path}: {error}")


def text_document(data: bytes, name: str) -> Document:
    """A text file as one document, its title the file's stem. Raises `ValueError` when it cannot be decoded."""
    return Document(name, decoded(data), Path(name).stem)


_WHOLE: Mapping[str, Callable[[bytes, str], Document]] = MappingProxyType(
    {"markdown": markdown_document, "html": html_document, "text": text_document}
)
