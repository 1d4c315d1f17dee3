"""What a declared file may say, what is said of a wrong one, and what changes by it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pgbraid.changes import Stored, check, difference, record_of, spec_of, undescribed
from pgbraid.declared import Changes, Declared, Default, Route, expression, parse
from pgbraid.errors import SettingsError, UnknownOption
from pgbraid.values import Chunking, Collection, EmbedderRecord, VectorIndex

FILE = """
embedders:
  h: {kind: hashing, model: words}
collections:
  hr: {description: people, embedder: h, chunking: {tokens: 120, overlap: 20}, index: {ef_search: 50}, k1: 1}
  legal: {embedder: h, language: english}
profiles:
  technical: {top_k: 3, rerank: "maxsim:h"}
routes:
  contracts:
    collections: [legal]
    priority: 20
    profile: technical
    match: {any: [合同, contract, {regex: "terminat(e|ion)"}], none: [job]}
default: none
aliases: {法务: legal}
"""
RECORD = EmbedderRecord("h", "hashing", "words", 256, max_tokens=1000, fingerprint="f", id=1)
HR = Collection(
    id=1, name="hr", description="people", language="multilingual", text_config="simple", embedder=RECORD,
    chunking=Chunking(120, 20), index=VectorIndex(ef_search=50), k1=1.0, b=0.75, document_table="d", chunk_table="c",
)  # fmt: skip
LEGAL = replace(HR, id=2, name="legal", description="", language="english", text_config="english")
EMPTY = Stored({}, {}, {}, {}, Default("all"), None, {}, frozenset({"simple", "english"}))


def stored_as(declared: Declared) -> Stored:
    return Stored(
        {"h": RECORD}, {"hr": HR, "legal": LEGAL}, dict(declared.profiles or {}), dict(declared.routes or {}),
        declared.default or Default("all"), None, dict(declared.aliases or {}), EMPTY.text_configs,
    )  # fmt: skip


def actions(declared: Declared, stored: Stored) -> dict[tuple[str, str], str]:
    described = {record.name: RECORD for record in undescribed(declared, stored.embedders)}
    return {(c.kind, c.name): c.action for c in difference(declared, stored, described)}


# ── reading ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_file_is_read_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "pgbraid.yaml"
    path.write_text(FILE, encoding="utf-8")
    declared = parse(path)
    assert declared == parse(FILE)
    assert declared.collections["hr"]["chunking.tokens"] == 120
    assert declared.profiles == {"technical": {"top_k": 3, "rerank": "maxsim:h"}}
    route = (declared.routes or {})["contracts"]
    assert [(r.mode, r.kind, r.pattern) for r in route.rules] == [
        ("any", "keyword", "合同"),
        ("any", "keyword", "contract"),
        ("any", "regex", "terminat(e|ion)"),
        ("none", "keyword", "job"),
    ]
    assert declared.default == Default("none")


def test_sections_that_are_absent_are_told_from_empty_ones() -> None:
    declared = parse({"aliases": {}})
    assert declared.aliases == {}
    assert declared.routes is None and declared.profiles is None and declared.default is None


def test_what_is_declared_cannot_be_changed() -> None:
    declared = parse(FILE)
    with pytest.raises(TypeError):
        declared.collections["x"] = {}  # type: ignore[index]


def test_the_mapping_that_was_given_is_left_as_it_was() -> None:
    given = {"profiles": {"p": {"top_k": 3, "rerank": None}}, "aliases": {"a": "b"}}
    assert parse(given).profiles == {"p": {"top_k": 3}}
    assert given == {"profiles": {"p": {"top_k": 3, "rerank": None}}, "aliases": {"a": "b"}}


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("colections: {}", UnknownOption, "there is no key 'colections'. Did you mean 'collections'?"),
        ("collections: {hr: {embeder: h}}", UnknownOption, "collections.hr: there is no key 'embeder'"),
        ("collections: {hr: {}}", SettingsError, "collections.hr: embedder is missing"),
        (
            "collections: {hr: {embedder: h, index: {ef: 3}}}",
            UnknownOption,
            "collections.hr.index: there is no key",
        ),
        ("collections: {hr: {embedder: h, index: {m: 1}}}", SettingsError, "collections.hr.index.m: "),
        ("collections: {hr: {embedder: h, index: {m: 40}}}", SettingsError, "ef_construction is at least twice m"),
        ("collections: {hr: {embedder: h, k1: .nan}}", SettingsError, "collections.hr.k1: "),
        ("collections: {hr: {embedder: h, chunking: {tokens: 20, overlap: 11}}}", SettingsError, "at most half"),
        ("collections: {hr: {embedder: h, chunking: {tokens: '20', overlap: 1}}}", SettingsError, "chunking.tokens: "),
        ("collections: {hr: {embedder: h, language: 'no such!'}}", SettingsError, "collections.hr.language: "),
        ("collections: {' hr': {embedder: h}}", SettingsError, "a name is 1 to 100 characters"),
        (
            "profiles: {p: {topk: 3}}",
            UnknownOption,
            "profiles.p: A profile has no setting 'topk'. Did you mean",
        ),
        ("profiles: {p: {top_k: true}}", SettingsError, "profiles.p: top_k is a whole number"),
        ("profiles: {p: {name: q}}", UnknownOption, "profiles.p: a profile's name is its key"),
        (
            "profiles: {p: {dense_threshold: .inf}}",
            SettingsError,
            "profiles.p: dense_threshold is a number, or null for none, not inf",
        ),
        ("routes: {r: {collections: [a]}}", SettingsError, "routes.r: a route needs keywords"),
        ("routes: {r: {collections: [a], match: {}}}", SettingsError, "routes.r: a route needs keywords"),
        ("routes: {r: {collections: [], match: {any: [x]}}}", SettingsError, "routes.r.collections: "),
        ("routes: {r: {collections: [a, a], match: {any: [x]}}}", SettingsError, "stands in the list twice"),
        ("routes: {r: {collections: [a], match: {any: []}}}", SettingsError, "routes.r.match.any: "),
        (
            "routes: {r: {collections: [a], match: {any: [' ']}}}",
            SettingsError,
            "match.any[0]: an empty keyword",
        ),
        ("routes: {r: {collections: [a], match: {any: [no]}}}", SettingsError, "a keyword is text (quote it)"),
        ("routes: {r: {collections: [a], match: {any: [{re: x}]}}}", SettingsError, "routes.r.match.any[0]: "),
        ('routes: {r: {collections: [a], match: {any: ["a\\0"]}}}', SettingsError, "routes.r.match.0: text with NUL"),
        (
            "routes: {r: {collections: [a], match: {some: [x]}}}",
            UnknownOption,
            "routes.r.match: there is no key",
        ),
        (
            "routes: {default: {collections: [a], match: {any: [x]}}}",
            SettingsError,
            "routes.default: this name",
        ),
        ("routes:", SettingsError, "routes: nothing stands here"),
        ("default: most", SettingsError, "default: all, none, error or a list of collections, not 'most'"),
        ("default: []", SettingsError, "default: all, none, error or a list"),
        ("aliases: {a: b, a: c}", SettingsError, "'a' stands here twice"),
        ("collections: [", SettingsError, "is not valid YAML"),
        ("", SettingsError, "declares nothing"),
        ("pgbraid.yaml", SettingsError, "A path is given as Path(…)"),
    ],
)
def test_a_mistake_is_named_with_its_place(text: str, error: type[SettingsError], said: str) -> None:
    with pytest.raises(SettingsError) as raised:
        parse(text)
    assert said in str(raised.value)
    assert type(raised.value) is error


def test_every_mistake_is_named_at_once() -> None:
    with pytest.raises(UnknownOption) as raised:
        parse("collections: {hr: {k1: -1}}\nrouts: {}")
    assert len(str(raised.value).splitlines()) == 3


def test_the_file_is_named_with_the_mistake(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("routs: {}", encoding="utf-8")
    with pytest.raises(UnknownOption, match=re.escape(f"{path}: there is no key 'routs'")):
        parse(path)
    with pytest.raises(SettingsError, match="cannot be read"):
        parse(tmp_path / "none.yaml")


def test_keywords_stand_in_expressions_as_they_are() -> None:
    assert expression("合同") == "合同"
    assert expression("a.b(c)").count("\\") >= 3
    assert r"\s+" in expression("annual leave")


# ── what changes ───────────────────────────────────────────────────────────────────────────────────────────


def test_everything_is_made_in_an_empty_catalogue() -> None:
    found = actions(parse(FILE), EMPTY)
    assert found.pop(("default", "default")) == "change"
    assert set(found.values()) == {"create"} and len(found) == 6


def test_what_is_as_declared_is_kept() -> None:
    declared = parse(FILE)
    assert set(actions(declared, stored_as(declared)).values()) == {"keep"}
    assert undescribed(declared, {"h": RECORD}) == ()
    assert Changes(difference(declared, stored_as(declared), {})).empty


def test_sections_in_the_file_are_the_whole_truth_and_others_are_left_alone() -> None:
    stored = stored_as(parse(FILE))
    assert actions(parse("aliases: {}"), stored) == {("alias", "法务"): "drop"}
    found = actions(parse("profiles: {}\nroutes: {}"), stored)
    assert found == {("profile", "technical"): "drop", ("route", "contracts"): "drop"}


def test_collections_and_embedders_are_never_dropped() -> None:
    assert actions(parse("embedders: {}\ncollections: {}"), stored_as(parse(FILE))) == {}


def test_settings_that_were_not_written_are_left_as_they_are() -> None:
    stored = stored_as(parse(FILE))
    assert actions(parse("collections: {hr: {embedder: h}}"), stored) == {("collection", "hr"): "keep"}


def test_what_changes_in_place_is_changed() -> None:
    declared = parse("collections: {hr: {embedder: h, description: new, index: {ef_search: 60, exact_below: 5}}}")
    (change,) = difference(declared, stored_as(parse(FILE)), {})
    assert change.action == "change"
    assert change.detail == {
        "description": ("people", "new"),
        "index.ef_search": (50, 60),
        "index.exact_below": (10_000, 5),
    }


@pytest.mark.parametrize(
    "setting",
    ["embedder: g", "language: german", "k1: 2", "b: 0.1", "chunking: {tokens: 99, overlap: 20}", "index: {m: 8}",
     "index: {storage: vector}", "index: {ef_construction: 99}"],
)  # fmt: skip
def test_what_needs_new_embeddings_is_refused(setting: str) -> None:
    own = setting if setting.startswith("embedder") else f"embedder: h, {setting}"
    declared = parse(f"collections: {{hr: {{{own}}}}}")
    with pytest.raises(SettingsError, match=r"^collections\.hr: .* → .*cannot change in place"):
        difference(declared, stored_as(parse(FILE)), {})


def test_an_embedder_that_gives_other_vectors_is_refused() -> None:
    declared = parse("embedders: {h: {kind: hashing, model: others}}")
    stored = stored_as(parse(FILE))
    assert [record.name for record in undescribed(declared, stored.embedders)] == ["h"]
    other = replace(RECORD, model="others", fingerprint="g")
    with pytest.raises(SettingsError, match=r"^embedders\.h: .*other vectors.*drop the collections.*\(hr, legal\)"):
        difference(declared, stored, {"h": other})


def test_an_embedder_that_gives_the_same_vectors_from_elsewhere_is_changed() -> None:
    declared = parse("embedders: {h: {kind: hashing, model: elsewhere}}")
    (change,) = difference(declared, stored_as(parse(FILE)), {"h": replace(RECORD, model="elsewhere")})
    assert (change.action, change.detail) == ("change", {"model": ("words", "elsewhere")})


def test_a_keyword_that_is_matched_in_another_way_is_written_again() -> None:
    declared = parse(FILE)
    stored = stored_as(declared)
    route = stored.routes["contracts"]
    older = replace(route, rules=(replace(route.rules[0], expression="old"), *route.rules[1:]))
    assert actions(declared, replace(stored, routes={"contracts": older}))["route", "contracts"] == "change"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("collections: {x: {embedder: hh}}", "collections.x.embedder: there is no embedder 'hh'. Did you mean 'h'?"),
        (
            "collections: {x: {embedder: h, language: englsh}}",
            "collections.x.language: there is no text search",
        ),
        ("profiles: {technical: {rerank: 'maxsim:g'}}", "profiles.technical.rerank: there is no embedder 'g'"),
        ("routes: {r: {collections: [hrr], match: {any: [x]}}}", "routes.r.collections: there is no collection 'hrr'"),
        (
            "routes: {r: {collections: [hr], profile: p, match: {any: [x]}}}",
            "routes.r.profile: there is no profile",
        ),
        ("default: [hrr]", "default: there is no collection 'hrr'. Did you mean 'hr'?"),
        ("aliases: {a: hrr}", "aliases.a: there is no collection 'hrr'"),
        ("aliases: {hr: legal}", "aliases.hr: there is a collection of that name"),
        ("collections: {法务: {embedder: h}}", "aliases.法务: there is a collection of that name"),
        ("profiles: {}", "profiles: 'technical' would be dropped, but route 'contracts' uses it"),
    ],
)
def test_names_that_do_not_fit_are_refused(text: str, said: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(said)):
        check(parse(text), stored_as(parse(FILE)))


def test_the_route_that_the_default_asks_is_not_dropped_under_it() -> None:
    stored = replace(stored_as(parse(FILE)), default=Default("route", ("legal",)), default_route="contracts")
    with pytest.raises(SettingsError, match="declare `default` too"):
        check(parse("routes: {}"), stored)
    declared = parse("routes: {}\ndefault: [legal]")
    check(declared, stored)
    assert actions(declared, stored)["default", "default"] == "change"


def test_records_and_specifications_hold_what_was_written() -> None:
    declared = parse(FILE)
    assert record_of("h", declared.embedders["h"]) == EmbedderRecord("h", "hashing", "words", 0)
    spec = spec_of("hr", declared.collections["hr"])
    assert (spec.embedder, spec.description, spec.k1) == ("h", "people", 1.0)
    assert spec.chunking == Chunking(120, 20) and spec.index == VectorIndex(ef_search=50)
    assert spec_of("legal", declared.collections["legal"]).chunking is None


def test_a_route_is_enabled_and_without_priority_unless_said() -> None:
    route = (parse("routes: {r: {collections: [b, a], match: {all: [x]}}}").routes or {})["r"]
    assert route == Route("r", ("a", "b"), route.rules)
