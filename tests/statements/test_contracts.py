"""What a header promises is what PostgreSQL says: the columns that come back, and the types of the parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pgbraid.db.statements import parameters, statement

FOLDER = Path(__file__).parents[2] / "sql"
PARAM = re.compile(r"^-- param +(\w+) +(\S+)", re.MULTILINE)
STAGES = ("write/create_document_stage", "write/create_chunk_stage", "write/create_word_stage")
# In this statement the vector is cast to what the index stores before anything else.
CAST_AT_ONCE = {("retrieve/dense_index", "vector"): "halfvec"}
# PostgreSQL looks at these only when they run: they are run, in an order in which each finds what it needs.
RUN = (
    ("session/savepoint", "session/iterative_scan", "session/ef_search", "session/rollback_to_savepoint"),
    ("session/savepoint", "session/no_jit", "session/no_seqscan", "session/release_savepoint"),
    ("session/savepoint", "measure/no_sort", "session/release_savepoint"),
    ("session/begin_read", "session/commit"),
    (*STAGES, "write/copy_documents", "write/copy_chunks", "write/drop_stages"),
    ("write/analyze",),
    ("upkeep/analyze",),
    ("session/short_wait", "upkeep/drop_index"),
    ("catalog/create_document_table", "catalog/create_chunk_table", "catalog/create_words_index"),
    ("catalog/create_chunk_table", "catalog/create_metadata_index", "catalog/create_vector_index"),
    ("catalog/create_chunk_table", "catalog/enable_row_security", "catalog/create_tenant_policy"),
    ("catalog/create_chunk_table", "catalog/create_upkeep_policy", "catalog/drop_table"),
    ("catalog/create_document_table", "catalog/detach_document_table"),
    ("catalog/create_chunk_table", "catalog/refuse_tenants"),
)
# These refuse to run in a transaction.
ALONE = ("upkeep/drop_index", "upkeep/build_vector_index", "upkeep/rebuild_index", "upkeep/vacuum")
UTILITIES = {name for names in RUN for name in names} | set(ALONE)


@pytest.fixture
def connection(place: Any) -> Iterator[psycopg.Connection[Any]]:
    """A transaction that has the stages of a write and is rolled back."""
    with psycopg.connect(place.dsn) as connection, connection.transaction(force_rollback=True):
        for stage in STAGES:
            connection.execute(place.fill(statement(stage)).text.encode())
        yield connection


def _described(connection: psycopg.Connection[Any], text: str) -> psycopg.pq.abc.PGresult:
    """What PostgreSQL says of a statement that it has prepared and not run."""
    places = {p: f"${i}" for i, p in enumerate(parameters(text), 1)}
    numbered = re.sub(r"%\((\w+)\)s", lambda m: places[m[1]], text)
    for result in (
        connection.pgconn.prepare(b"asked", numbered.encode()),
        connection.pgconn.describe_prepared(b"asked"),
    ):
        assert result.status == psycopg.pq.ExecStatus.COMMAND_OK, result.get_error_message()
    return result


def _oid(connection: psycopg.Connection[Any], schema: str, declared: str) -> int:
    known = sql.Literal(f"{schema}.{declared}" if declared in ("vector", "halfvec", "sparsevec") else declared)
    row = connection.execute(sql.SQL("SELECT to_regtype({})::oid").format(known)).fetchone()
    assert row is not None and row[0] is not None, f"no type {declared}"
    return int(row[0])


def test_the_columns_are_those_that_the_header_names(name: str, place: Any, connection: Any) -> None:
    asked = place.fill(statement(name))
    result = _described(connection, asked.text)
    columns = [result.fname(i).decode() for i in range(result.nfields)]  # type: ignore[union-attr]
    assert columns == list(asked.row)
    if name in UTILITIES:
        assert not asked.row and not asked.params


def test_the_parameters_have_the_types_that_the_header_names(name: str, place: Any, connection: Any) -> None:
    asked = place.fill(statement(name))
    declared = dict(PARAM.findall((FOLDER / f"{name}.sql").read_text(encoding="utf-8").partition("\n\n")[0]))
    result = _described(connection, asked.text)
    assert declared.keys() == set(parameters(asked.text))
    for i, parameter in enumerate(parameters(asked.text)):
        wanted = str(CAST_AT_ONCE.get((name, parameter), declared[parameter]))
        assert result.param_type(i) == _oid(connection, place.schema, wanted), parameter


@pytest.mark.parametrize("names", RUN, ids=lambda names: names[-1])
def test_what_is_only_looked_at_when_it_runs_does_run(names: tuple[str, ...], place: Any) -> None:
    with psycopg.connect(place.dsn, autocommit=names[0] == "session/begin_read") as connection:
        for name in names:
            asked = statement(name)
            table = {"table": "document_new" if "document" in name else "chunk_new"} if "catalog/" in name else {}
            text = place.fill(asked, collection=999_999, index=name.replace("/", "_"), **table).text.encode()
            if name.startswith("write/copy"):
                with connection.cursor().copy(text) as copy:
                    copy.set_types([])
            else:
                connection.execute(text)
        connection.rollback()


def test_what_runs_in_no_transaction_runs_one_after_the_other(place: Any) -> None:
    index = f"{place.collection.chunk_table}_embedding_hnsw"
    with psycopg.connect(place.dsn, autocommit=True) as connection:
        for name in ALONE:
            connection.execute(place.fill(statement(name), index=index).text.encode())


def test_every_statement_that_postgresql_does_not_read_before_it_runs_is_run_here() -> None:
    pglast = pytest.importorskip("pglast")
    read = ("SelectStmt", "InsertStmt", "UpdateStmt", "DeleteStmt")
    names = [path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.glob("*/*.sql")]
    unread = set()
    for name in names:
        text = re.sub(r"%\(\w+\)s", "NULL", statement(name).text)
        if type(pglast.parse_sql(text)[0].stmt).__name__ not in read:
            unread.add(name)
    assert unread == UTILITIES


def test_the_stages_are_gone_with_the_transaction(place: Any) -> None:
    with psycopg.connect(place.dsn) as connection:
        for stage in STAGES:
            connection.execute(place.fill(statement(stage)).text.encode())
        connection.commit()
        row = connection.execute("SELECT to_regclass('pg_temp.pgbraid_chunk_stage')").fetchone()
    assert row == (None,)
