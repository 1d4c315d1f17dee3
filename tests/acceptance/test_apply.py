"""`apply`: a declared file becomes the catalogue, all or nothing, and once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

import pgbraid
from pgbraid import AsyncBraid, Braid, Document
from pgbraid.declared import Changes
from pgbraid.errors import NothingToSearch, SettingsError, StatementFailed

FILE: dict[str, Any] = {
    "embedders": {"h": {"kind": "hashing", "model": "words", "dimensions": 32}},
    "collections": {
        "hr": {"embedder": "h", "description": "people", "chunking": {"tokens": 40, "overlap": 5}},
        "legal": {"embedder": "h", "language": "english", "index": {"storage": "vector", "m": 8}},
    },
    "profiles": {"short": {"top_k": 2}},
    "routes": {
        "contracts": {
            "collections": ["legal"],
            "priority": 20,
            "profile": "short",
            "match": {"any": ["合同", "NDA", "C++", "annual leave", {"regex": "terminat(e|ion)"}], "none": ["joke"]},
        },
        "people": {"collections": ["hr"], "match": {"all": ["leave", "sick"]}},
    },
    "default": "none",
    "aliases": {"法务": "legal"},
}


@pytest.fixture
def braid(database: str) -> Iterator[Braid]:
    with pgbraid.connect(database) as opened:
        yield opened


def changed(changes: Changes) -> dict[tuple[str, str], str]:
    return {(c.kind, c.name): c.action for c in changes.changes if c.action != "keep"}


def catalogue(dsn: str) -> list[Any]:
    """Everything that a file can declare, as it is stored."""
    tables = ("embedder", "collection", "profile", "route", "route_collection", "route_rule", "route_alias", "routing")
    with psycopg.connect(dsn) as connection:
        return [connection.execute(f"SELECT * FROM pgbraid.{table} ORDER BY 1, 2").fetchall() for table in tables]


def test_everything_in_the_file_is_made(braid: Braid) -> None:
    found = changed(braid.apply(FILE))
    assert found.pop(("default", "default")) == "change"
    assert set(found.values()) == {"create"} and len(found) == 7
    assert [(c.name, c.language, c.index.storage, c.index.m) for c in braid.collections()] == [
        ("hr", "multilingual", "halfvec", 16),
        ("legal", "english", "vector", 8),
    ]
    assert braid.embedders()[0].dimensions == 32
    braid.ingest("legal", [Document("a", "the NDA ends by termination")])
    assert braid.search("NDA").passages[0].external_id == "a"
    assert braid.search("NDA", collections="法务").decision.chosen == ("legal",)


def test_applying_again_changes_nothing(braid: Braid, database: str) -> None:
    braid.apply(FILE)
    before = catalogue(database)
    again = braid.apply(FILE)
    assert again.empty and len(again.changes) == 8
    assert catalogue(database) == before


def test_a_dry_run_shows_the_same_and_changes_nothing(braid: Braid, database: str) -> None:
    before = catalogue(database)
    looked = braid.apply(FILE, dry_run=True)
    assert looked.dry_run and not looked.empty
    assert catalogue(database) == before
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT to_regclass('pgbraid.chunk_1')").fetchone() == (None,)
    done = braid.apply(FILE)
    assert done.changes == looked.changes


def test_nothing_is_written_when_the_end_of_the_file_is_wrong(braid: Braid, database: str) -> None:
    before = catalogue(database)
    with pytest.raises(SettingsError, match=r"collections\.legal: A vector index holds at most 2000 dimensions"):
        braid.apply({**FILE, "embedders": {"h": {"kind": "hashing", "model": "words", "dimensions": 2048}}})
    assert catalogue(database) == before
    assert braid.collections() == ()


@pytest.mark.parametrize("dry_run", [False, True])
def test_postgresql_judges_regular_expressions(braid: Braid, dry_run: bool) -> None:
    routes = {"contracts": {"collections": ["hr"], "match": {"any": ["a", {"regex": "(unbalanced"}]}}}
    with pytest.raises(SettingsError, match=r"routes\.contracts\.match\.any: .*'\(unbalanced'.*parentheses"):
        braid.apply({**FILE, "routes": routes}, dry_run=dry_run)


@pytest.mark.parametrize(
    ("question", "chosen"),
    [
        ("用NDA审批要多久", ("legal",)),  # a Latin word inside Chinese is a word
        ("nda?", ("legal",)),
        ("the candaver", ()),  # not a part of another word
        ("我的合同呢", ("legal",)),
        ("is C++ allowed", ("legal",)),
        ("is C allowed", ()),
        ("annual \n leave", ("legal",)),
        ("Termination", ("legal",)),
        ("an NDA joke", ()),
        ("sick leave", ("hr",)),
        ("leave", ()),
        ("sick leave under an NDA", ("legal",)),  # the higher priority decides
    ],
)
def test_rules_match_words(shared_rules: Braid, question: str, chosen: tuple[str, ...]) -> None:
    assert shared_rules.route(question).chosen == chosen


@pytest.fixture(scope="module")
def shared_rules(made: Any, template: str) -> Iterator[Braid]:
    with made(template) as dsn, pgbraid.connect(dsn) as opened:
        opened.apply(FILE)
        yield opened


@pytest.mark.parametrize("keyword", ["a.b", "x(y)", "[z]", "^a$", "a|b", "50%", "a\\d", "{3}", "C#", "«é»", "naïve"])
def test_a_keyword_means_its_own_characters(conn: psycopg.Connection[Any], keyword: str) -> None:
    from pgbraid.declared import expression

    def matches(question: str) -> Any:
        return conn.execute("SELECT %s::text ~* %s::text", (question, expression(keyword))).fetchone()[0]  # type: ignore[index]

    assert matches(f"say {keyword} now")
    assert matches(f"说{keyword}吧")
    assert not matches("say a b xy z 50 C 3 axb a5 now")


def test_sections_in_the_file_are_the_whole_truth(braid: Braid) -> None:
    braid.apply(FILE)
    rest = {"routes": {"people": FILE["routes"]["people"]}, "profiles": {}, "aliases": {}, "default": "all"}
    assert changed(braid.apply(rest)) == {
        ("profile", "short"): "drop",
        ("route", "contracts"): "drop",
        ("alias", "法务"): "drop",
        ("default", "default"): "change",
    }
    assert braid.route("NDA").chosen == ("hr", "legal")
    assert len(braid.collections()) == 2 and len(braid.embedders()) == 1


def test_sections_that_are_absent_are_left_alone(braid: Braid, database: str) -> None:
    braid.apply(FILE)
    before = catalogue(database)
    assert braid.apply({"collections": FILE["collections"]}).empty
    assert catalogue(database) == before


def test_what_can_change_in_place_is_changed_and_documents_stay(braid: Braid) -> None:
    braid.apply(FILE)
    braid.ingest("hr", [Document("a", "sick leave")])
    hr = {"embedder": "h", "description": "人事", "index": {"ef_search": 77, "exact_below": 3}}
    found = braid.apply({"collections": {"hr": hr}})
    assert {key: new for key, (_, new) in found.changes[0].detail.items()} == {
        "description": "人事",
        "index.ef_search": 77,
        "index.exact_below": 3,
    }
    altered = braid.collection("hr")
    assert (altered.description, altered.index.ef_search, altered.index.exact_below) == ("人事", 77, 3)
    assert altered.documents == 1


def test_a_description_can_be_taken_away(braid: Braid) -> None:
    braid.apply(FILE)
    braid.apply({"collections": {"hr": {"embedder": "h", "description": ""}}})
    assert braid.collection("hr").description == ""


def test_changes_that_need_new_embeddings_are_refused_and_nothing_else_is_done(braid: Braid, database: str) -> None:
    braid.apply(FILE)
    before = catalogue(database)
    file = {"collections": {"hr": {"embedder": "h", "description": "x", "language": "german"}}, "default": "all"}
    with pytest.raises(SettingsError, match="language 'multilingual' → 'german' cannot change in place"):
        braid.apply(file)
    with pytest.raises(SettingsError, match="dimensions 32 → 64 gives other vectors"):
        braid.apply({"embedders": {"h": {"kind": "hashing", "model": "words", "dimensions": 64}}})
    assert catalogue(database) == before


def test_an_embedder_may_move_when_its_vectors_stay(braid: Braid) -> None:
    braid.apply(FILE)
    found = braid.apply({"embedders": {"h": {"kind": "hashing", "model": "moved", "dimensions": 32}}})
    assert changed(found) == {("embedder", "h"): "change"}
    assert braid.embedders()[0].model == "moved"
    braid.ingest("hr", [Document("a", "sick leave")])
    assert braid.search("sick leave").status == "found"


def test_a_model_that_is_not_as_declared_is_refused(braid: Braid) -> None:
    from pgbraid.embed import from_callable

    braid.register_embedder("e", from_callable(lambda texts: [[1.0, 0.0]] * len(texts), dimensions=2, name="two"))
    braid.apply({"embedders": {"e": {"kind": "callable", "model": "two"}}})
    assert braid.embedders()[0].dimensions == 2


def test_a_default_of_names_asks_those(braid: Braid) -> None:
    braid.apply({**FILE, "default": ["hr"]})
    decision = braid.route("weather")
    assert (decision.selector, decision.chosen, decision.policy) == ("default", ("hr",), "route")
    assert braid.apply({**FILE, "default": ["hr"]}).empty
    assert changed(braid.apply({"default": ["legal", "hr"]})) == {("default", "default"): "change"}
    assert braid.route("weather").chosen == ("hr", "legal")
    assert changed(braid.apply({"default": "error"})) == {("default", "default"): "change"}
    with pytest.raises(NothingToSearch):
        braid.route("weather")


def test_a_disabled_route_does_not_match(braid: Braid) -> None:
    routes = {"people": {"collections": ["hr"], "match": {"any": ["leave"]}, "enabled": False}}
    braid.apply({**FILE, "routes": routes})
    assert braid.route("leave").chosen == ()


def test_a_route_that_changes_keeps_nothing_of_what_it_was(braid: Braid) -> None:
    braid.apply(FILE)
    routes = {**FILE["routes"], "people": {"collections": ["legal"], "match": {"any": ["holiday"]}, "priority": 3}}
    found = braid.apply({"routes": routes, "profiles": FILE["profiles"]})
    (change,) = [c for c in found.changes if c.action != "keep"]
    assert change.detail == {
        "collections": (["hr"], ["legal"]),
        "match": ({"all": ["leave", "sick"]}, {"any": ["holiday"]}),
        "priority": (None, 3),
    }
    assert braid.route("sick leave").chosen == ()
    assert braid.route("holiday").chosen == ("legal",)


def test_a_collection_dropped_by_hand_is_made_again_and_its_routes_with_it(braid: Braid) -> None:
    braid.apply(FILE)
    braid.drop_collection("legal")
    found = changed(braid.apply(FILE))
    assert found == {("collection", "legal"): "create", ("route", "contracts"): "change", ("alias", "法务"): "create"}
    assert braid.route("NDA").chosen == ("legal",)


def test_an_application_can_roll_back_what_was_applied(braid: Braid, database: str) -> None:
    before = catalogue(database)
    with psycopg.connect(database) as connection:
        assert not braid.using(connection).apply(FILE).empty
        assert braid.using(connection).apply(FILE).empty
        assert braid.using(connection).apply({"default": "all"}, dry_run=True).changes[0].action == "change"
        assert braid.using(connection).apply({"default": "none"}).empty
        connection.rollback()
    assert catalogue(database) == before


def test_two_who_apply_at_once_do_not_disturb_each_other(database: str) -> None:
    def apply(_: int) -> Changes:
        with pgbraid.connect(database) as own:
            return own.apply(FILE)

    with ThreadPoolExecutor(3) as threads:
        results = list(threads.map(apply, range(3)))
    assert sorted(changes.empty for changes in results) == [False, True, True]


def test_a_role_that_may_not_change_the_catalogue_is_told(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE ROLE reader_of_apply NOLOGIN")
        try:
            connection.execute("GRANT USAGE ON SCHEMA pgbraid TO reader_of_apply")
            connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA pgbraid TO reader_of_apply")
            connection.execute("SET ROLE reader_of_apply")
            with pgbraid.connect(database) as braid, pytest.raises(StatementFailed, match="permission denied"):
                braid.using(connection).apply(FILE)
        finally:
            connection.execute("RESET ROLE")
            connection.execute("DROP OWNED BY reader_of_apply")
            connection.execute("DROP ROLE reader_of_apply")


def test_it_works_with_await(database: str) -> None:
    async def work() -> tuple[bool, bool]:
        async with pgbraid.connect_async(database) as braid:
            assert isinstance(braid, AsyncBraid)
            return (await braid.apply(FILE)).empty, (await braid.apply(FILE)).empty

    assert asyncio.run(work()) == (False, True)
