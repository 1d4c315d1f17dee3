"""Tenants are never mixed, whoever asks and however; a role that owns nothing needs only the grants in the guide."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors as pg
from psycopg.conninfo import make_conninfo

import pgbraid
from fix_braid import DIMENSIONS, counted, ids, made_of, recounted, rows, sentences, whole
from pgbraid import Braid, Collection, Document, EmbedderRecord, VectorIndex
from pgbraid.errors import NoSuchCollection, SettingsError, StatementFailed

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "tenants-and-roles.md"
ACME = {"leave": "Leave at Acme is forty days, says the acmeword.", "only acme": "Acme alone has this acmeword rule."}
ZETA = {"leave": "Leave at Zeta is nine days, says the zetaword.", "only zeta": "Zeta alone has this zetaword rule."}
OPEN = {"leave": "Leave of those without a tenant is twenty days."}
AS = "SELECT set_config('pgbraid.tenant', %s, true)"


@pytest.fixture
def role(server_dsn: str, own: str) -> Iterator[Callable[[], str]]:
    """`role()`: the name of a new role that may log in to `own` and has no other right."""
    made: list[str] = []
    names = [f"pgbraid_test_{uuid.uuid4().hex[:8]}" for _ in range(3)]

    def create() -> str:
        name = names.pop()
        with psycopg.connect(server_dsn, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'x'".encode())
        made.append(name)
        return name

    yield create
    for name in reversed(made):
        with psycopg.connect(own, autocommit=True) as connection:
            connection.execute(f"DROP OWNED BY {name} CASCADE; DROP ROLE {name}".encode())


def granted(kind: str, name: str, known: Collection) -> str:
    """The statements that the guide lists for a reader or a loader, for this role and the tables of a collection."""
    blocks = re.findall(r"```sql\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    wanted = "".join(block for block in blocks if f"TO {kind};" in block)
    assert wanted, f"the guide lists no grants for a {kind}"
    text = wanted.replace("pgbraid.document_1", f"pgbraid.{known.document_table}")
    text = text.replace("pgbraid.chunk_1", f"pgbraid.{known.chunk_table}")
    return text.replace(f"TO {kind};", f"TO {name};")


def grant(dsn: str, kind: str, name: str, known: Collection) -> str:
    """Give a role what the guide says; its DSN."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(granted("reader", name, known).encode())
        if kind == "loader":
            connection.execute(granted("loader", name, known).encode())
    return make_conninfo(dsn, user=name, password="x")


@pytest.fixture
def shared(braid: Braid) -> Collection:
    """The collection `notes` with documents of acme, of zeta, and of nobody."""
    made_of(braid, tenants=True)
    for tenant, texts in (("acme", ACME), ("zeta", ZETA), ("", OPEN)):
        braid.ingest("notes", [Document(name, text, title=tenant) for name, text in texts.items()], tenant=tenant)
    return braid.collection("notes")


@pytest.fixture
def reader(own: str, shared: Collection, role: Callable[[], str]) -> str:
    """The DSN of a role with a reader's grants."""
    return grant(own, "reader", role(), shared)


@pytest.fixture
def loader(own: str, shared: Collection, role: Callable[[], str]) -> str:
    """The DSN of a role with a loader's grants."""
    return grant(own, "loader", role(), shared)


def seen(dsn: str, query: str, tenant: str | None = None) -> set[str]:
    """The first column of a query of somebody's own, in a transaction that names a tenant or none."""
    with psycopg.connect(dsn) as connection:
        if tenant is not None:
            connection.execute(AS, (tenant,))
        return {row[0] for row in connection.execute(query.encode()).fetchall()}


# ── what a forgotten filter shows ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("tenant", "visible"), [("acme", "acme"), ("zeta", "zeta"), ("", ""), (None, "")])
def test_raw_sql_without_any_filter_shows_one_tenant(
    reader: str, shared: Collection, tenant: str | None, visible: str
) -> None:
    for table in (shared.document_table, shared.chunk_table):
        assert seen(reader, f"SELECT tenant FROM pgbraid.{table}", tenant) == {visible}
        assert seen(reader, f"SELECT tenant FROM pgbraid.{table} WHERE tenant <> '{visible}'", tenant) == set()
    joined = f"""SELECT d.tenant FROM pgbraid.{shared.chunk_table} AS c
        JOIN pgbraid.{shared.document_table} AS d ON d.id = c.document_id"""
    assert seen(reader, joined, tenant) == {visible}


@pytest.mark.parametrize("named", ["Acme", "acme ", "acm_", "%", "acme' OR ''='", "nobody", "*"])
def test_a_wrong_name_shows_nothing(reader: str, shared: Collection, named: str) -> None:
    assert seen(reader, f"SELECT tenant FROM pgbraid.{shared.document_table}", named) == set()
    with pgbraid.connect(reader) as asking:
        assert asking.search("leave rule", tenant=named).passages == ()


