"""Write docs/reference/ from what the code says of itself. `--check` only says whether the pages are fresh.

Commands come from the command line's own declarations, errors from their classes, settings from the models that check
them, statements from the headers in `sql/`, the schema from `migrations/schema.sql` and the comments in the revisions.
Nothing is run but imports; no database is needed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import reference_code
import reference_settings
import reference_sql

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "reference"
NOTE = "<!-- Written by scripts/write_reference.py. Change what it reads, not this page. -->\n\n"
PAGES: Mapping[str, Callable[[], str]] = {
    "cli.md": reference_code.cli,
    "errors.md": reference_code.errors,
    "settings.md": reference_settings.settings,
    "statements.md": reference_sql.statements,
    "schema.md": reference_sql.schema,
    "python.md": reference_code.python,
}


def page(name: str) -> str:
    """The whole text of a page."""
    return NOTE + PAGES[name]().rstrip() + "\n"


def main(check: bool) -> int:
    """Write or compare; 1 when a page is stale."""
    stale = [name for name in PAGES if not (TARGET / name).exists() or (TARGET / name).read_text("utf-8") != page(name)]
    for name in stale:
        if not check:
            (TARGET / name).write_text(page(name), encoding="utf-8")
        print(("stale: " if check else "written: ") + (TARGET / name).relative_to(ROOT).as_posix())
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
