"""Pages of the reference that are read from SQL: the statements by their headers, the schema by its dump."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from reference_text import code, table

ROOT = Path(__file__).resolve().parents[1]
DDL = ("create_document_table", "create_chunk_table", "create_words_index", "create_metadata_index",
       "create_vector_index", "enable_row_security", "create_tenant_policy", "create_upkeep_policy")  # fmt: skip


def statements() -> str:
    """Every statement by its header."""
    parts = [
        "# Statements\n\nEvery statement that pgbraid sends, by folder, as its header describes it. The grammar of "
        "headers and holes is in [sql/README.md](../../sql/README.md).\n\n"
    ]
    for folder in sorted(p for p in (ROOT / "sql").iterdir() if p.is_dir() and not p.name.startswith("_")):
        parts.append(f"## {folder.name}\n\n")
        parts += [_statement(path) for path in sorted(folder.glob("*.sql"))]
    return "".join(parts)


def _statement(path: Path) -> str:
    words, declared = header(path.read_text(encoding="utf-8"))
    name = path.relative_to(ROOT / "sql").with_suffix("").as_posix()
    params = (line.split(maxsplit=2) for line in declared["param"])
    rows = ((code(p[0]), code(p[1]), p[2] if len(p) > 2 else "") for p in params)
    said = [f"{word}: {', '.join(map(code, _listed(declared[word])))}" for word in ("row", "plan") if declared[word]]
    said += [f"hole: {', '.join(f'`{h}` ({kind})' for h, kind in map(str.split, declared['hole']))}"] * bool(
        declared["hole"]
    )
    link = f"[{name}](../../sql/{name}.sql)"
    return f"### {link}\n\n{words}\n\n" + table(("param", "type", "note"), rows) + "".join(f"{s}\n\n" for s in said)


def header(source: str) -> tuple[str, dict[str, list[str]]]:
    """The sentences of a header, and its declarations by word."""
    declared: dict[str, list[str]] = {"param": [], "row": [], "plan": [], "hole": []}
    words: list[str] = []
    for line in source.partition("\n\n")[0].splitlines():
        word, _, rest = line.removeprefix("--").strip().partition(" ")
        if word in declared and rest:
            declared[word].append(rest.strip())
        else:
            words.append(line.removeprefix("--").strip())
    return " ".join(words), declared


def _listed(lines: Iterable[str]) -> list[str]:
    return [word.strip() for line in lines for word in line.split(",") if word.strip()]


# ── schema.md ─────────────────────────────────────────────────────────────────────────────────────────────


def schema() -> str:
    """Tables, their columns and comments; functions; what is made for each collection."""
    dump = (ROOT / "migrations" / "schema.sql").read_text(encoding="utf-8")
    revisions = sorted((ROOT / "migrations" / "versions").glob("*.up.sql"))
    written = "\n".join(path.read_text(encoding="utf-8") for path in revisions)
    tables = re.findall(r"^CREATE TABLE pgbraid\.(\w+) \(\n(.*?)\n\)\n?(PARTITION BY [^;]+)?;", dump, re.S | re.M)
    functions = re.findall(r"^CREATE FUNCTION (pgbraid\.(\w+)\(.*?\) RETURNS \w+)", dump, re.M)
    return (
        "# Schema\n\nWhat `pgbraid schema upgrade` makes, all in the schema `pgbraid`. The SQL is in "
        "[migrations/versions](../../migrations/versions), the result in "
        "[migrations/schema.sql](../../migrations/schema.sql).\n\n"
        + "".join(_table(name, body, partition, dump, written) for name, body, partition in tables)
        + "## Functions\n\n"
        + "".join(f"### {signature}\n\n{_said_before('FUNCTION', name, written)}\n\n" for signature, name in functions)
        + "## What each collection has\n\nA partition of `document` and one of `chunk`, made when the collection is "
        "made; names and numbers differ.\n\n" + "".join(map(_made, DDL))
    )


def _table(name: str, body: str, partition: str, dump: str, written: str) -> str:
    said = dict(re.findall(rf"COMMENT ON COLUMN pgbraid\.{name}\.(\w+) IS '((?:[^']|'')*)';", dump))
    about = re.search(rf"COMMENT ON TABLE pgbraid\.{name} IS '((?:[^']|'')*)';", dump)
    lines = [line.strip() for line in re.split(r",\n    ", body.replace("'\n'", r"E'\n'"))]
    columns = [line.partition(" ") for line in lines if not line.startswith("CONSTRAINT")]
    constraints = [line for line in lines if line.startswith("CONSTRAINT")]
    constraints += re.findall(rf"ALTER TABLE (?:ONLY )?pgbraid\.{name}\n    ADD (CONSTRAINT [^;]+);", dump)
    rows = ((code(c), code(kind), said.get(c, "").replace("''", "'")) for c, _, kind in columns)
    extra = [code(line.removeprefix("CONSTRAINT ")) for line in constraints] + _indexes(name, dump, written)
    words = [about[1].replace("''", "'")] if about else []
    words += [f"{code(partition.strip())}: a partition for each collection."] if partition else []
    return (
        f"## {name}\n\n{' '.join(words)}\n\n".replace("\n\n\n\n", "\n\n")
        + table(("column", "definition", "comment"), rows)
        + "".join(f"- {line}\n" for line in extra)
        + "\n"
    )


def _indexes(table_name: str, dump: str, written: str) -> list[str]:
    found = re.findall(rf"CREATE INDEX (\w+) ON pgbraid\.{table_name} USING ([^;]+);", dump)
    said = ((f"index `{name}` `{how}`", _said_before("INDEX", name, written)) for name, how in found)
    return [f"{what}: {why}" if why else what for what, why in said]


def _said_before(kind: str, name: str, written: str) -> str:
    found = re.search(rf"((?:^--[^\n]*\n)+)CREATE {kind} (?:pgbraid\.)?{name}\b", written, re.M)
    return " ".join(line.removeprefix("--").strip() for line in found[1].splitlines()) if found else ""


def _made(name: str) -> str:
    source = (ROOT / "sql" / "catalog" / f"{name}.sql").read_text(encoding="utf-8")
    return f"{header(source)[0]}\n\n```sql\n{source.partition(chr(10) * 2)[2].strip()}\n```\n\n"
