"""Generate src/pgbraid/_sync from src/pgbraid/_async. `--check` only says whether the files are fresh.

The async corridors are the source. Turning them round is a matter of words: `async def` and `await` go, and the
names below change. What is generated is committed, so that readers and debuggers see ordinary code.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "pgbraid" / "_async"
TARGET = ROOT / "src" / "pgbraid" / "_sync"
NOTE = "# Generated from {source} by scripts/async_to_sync.py. Change that file, not this one.\n\n"

WORDS = {
    "AsyncBraid": "Braid",
    "AsyncConnection": "Connection",
    "AsyncConnectionPool": "ConnectionPool",
    "AsyncCursor": "Cursor",
    "AsyncIterator": "Iterator",
    "AsyncPipeline": "Pipeline",
    "_async": "_sync",
    "_sync": "_async",
    "async_connection_of": "connection_of",
    "asynccontextmanager": "contextmanager",
    "asyncio": "threading",
    "beside": "beside_thread",
    "in_executor": "directly",
    "outcome": "outcome_of",
    "this_loop": "this_process",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aread": "read",
}


def turned(source: str) -> str:
    """The sync text of an async module."""
    text = re.sub(r"\basync (?=def|with|for)", "", source)
    text = re.sub(r"\bawait ", "", text)
    text = text.replace("await self._unwrap(", "self._unwrap(")
    return re.sub(r"\b\w+\b", lambda m: WORDS.get(m[0], m[0]), text)


def generated() -> dict[Path, str]:
    """The text of every module of the sync side."""
    texts = {}
    for path in sorted(SOURCE.glob("*.py")):
        body = turned(path.read_text(encoding="utf-8"))
        if path.name == "__init__.py":
            body = '"""The corridors for callers without an event loop, generated from `_async`."""\n'
        texts[TARGET / path.name] = NOTE.format(source=path.relative_to(ROOT).as_posix()) + body
    return texts


def formatted(text: str) -> str:
    """The text as ruff writes it."""
    for command in (["check", "--quiet", "--select", "I", "--fix"], ["format", "--quiet"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--stdin-filename", "src/pgbraid/_sync/x.py", "-"],
            input=text, capture_output=True, text=True, cwd=ROOT, check=True,
        )  # fmt: skip
        text = done.stdout
    return text


def main(check: bool) -> int:
    """Write or compare; 1 when a file is stale."""
    stale = []
    wanted = generated()
    for path, text in wanted.items():
        fresh = formatted(text)
        if not path.exists() or path.read_text(encoding="utf-8") != fresh:
            stale.append(path)
            if not check:
                path.write_text(fresh, encoding="utf-8")
    gone = [path for path in TARGET.glob("*.py") if path not in wanted]
    for path in gone if not check else []:
        path.unlink()
    for path in stale + gone:
        print(("stale: " if check else "written: ") + path.relative_to(ROOT).as_posix())
    return 1 if check and (stale or gone) else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
