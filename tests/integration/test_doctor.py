"""doctor finds what was spoilt on purpose, and its SQL mends it; a sound database has nothing to mend."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

import pgbraid
from fix_braid import HANDBOOK, documents, ids, made_of, rows, with_function
from pgbraid import Braid, CollectionSpec, Document, EmbedderRecord, VectorIndex
from pgbraid.embed import from_callable
from pgbraid.findings import CHECKS, Finding

SERVER = {"server_settings", "passing_role", "little_memory", "old_extension"}  # of the server, not of these tables


@pytest.fixture
def sound(braid: Braid) -> Braid:
    """A database with the collections `notes` and `shared` (with tenants) in which all is well."""
    made_of(braid)
    made_of(braid, "shared", tenants=True)
    braid.ingest("notes", documents(HANDBOOK))
    for tenant in ("acme", "umbrella"):
        braid.ingest("shared", documents(HANDBOOK), tenant=tenant)
    braid.maintain()
    return braid


def dsn_of(braid: Braid) -> str:
    return str(braid.settings.dsn)


def execute(braid: Braid, *statements: str) -> None:
    """Statements one after the other, each by itself, as psql sends them."""
    with psycopg.connect(dsn_of(braid), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def found(braid: Braid, *leave: str) -> dict[str, Finding]:
    return {f.check: f for f in braid.doctor() if f.check not in SERVER.difference(leave)}


def test_a_sound_database_has_nothing_to_mend(sound: Braid) -> None:
    assert found(sound) == {}


def test_every_check_has_its_statement_and_says_what_to_do() -> None:
    assert len(CHECKS) == len({check.name for check in CHECKS}) >= 25
    assert all(check.do.endswith(".") or "pgbraid " in check.do for check in CHECKS)


INDEX = "pgbraid.chunk_1_embedding_hnsw"
SICK = "document_id = (SELECT id FROM pgbraid.document_1 WHERE external_id = 'sick')"
OLD_INDEX = """CREATE INDEX chunk_1_own ON pgbraid.chunk_1 USING hnsw
    ((embedding::vector(64)) vector_l2_ops)"""
PLANTED = {
    "invalid_indexes": [f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{INDEX}'::regclass"],
    "missing_vector_indexes": [f"DROP INDEX {INDEX}"],
    "wrong_vector_indexes": [OLD_INDEX],
    "other_index_settings": [f"ALTER INDEX {INDEX} SET (m = 4, ef_construction = 8)"],
    "missing_gin_indexes": ["DROP INDEX pgbraid.chunk_1_words_gin", "DROP INDEX pgbraid.chunk_1_metadata_gin"],
    "duplicate_indexes": ["CREATE INDEX twice ON pgbraid.chunk_1 USING gin (words)"],
    "unused_indexes": ["CREATE INDEX own ON pgbraid.document_1 (title)"],
    "row_security_off": ["ALTER TABLE pgbraid.chunk_2 DISABLE ROW LEVEL SECURITY",
                         "ALTER TABLE pgbraid.document_2 NO FORCE ROW LEVEL SECURITY"],
    "missing_tenant_policies": ["DROP POLICY tenant ON pgbraid.chunk_2"],
    "wide_policies": ["CREATE POLICY debug ON pgbraid.chunk_2 USING (true)"],
    "disabled_triggers": ["ALTER TABLE pgbraid.chunk_1 DISABLE TRIGGER ALL"],
    "missing_dimension_checks": ["ALTER TABLE pgbraid.chunk_1 DROP CONSTRAINT chunk_dimensions_check"],
    "moved_terms": ["ALTER TABLE pgbraid.chunk_1 ALTER COLUMN terms SET STORAGE EXTENDED"],
    "leftover_tables": ["CREATE TABLE pgbraid.chunk_77 (LIKE pgbraid.chunk)"],
    "old_checkpoints": [
        "INSERT INTO pgbraid.checkpoint VALUES (1, 'the \"night''s\" load', 3, now() - interval '40 days')"
    ],
    "unused_embedders": [
        "INSERT INTO pgbraid.embedder (name, kind, model, dimensions, fingerprint) VALUES ('x', 'hashing', 'y', 8, 'z')"
    ],
    "idle_routes": ["INSERT INTO pgbraid.route (name) VALUES ('nowhere')"],
    "missing_tables": ["DROP TABLE pgbraid.chunk_1"],
    "orphans": ["SET session_replication_role = replica", "DELETE FROM pgbraid.document_1 WHERE external_id = 'sick'"],
    "missing_chunks": [f"DELETE FROM pgbraid.chunk_1 WHERE ordinal = 0 AND {SICK}"],
    "unusable_vectors": [f"UPDATE pgbraid.chunk_1 SET embedding = array_fill(0, ARRAY[64])::vector WHERE {SICK}"],
}  # fmt: skip


@pytest.mark.parametrize("check", PLANTED)
def test_what_is_planted_is_found_and_mended(sound: Braid, check: str) -> None:
    execute(sound, *PLANTED[check])
    finding = found(sound)[check]
    assert finding.do and finding.detail and finding.sql
    for _ in range(3):  # what is mended may show what stood behind it
        if (finding := found(sound).get(check)) is None:  # type: ignore[assignment]
            break
        execute(sound, *finding.sql)
    assert check not in found(sound)


def test_what_was_taken_out_comes_back_with_the_next_load(sound: Braid) -> None:
    for check in ("missing_chunks", "unusable_vectors"):
        execute(sound, *PLANTED[check])
        execute(sound, *found(sound)[check].sql)
        sound.ingest("notes", documents(HANDBOOK))
        assert found(sound) == {}
        assert "sick" in ids(sound.search("certificate on the third day", collections="notes"))


def test_faults_in_a_tenants_rows_are_seen_and_mended_by_the_owner_under_row_security(sound: Braid) -> None:
    name = f"owner_{psycopg.conninfo.conninfo_to_dict(dsn_of(sound))['dbname']}"
    every = "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'pgbraid'::regnamespace"
    execute(
        sound,
        f"CREATE ROLE {name} LOGIN",
        *(f"ALTER TABLE pgbraid.{table} OWNER TO {name}" for (table,) in rows(dsn_of(sound), every)),
        f"GRANT USAGE ON SCHEMA pgbraid TO {name}",
        *(f"ALTER POLICY upkeep ON pgbraid.{table} TO {name}" for table in ("document_2", "chunk_2")),
        "SET session_replication_role = replica",
        "DELETE FROM pgbraid.document_2 WHERE tenant = 'acme' AND external_id = 'sick'",
    )
    with pgbraid.connect(psycopg.conninfo.make_conninfo(dsn_of(sound), user=name)) as own:
        finding = found(own)["orphans"]
        assert "1 chunks" in finding.detail and "passing_role" not in found(own, "passing_role")
        execute(own, *finding.sql)
        assert "orphans" not in found(own)
    execute(sound, f"REASSIGN OWNED BY {name} TO CURRENT_USER", f"DROP OWNED BY {name}", f"DROP ROLE {name}")


def test_a_role_that_passes_row_policies_is_told(sound: Braid) -> None:
    name = f"app_{psycopg.conninfo.conninfo_to_dict(dsn_of(sound))['dbname']}"
    execute(
        sound, f"CREATE ROLE {name} LOGIN BYPASSRLS", f"GRANT USAGE ON SCHEMA pgbraid TO {name}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA pgbraid TO {name}",
    )  # fmt: skip
    try:
        with pgbraid.connect(psycopg.conninfo.make_conninfo(dsn_of(sound), user=name)) as app:
            execute(sound, *found(app, "passing_role")["passing_role"].sql)
            assert "passing_role" not in found(app, "passing_role")
    finally:
        execute(sound, f"DROP OWNED BY {name}", f"DROP ROLE {name}")


def test_stale_statistics_and_dead_rows_are_told_and_mended(braid: Braid) -> None:
    made_of(braid)
    execute(braid, "ALTER TABLE pgbraid.chunk_1 SET (autovacuum_enabled = off)")
    braid.ingest("notes", [Document(f"d{i}", f"{HANDBOOK['sick']} {i}") for i in range(200)])
    execute(braid, "UPDATE pgbraid.chunk_1 SET context = 'x'", "SELECT pg_stat_force_next_flush()")
    told = found(braid)
    assert {"stale_statistics", "dead_rows"} <= told.keys()
    for check in ("stale_statistics", "dead_rows"):
        execute(braid, *told[check].sql)
    assert not {"stale_statistics", "dead_rows"} & found(braid).keys()


def test_a_setting_that_costs_is_told(sound: Braid) -> None:
    execute(
        sound, f"ALTER DATABASE {psycopg.conninfo.conninfo_to_dict(dsn_of(sound))['dbname']} SET random_page_cost = 4"
    )
    sound.close()
    told = [f for f in sound.doctor() if f.object == "random_page_cost"]
    assert told and told[0].sql[0] == "ALTER SYSTEM SET random_page_cost = 1.1"


def test_an_older_extension_is_told_and_updated(sound: Braid) -> None:
    execute(sound, "UPDATE pg_extension SET extversion = '0.8.4' WHERE extname = 'vector'")
    told = found(sound, "old_extension")["old_extension"]
    assert "0.8.4" in told.detail and told.sql == ("ALTER EXTENSION vector UPDATE",)
    execute(sound, *told.sql)
    assert "old_extension" not in found(sound, "old_extension")


def test_little_memory_is_told_where_the_largest_index_is_larger(braid: Braid) -> None:
    name = psycopg.conninfo.conninfo_to_dict(dsn_of(braid))["dbname"]
    made_of(braid, index=VectorIndex(storage="vector"))
    braid.ingest("notes", [Document(f"d{i}", f"word{i} {HANDBOOK['sick']}") for i in range(1500)])
    execute(braid, f"ALTER DATABASE {name} SET maintenance_work_mem = '64kB'")
    braid.close()
    told = found(braid, "little_memory")["little_memory"]
    assert "64kB" in told.detail and told.sql[0].startswith("ALTER SYSTEM SET maintenance_work_mem = '")


def test_weights_that_no_longer_fit_are_told(sound: Braid) -> None:
    execute(sound, "UPDATE pgbraid.collection SET average_length = 99 WHERE id = 1")
    assert "pgbraid lexical refresh" in found(sound)["old_weights"].do
    sound.refresh_words("notes", exact=True)
    assert "old_weights" not in found(sound)


def test_models_are_compared_when_it_is_asked(braid: Braid) -> None:
    with_function(braid, "own", lambda texts: [[1.0, 0, 0, 0]] * len(texts))
    braid.create_collection(CollectionSpec("mine", "own"))
    assert "other_embedders" not in {f.check for f in braid.doctor(load_models=True)}
    with pgbraid.connect(dsn_of(braid)) as other:
        other.register_embedder("own", from_callable(lambda texts: [[0.0] * 3] * len(texts), 3, "another"))
        told = {f.check: f for f in other.doctor(load_models=True)}["other_embedders"]
        assert told.severity == "error" and "3 dimensions" in told.detail
        assert "other_embedders" not in {f.check for f in other.doctor()}


def test_a_role_that_may_not_look_everywhere_is_told_so(sound: Braid) -> None:
    name = f"reader_{psycopg.conninfo.conninfo_to_dict(dsn_of(sound))['dbname']}"
    execute(
        sound, f"CREATE ROLE {name} LOGIN", f"GRANT USAGE ON SCHEMA pgbraid TO {name}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA pgbraid TO {name}", f"REVOKE SELECT ON pgbraid.checkpoint FROM {name}",
    )  # fmt: skip
    try:
        with pgbraid.connect(psycopg.conninfo.make_conninfo(dsn_of(sound), user=name)) as reader:
            assert [f.object for f in reader.doctor() if f.check == "not_checked"] == ["old_checkpoints"]
    finally:
        execute(sound, f"DROP OWNED BY {name}", f"DROP ROLE {name}")


def test_a_look_joins_the_callers_transaction_and_leaves_it_as_it_was(sound: Braid) -> None:
    with psycopg.connect(dsn_of(sound)) as connection:
        connection.execute("DROP INDEX pgbraid.chunk_1_words_gin")
        assert "missing_gin_indexes" in {f.check for f in sound.using(connection).doctor()}
        assert connection.execute("SELECT coalesce(current_setting('pgbraid.upkeep', true), '')").fetchone() == ("",)
        connection.rollback()
    assert "missing_gin_indexes" not in found(sound)


def test_only_one_collection_is_looked_into_when_one_is_named(sound: Braid) -> None:
    execute(sound, *PLANTED["missing_chunks"])
    assert "missing_chunks" in {f.check for f in sound.doctor("notes")}
    assert "missing_chunks" not in {f.check for f in sound.doctor("shared")}
    with pytest.raises(pgbraid.errors.NoSuchCollection):
        sound.doctor("nots")


def test_async_looks_as_well(sound: Braid) -> None:
    async def look() -> set[str]:
        async with pgbraid.connect_async(dsn_of(sound)) as braid:
            return {f.check for f in await braid.doctor()}

    assert asyncio.run(look()) - SERVER == set()


def test_a_name_that_is_hostile_is_quoted_in_what_mends(braid: Braid) -> None:
    name = "x'; DROP TABLE pgbraid.route; --"
    braid.add_embedder(EmbedderRecord(name, "hashing", "words", 8))
    finding = next(f for f in braid.doctor() if f.check == "unused_embedders" and f.object == name)
    execute(braid, *finding.sql)
    assert name not in [e.name for e in braid.embedders()]