def test_a_name_lasts_for_one_transaction(reader: str, shared: Collection) -> None:
    query = f"SELECT tenant FROM pgbraid.{shared.document_table}".encode()
    with psycopg.connect(reader) as connection:
        connection.execute(AS, ("acme",))
        assert {row[0] for row in connection.execute(query).fetchall()} == {"acme"}
        connection.commit()
        assert {row[0] for row in connection.execute(query).fetchall()} == {""}


def test_the_whole_tables_above_the_collections_show_one_tenant_too(own: str, reader: str, shared: Collection) -> None:
    """PostgreSQL checks the table that a statement names: a role that may read all tables could go round otherwise."""
    name = str(psycopg.conninfo.conninfo_to_dict(reader)["user"])
    with psycopg.connect(own, autocommit=True) as connection:
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA pgbraid TO {name}".encode())
    for table in ("document", "chunk"):
        assert seen(reader, f"SELECT tenant FROM pgbraid.{table}") == {""}
        assert seen(reader, f"SELECT tenant FROM pgbraid.{table}", "acme") == {"acme"}


def test_upkeep_shows_a_reader_no_more(reader: str, shared: Collection) -> None:
    with psycopg.connect(reader) as connection:
        connection.execute("SELECT set_config('pgbraid.upkeep', 'on', true)")
        found = connection.execute(f"SELECT tenant FROM pgbraid.{shared.document_table}".encode()).fetchall()
        assert {row[0] for row in found} == {""}


def test_raw_writes_do_not_reach_another_tenant(own: str, loader: str, shared: Collection) -> None:
    table = f"pgbraid.{shared.document_table}"
    with psycopg.connect(loader) as connection:
        connection.execute(AS, ("acme",))
        changed = connection.execute(f"UPDATE {table} SET title = 'taken'".encode()).rowcount
        assert changed == len(ACME) == connection.execute(f"DELETE FROM {table}".encode()).rowcount
        connection.rollback()
        connection.execute(AS, ("acme",))
        with pytest.raises(pg.InsufficientPrivilege):
            connection.execute(f"UPDATE {table} SET tenant = 'zeta'".encode())
        connection.rollback()
        connection.execute(AS, ("acme",))
        connection.execute(f"DELETE FROM {table}".encode())
        connection.commit()
    assert rows(own, f"SELECT tenant, count(*) FROM {table} GROUP BY 1 ORDER BY 1") == [("", 1), ("zeta", 2)]


# ── what pgbraid shows ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("who", ["owner", "reader"])
@pytest.mark.parametrize("fusion", ["zscore", "minmax", "rrf"])
def test_a_search_shows_one_tenant(own: str, reader: str, shared: Collection, who: str, fusion: str) -> None:
    with pgbraid.connect(own if who == "owner" else reader) as asking:
        for tenant, texts in (("acme", ACME), ("zeta", ZETA), ("", OPEN), ("nobody", {})):
            for question in ("leave days", "acmeword zetaword rule", "only acme zeta"):
                found = asking.search(question, tenant=tenant, top_k=10, fusion=fusion)
                assert set(ids(found)) == set(texts), (tenant, question)
                assert {p.text for p in found.passages} == set(texts.values())
                assert not found.underfilled


def test_a_filter_does_not_reach_another_tenant(reader: str, shared: Collection) -> None:
    with pgbraid.connect(reader) as asking:
        condition = {"nothing": {"exists": False}}
        assert set(ids(asking.search("rule", tenant="acme", filter=condition, top_k=10))) == set(ACME)


def test_an_index_scan_does_not_reach_another_tenant(braid: Braid, own: str, role: Callable[[], str]) -> None:
    """Many chunks of others, and a few of this tenant's: the index is searched, or all of the tenant's are."""
    known = made_of(braid, tenants=True, index=VectorIndex(exact_below=0))
    texts = sentences(3, 300)
    braid.ingest("notes", [Document(f"o{i}", text) for i, text in enumerate(texts)], tenant="others")
    braid.ingest("notes", [Document(f"m{i}", text) for i, text in enumerate(texts[:7])], tenant="mine")
    with pgbraid.connect(grant(own, "reader", role(), known)) as asking:
        for question in texts[:20]:
            found = asking.search(question, tenant="mine", top_k=7, candidates=20)
            assert set(ids(found)) == {f"m{i}" for i in range(7)}


