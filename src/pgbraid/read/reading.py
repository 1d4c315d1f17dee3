"""Finds the files to read, decides their formats, and hands each to its reader.

What the caller asked for wrongly (a missing path, an unknown format) is an error at once, before anything is read.
What is wrong with a file is a `Rejected`, and the rest goes on.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pgbraid.errors import SettingsError
from pgbraid.read.decoding import decoded
from pgbraid.read.html import html_document
from pgbraid.read.lines import beir_documents, jsonl_documents
from pgbraid.read.markdown import markdown_document
from pgbraid.read.parquet import parquet_documents
from pgbraid.values import Document, Rejected

FORMATS = ("jsonl", "beir", "markdown", "html", "text", "parquet")
CORPUS = "corpus.jsonl"
STDIN = Path("-")
_SUFFIXES: Mapping[str, str] = MappingProxyType(
    {
        ".jsonl": "jsonl",
        ".md": "markdown",
        ".markdown": "markdown",
        ".html": "html",
        ".htm": "html",
        ".txt": "text",
        ".parquet": "parquet",
    }
)

Read = Iterator[Document | Rejected]
_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read (for `beir` its corpus file), its format, and its name relative to what the caller gave."""

    path: Path
    format: str
    name: str


class Reading:
    """Documents one after the other, and how far the reading has come: `total` and `done` are bytes.

    `total` is None where nobody knows, for standard input.
    """

    def __init__(self, paths: Sequence[Path], format: str | None) -> None:
        self._paths, self._format = paths, format
        self.done = 0.0
        self._items = self._read()

    def __iter__(self) -> Read:
        return self._items

    @property
    def total(self) -> int | None:
        """Bytes of all files; looked up anew at each call."""
        if STDIN in self._paths:
            return None
        return sum(size for _, size, _ in self._files())

    @property
    def identity(self) -> str | None:
        """Changes when another file would be read, or one has changed. None for standard input."""
        if STDIN in self._paths:
            return None
        told = "\n".join([str(self._format), *(f"{path}\0{size}\0{changed}" for path, size, changed in self._files())])
        return hashlib.sha256(told.encode("utf-8", "surrogateescape")).hexdigest()

    def _files(self) -> Iterator[tuple[Path, int, int]]:
        for path in self._paths:
            for source in _sources(path, self._format):
                found = source.path.resolve()
                stat = found.stat()
                yield found, stat.st_size, stat.st_mtime_ns

    def _read(self) -> Read:
        seen: set[str] = set()
        for path in self._paths:
            for source in _sources(path, self._format):
                if source.format in _WHOLE and source.name in seen:
                    reason = f"{source.path}: another file read before has this name; read their parent"
                    yield Rejected(source.name, reason)
                    continue
                seen.update([source.name] if source.format in _WHOLE else [])
                yield from _documents(source, self._advance)

    def _advance(self, size: float) -> None:
        self.done += size


def read(paths: Sequence[Path], format: str | None = None) -> Reading:
    """The documents of files, folders, patterns (`data/*.md`, `data/**/*.md`) and standard input (`-`), in the order
    given, folders and patterns sorted.

    `format` is one of `FORMATS`; None takes it from each file's suffix (`-`: jsonl; a folder with corpus.jsonl:
    beir). In folders, files of other formats and names that begin with a dot are passed over. The external id of a
    Markdown, HTML or text file is its path inside the folder given, or its name when it was given itself; a second
    file with the same one is rejected. Raises `SettingsError` for a missing path, an unknown format, or a suffix that
    tells none.
    """
    if format is not None and format not in FORMATS:
        raise SettingsError(f"format {format!r} does not exist; the formats are {', '.join(FORMATS)}.")
    given = [found for path in paths for found in _expanded(Path(path))]
    for path in given:
        _check(path, format)
    return Reading(given, format)


def _expanded(path: Path) -> list[Path]:
    """What a pattern stands for; a path that exists, or is no pattern, stands for itself."""
    if path == STDIN or path.exists() or not _GLOB.search(str(path)):
        return [path]
    found = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
    if not found:
        raise SettingsError(f"{path} matches nothing; give a file, a folder, a pattern, or - for standard input.")
    return [one for one in found if not one.is_dir()]


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


def _documents(source: Source, advance: Callable[[float], None]) -> Read:
    """The documents of a file; `advance` is told the bytes that were read."""
    try:
        if source.format in _WHOLE:
            yield _whole(source)
            advance(0 if source.path == STDIN else source.path.stat().st_size)
        elif source.path == STDIN:
            yield from jsonl_documents(sys.stdin.buffer, source.name)
        elif source.format == "parquet":
            size = source.path.stat().st_size
            yield from parquet_documents(source.path, lambda share: advance(share * size))
        elif source.format == "beir":
            yield from beir_documents(source.path)
            advance(source.path.stat().st_size)
        else:
            with source.path.open("rb") as lines:
                yield from jsonl_documents(_counted(lines, advance), str(source.path))
    except OSError as error:
        yield Rejected(source.name, f"{source.path}: {error.strerror or error}")


def _counted(lines: Iterable[bytes], advance: Callable[[float], None]) -> Iterator[bytes]:
    for line in lines:
        advance(len(line))
        yield line


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
