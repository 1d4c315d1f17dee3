"""One schema, whoever makes it: the migrations, the script for a DBA, and the dump that people read."""

from __future__ import annotations

import re
import subprocess
from importlib.resources import files
from pathlib import Path

import psycopg
import pytest

from pgbraid import revisions, schema, server

MIGRATIONS = Path(__file__).parents[2] / "migrations"


def test_schema_sql_is_what_the_migrations_make(shared_database: str) -> None:
    with psycopg.connect(shared_database) as connection:
        if connection.info.server_version // 10000 != 18:
            pytest.skip("pg_dump's words differ by the server's version; schema.sql is of PostgreSQL 18")
    assert schema.dump(shared_database) == (MIGRATIONS / "schema.sql").read_text(encoding="utf-8")


def test_the_script_for_a_dba_makes_the_same(empty_database: str, shared_database: str) -> None:
    psql = [str(server.binary("psql")), "-X", "-v", "ON_ERROR_STOP=1", "-d", empty_database]
    done = subprocess.run([*psql, "-f", "-"], input=schema.sql(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert schema.dump(empty_database) == schema.dump(shared_database)
    with psycopg.connect(empty_database) as connection:
        assert schema.check(connection).version == schema.head()


def test_a_script_may_begin_half_way(empty_database: str, shared_database: str) -> None:
    first = schema.revisions()[0]
    schema.upgrade(empty_database, first)
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute(schema.sql(first).encode())
    assert schema.dump(empty_database) == schema.dump(shared_database)


def test_a_script_names_the_schema_of_pgvector() -> None:
    script = schema.sql(vector_schema="extensions")
    assert '"extensions".vector' in script and "/*ext*/" not in script and "public.vector" not in script


def test_every_revision_has_both_ways_and_follows_the_one_before() -> None:
    stems = sorted(path.stem for path in (MIGRATIONS / "versions").glob("*.py"))
    assert tuple(stem[:4] for stem in stems) == schema.revisions()
    assert list(schema.revisions()) == [f"{number:04}" for number in range(1, len(stems) + 1)]
    for before, stem in zip(["None", *schema.revisions()], stems, strict=False):
        text = (MIGRATIONS / "versions" / f"{stem}.py").read_text()
        assert re.search(rf'^down_revision = "?{before}"?$', text, re.MULTILINE)
        assert re.search(rf'^revision = "{stem[:4]}"$', text, re.MULTILINE)
        for direction in ("up", "down"):
            assert (MIGRATIONS / "versions" / f"{stem}.{direction}.sql").is_file()


def test_a_revision_is_written_as_it_stands_but_for_the_schema_of_pgvector() -> None:
    for revision in schema.revisions():
        (path,) = (MIGRATIONS / "versions").glob(f"{revision}_*.up.sql")
        order = (revisions.BASE, *schema.revisions())
        written = revisions.write(order[order.index(revision) - 1], revision, "public")
        assert path.read_text(encoding="utf-8").replace("/*ext*/ public.", '"public".').strip() in written


def test_types_and_operator_classes_of_pgvector_are_named_with_its_schema() -> None:
    for path in files("pgbraid.migrations").joinpath("versions").iterdir():
        if path.name.endswith(".sql"):
            text = re.sub(r"--.*|'[^']*'", "", path.read_text(encoding="utf-8"))
            bare = re.findall(r"(?<!/\*ext\*/ public\.)\b(?:vector|halfvec|sparsevec)(?:\b(?!_)|_\w+_ops\b)", text)
            assert bare == [], path.name