@pytest.mark.parametrize("who", ["owner", "reader"])
def test_a_document_is_shown_to_its_tenant_only(own: str, reader: str, shared: Collection, who: str) -> None:
    with pgbraid.connect(own if who == "owner" else reader) as asking:
        shown = asking.document("notes", "leave", tenant="acme")
        assert shown is not None and shown["text"] == ACME["leave"] and len(shown["chunks"]) == 1
        assert asking.document("notes", "only acme", tenant="zeta") is None
        assert asking.document("notes", "only acme") is None
        assert asking.document("notes", "only acme", tenant="ACME") is None


def test_the_statement_of_a_search_shows_one_tenant_when_it_is_pasted(
    own: str, reader: str, shared: Collection
) -> None:
    with pgbraid.connect(reader) as asking:
        text = asking.statement("leave rule acmeword zetaword", tenant="zeta", top_k=10)
    for tenant, visible in (("zeta", set(ZETA)), ("acme", set()), (None, set())):
        with psycopg.connect(reader, row_factory=psycopg.rows.dict_row) as connection:
            if tenant is not None:
                connection.execute(AS, (tenant,))
            pasted = connection.execute(text.encode()).fetchall()
            assert {row["external_id"] for row in pasted if row.get("external_id")} == visible


def test_only_a_tenants_own_documents_are_deleted(own: str, loader: str, braid: Braid, shared: Collection) -> None:
    with pgbraid.connect(loader) as writing:
        assert writing.delete("notes", ["leave", "only acme", "only zeta"], tenant="zeta") == ("leave", "only zeta")
        assert set(ids(writing.search("leave rule", tenant="acme", top_k=9))) == set(ACME)
    assert braid.collection("notes").documents == len(ACME) + len(OPEN)
    assert counted(own, shared) == recounted(own, shared)


def test_the_same_id_is_another_document_for_another_tenant(braid: Braid, shared: Collection) -> None:
    report = braid.ingest("notes", [Document("leave", "Leave at Acme is now fifty days.")], tenant="acme")
    assert (report.changed, report.added) == (1, 0)
    assert (braid.document("notes", "leave", tenant="zeta") or {})["text"] == ZETA["leave"]
    assert (braid.document("notes", "leave") or {})["text"] == OPEN["leave"]


# ── collections without tenants ────────────────────────────────────────────────────────────────────────────


def test_a_collection_without_tenants_refuses_one_when_written(braid: Braid) -> None:
    made_of(braid)
    with pytest.raises(SettingsError, match="create the collection with tenants"):
        braid.ingest("notes", [Document("a", "text")], tenant="acme")
    with pytest.raises(SettingsError, match="create the collection with tenants"):
        braid.delete("notes", "a", tenant="acme")
    report = braid.ingest("notes", [Document("a", "text", tenant="acme"), Document("b", "text")])
    assert report.added == 1
    assert [(r.external_id, "belongs to 'acme'" in r.reason) for r in report.rejected] == [("a", True)]
    known = braid.collection("notes")
    with pytest.raises(psycopg.errors.CheckViolation), psycopg.connect(braid.settings.dsn or "") as connection:
        connection.execute(f"UPDATE pgbraid.{known.document_table} SET tenant = 'acme'".encode())


@pytest.mark.parametrize("tenant", ["a\0b", "\ud800", 5, None])
def test_what_cannot_be_a_tenant_is_refused(braid: Braid, shared: Collection, tenant: Any) -> None:
    with pytest.raises(SettingsError, match="A tenant is text"):
        braid.search("leave", tenant=tenant)
    with pytest.raises(SettingsError, match="A tenant is text"):
        braid.document("notes", "leave", tenant=tenant)


# ── roles ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_collection_that_a_role_may_not_read_does_not_exist_for_it(braid: Braid, reader: str) -> None:
    made_of(braid, "secret")
    braid.ingest("secret", [Document("s", "the secret leave of the board")])
    braid.apply({"routes": {"board": {"collections": ["secret"], "match": {"any": ["board"]}}}, "default": "all"})
    with pgbraid.connect(reader) as asking:
        assert [c.name for c in asking.collections()] == ["notes"]
        found = asking.search("secret leave of the board")
        assert found.decision.chosen == ("notes",) and "secret" not in repr(found.decision.candidates)
        for act in (
            lambda: asking.search("leave", collections="secret"),
            lambda: asking.document("secret", "s"),
            lambda: asking.ingest("secret", [Document("s", "x")]),
        ):
            with pytest.raises(NoSuchCollection, match="There are: notes"):
                act()


def test_a_reader_cannot_write(reader: str) -> None:
    with pgbraid.connect(reader) as asking:
        for act in (
            lambda: asking.ingest("notes", [Document("a", "text")]),
            lambda: asking.delete("notes", "leave"),
            lambda: asking.refresh_words("notes"),
            lambda: asking.drop_collection("notes"),
        ):
            with pytest.raises(StatementFailed) as refused:
                act()
            assert refused.value.sqlstate == "42501"


