"""What `Braid.statement` gives can be pasted into psql, whatever was asked, and finds what the call finds."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql

import pgbraid
from pgbraid import Braid, CollectionSpec, Document, EmbedderRecord, SearchResult
from pgbraid.db.statements import statement
from pgbraid.server import psql_command, psql_environment
from pgbraid.values import MatchedChunk

TEXTS = {
    "o'brien": 'The customer O\'Brien asked about 100% cotton and $1 shirts; he wrote \\d and "quoted" it.',
    "back\\slash": "Paths such as C:\\temp\\new use backslashes, percent signs like 5%s, and %(tenant)s placeholders.",
    "合同": "合同审批流程：先由法务部审核，再由总经理签字。Contract approval takes 3 days 😀.",
    "emoji 🐘": "The elephant 🐘 never forgets; PostgreSQL :name :'name' :\"name\" stays as it is.",
    "plain": "Vacation days may be carried over until March of the next year.",
    "dollar": "$$ dollar quoting $tag$ text $tag$ and /* a comment */ -- and another; SELECT 1;",
}
QUESTIONS = [
    "O'Brien 100% cotton $1",
    'he wrote \\d and "quoted"',
    "%(tenant)s %s %% 5%s C:\\temp\\new",
    "合同审批 😀 approval",
    "🐘 :name :'name' :\"name\"",
    "$$ $tag$ /* comment */ -- '; SELECT 1; \\q",
    "'; DROP SCHEMA pgbraid CASCADE; --",
    "E'\\' || \\\\' ''",
    "two\nlines\tand\ra return",
]
FILTERS: list[Any] = [
    None,
    {'it\'s "odd" \\ %': {"ne": "va'l\\ue % %(x)s $1 :y"}},
    {"名": {"contains": "值'"}},
]
METADATA = {'it\'s "odd" \\ %': "o'k", "名": ["值'", 1]}


@pytest.fixture(scope="module")
def braid(made: Any, template: str) -> Iterator[Braid]:
    """Two collections with texts that are made to be read wrongly."""
    with made(template) as dsn, pgbraid.connect(dsn) as braid:
        braid.add_embedder(EmbedderRecord("words", "hashing", "words", 64))
        for name, tenant in (("notes", ""), ('it\'s "notes"', ""), ("theirs", "o'b\\rien")):
            braid.create_collection(CollectionSpec(name, "words", tenants=bool(tenant)))
            documents = [Document(i, f"{text} {name}", metadata=METADATA, tenant=tenant) for i, text in TEXTS.items()]
            assert not braid.ingest(name, documents).rejected
        yield braid


def _psql(braid: Braid, text: str, tenant: str = "") -> list[dict[str, str]]:
    """What psql prints for the text as it was typed, read as CSV."""
    dsn = str(braid.settings.dsn)
    command, *rest = psql_command(dsn)
    own = sql.SQL("SET pgbraid.tenant = {};").format(tenant).as_string(None) if tenant else ""
    done = subprocess.run(
        [command, "--no-psqlrc", "--quiet", "--csv", "--set=ON_ERROR_STOP=1", *rest],
        input=f"{own}\n{text};\n",
        env={**os.environ, **psql_environment(dsn), "PGCLIENTENCODING": "UTF8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout, newline="")))


def _seen(result: SearchResult) -> list[Any]:
    """What a result says, in the words of the statement's rows."""
    return [
        (p.external_id, [(c.ordinal, c.text, c.fused_score, _scores(c)) for c in p.chunks]) for p in result.passages
    ]


def _scores(chunk: MatchedChunk) -> list[float]:
    """What the branches gave; the evidence is a column of its own in the rows."""
    return [branch.score for branch in chunk.branches if branch.branch != "evidence"]


def _printed(rows: list[dict[str, str]]) -> list[Any]:
    return [
        (
            row["external_id"],
            [
                (c["ordinal"], c["text"], c["fused_score"], [part[2] for part in c["parts"]])
                for c in json.loads(row["chunks"])
            ],
        )
        for row in rows
    ]


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_is_pasted_finds_what_the_call_finds(question: str, braid: Braid) -> None:
    result = braid.search(question, collections=["notes", 'it\'s "notes"'])
    rows = _psql(braid, braid.statement(question, collections=["notes", 'it\'s "notes"']))
    assert result.status == "found"
    assert tuple(rows[0]) == statement("retrieve/passages").row
    assert _printed(rows) == _seen(result)


@pytest.mark.parametrize("filter_", FILTERS)
def test_a_filter_is_pasted_as_it_was_meant(filter_: Any, braid: Braid) -> None:
    result = braid.search(QUESTIONS[0], filter=filter_)
    assert result.status == "found"
    assert _printed(_psql(braid, braid.statement(QUESTIONS[0], filter=filter_))) == _seen(result)


@pytest.mark.parametrize("fusion", ["zscore", "minmax", "rrf"])
def test_every_fusion_can_be_pasted(fusion: str, braid: Braid) -> None:
    options: dict[str, Any] = {"fusion": fusion, "dense_threshold": 0.01, "top_k": 3}
    result = braid.search(QUESTIONS[3], **options)
    assert _printed(_psql(braid, braid.statement(QUESTIONS[3], **options))) == _seen(result)


def test_a_tenant_is_pasted_as_it_is_called(braid: Braid) -> None:
    tenant = "o'b\\rien"
    result = braid.search(QUESTIONS[1], collections="theirs", tenant=tenant)
    assert len(result.passages) == 5
    text = braid.statement(QUESTIONS[1], collections="theirs", tenant=tenant)
    assert _printed(_psql(braid, text, tenant)) == _seen(result)


def test_the_program_that_was_asked_is_psql(braid: Braid) -> None:
    assert Path(psql_command(str(braid.settings.dsn))[0]).name == "psql"
