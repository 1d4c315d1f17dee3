"""The demonstration: three small knowledge bases are loaded, six questions are asked. Text comes out through `say`.

It uses only what every application has: the façade, a declared file, and files in folders.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pgbraid.errors import SettingsError

if TYPE_CHECKING:
    from pgbraid._sync.braid import Braid
    from pgbraid.declared import Changes
    from pgbraid.values import IngestReport, SearchResult

FOLDER = Path("examples/demo")
COLLECTIONS = ("hr", "tech", "legal")


@dataclass(frozen=True, slots=True)
class Files:
    """Where the demonstration's files are, and its questions."""

    declared: Path
    folders: tuple[Path, ...]
    questions: tuple[str, ...]


def files(folder: Path) -> Files:
    """The files in a folder. Raises SettingsError when one is missing."""
    found = Files(folder / "pgbraid.yaml", tuple(folder / name for name in COLLECTIONS), ())
    for path in (found.declared, *found.folders, folder / "questions.txt"):
        if not path.exists():
            raise SettingsError(
                f"{path} is not there: the demonstration's files come with the repository. "
                "Run this in a checkout of it, or say --dir FOLDER."
            )
    lines = (folder / "questions.txt").read_text(encoding="utf-8").splitlines()
    asked = tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
    return Files(found.declared, found.folders, asked)


def declare(braid: Braid, given: Files) -> Changes:
    """Make embedders, collections and routes."""
    return braid.apply(given.declared)


def load(braid: Braid, given: Files) -> Iterator[IngestReport]:
    """Load each folder into the collection of its name."""
    from pgbraid.read import read

    for folder in given.folders:
        yield braid.ingest(folder.name, read([folder]))


def ask(braid: Braid, given: Files) -> Iterator[SearchResult]:
    """Ask each question."""
    for question in given.questions:
        yield braid.search(question)