@pytest.mark.parametrize("tenants", [True, False])
def test_a_loader_loads_with_the_grants_of_the_guide(
    braid: Braid, own: str, role: Callable[[], str], tenants: bool
) -> None:
    """Into a collection that is empty yet: it also is the one that says how long an average chunk is."""
    known = made_of(braid, tenants=tenants)
    tenant = "acme" if tenants else ""
    name = role()
    with pgbraid.connect(grant(own, "loader", name, known)) as writing:
        texts = sentences(4, 60, 30)
        first = writing.ingest("notes", [Document(f"d{i}", t) for i, t in enumerate(texts)], tenant=tenant)
        again = writing.ingest(
            "notes", [Document(f"d{i}", f"{t} more") for i, t in enumerate(texts[:30])], tenant=tenant
        )
        assert (first.added, again.changed, writing.delete("notes", "d59", tenant=tenant)) == (60, 30, ("d59",))
        for report in (first, again):
            (note,) = report.notes
            assert "does not own" in note and "pgbraid lexical refresh notes" in note
        assert writing.ingest("notes", [Document("d0", f"{texts[0]} more")], tenant=tenant).notes == ()
        assert ids(writing.search(texts[40], tenant=tenant, top_k=60))
        with pytest.raises(StatementFailed, match="Only the owner of the tables of 'notes'"):
            writing.refresh_words("notes")
    whole(own, known)
    assert counted(own, known) == recounted(own, known)
    assert braid.refresh_words("notes", exact=True).done
    assert counted(own, known) == recounted(own, known)


def test_a_member_of_the_owners_role_does_upkeep_for_all_tenants(
    made: Callable[..., Any], template: str, role: Callable[[], str]
) -> None:
    """The owner is no superuser here: the row policies bind it."""
    with made(template) as dsn:
        owner, member = role(), role()
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA pgbraid CASCADE; CREATE SCHEMA pgbraid AUTHORIZATION {owner}".encode())
            connection.execute(f"GRANT {owner} TO {member}".encode())
        mine, theirs = (make_conninfo(dsn, user=name, password="x") for name in (owner, member))
        pgbraid.schema.upgrade(mine)
        with pgbraid.connect(mine) as owning, pgbraid.connect(theirs) as loading:
            owning.add_embedder(EmbedderRecord("h", "hashing", "hashing", DIMENSIONS))
            known = made_of(owning, tenants=True)
            short = [Document(f"s{i}", f"short {i}") for i in range(20)]
            long = [Document(f"l{i}", f"longer and longer text about {i} " * 4) for i in range(20)]
            assert owning.ingest("notes", short, tenant="acme").notes == ()
            assert loading.ingest("notes", long, tenant="zeta").notes == ()
            assert owning.refresh_words("notes", exact=True).done
            for tenant, count in (("acme", 20), ("zeta", 20), ("", 0)):
                assert len(loading.search("short longer text", tenant=tenant, top_k=40).passages) == count
            assert seen(mine, f"SELECT tenant FROM pgbraid.{known.document_table}") == set()
            assert seen(mine, f"SELECT tenant FROM pgbraid.{known.chunk_table}", "acme") == {"acme"}
            assert counted(dsn, known) == recounted(dsn, known)
            assert loading.delete("notes", "l3", tenant="zeta") == ("l3",)
            whole(dsn, known)
            owning.drop_collection("notes")
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(f"DROP OWNED BY {owner}, {member} CASCADE".encode())


def test_a_reader_is_routed_by_the_classifier_with_the_grants_of_the_guide(
    braid: Braid, own: str, role: Callable[[], str]
) -> None:
    """To the collection that it may read; the other one is no candidate however probable."""
    for name in ("notes", "secret"):
        made_of(braid, name)
        braid.ingest(name, [Document("one", f"something of {name}")])
    routes = {
        "pay": {"collections": ["notes"], "examples": ["salary", "my salary", "salary now"]},
        "plans": {"collections": ["secret"], "examples": ["merger", "my merger", "merger now"]},
    }
    braid.apply({"routes": routes, "default": "none"})
    braid.activate_classifier(braid.train_classifier(embedder="h").id)
    braid.apply({"selectors": [{"classifier": {"threshold": 0.5}}]})
    assert braid.route("merger").chosen == ("secret",)
    with pgbraid.connect(grant(own, "reader", role(), braid.collection("notes"))) as reader:
        assert reader.route("salary").chosen == ("notes",)
        refused = reader.route("merger")
        assert refused.chosen == () and set(dict(refused.steps[0].scores)) == {"pay"}
