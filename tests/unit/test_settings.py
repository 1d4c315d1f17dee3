"""Settings: file < environment < arguments, refused when unknown or unusable, and silent about passwords."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pgbraid.errors import SettingsError, UnknownOption
from pgbraid.settings import Settings, libpq_dsn, safe_dsn


@pytest.fixture(autouse=True)
def empty_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("PGBRAID_") or name == "DATABASE_URL":
            monkeypatch.delenv(name)


def test_nothing_given_means_the_embedded_server_in_the_working_directory() -> None:
    settings = Settings.load()
    assert settings.dsn is None
    assert settings.server_dir == Path(".pgbraid")
    assert (settings.pool_min, settings.pool_max, settings.prepare_threshold) == (0, 4, None)


def test_the_environment_beats_the_file_and_an_argument_beats_both(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("pgbraid.toml").write_text("pool_max = 5\nthreads = 1\nconnect_timeout = 3\n")
    monkeypatch.setenv("PGBRAID_THREADS", "2")
    monkeypatch.setenv("PGBRAID_CONNECT_TIMEOUT", "4")
    settings = Settings.load(connect_timeout=6, pool_max=None)
    assert (settings.pool_max, settings.threads, settings.connect_timeout) == (5, 2, 6)


def test_pgbraid_dsn_is_taken_before_database_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://a@one/x")
    assert Settings.load().dsn == "postgresql://a@one/x"
    monkeypatch.setenv("PGBRAID_DSN", "postgresql://a@two/x")
    assert Settings.load().dsn == "postgresql://a@two/x"
    monkeypatch.setenv("PGBRAID_DSN", "")
    assert Settings.load().dsn == "postgresql://a@one/x"


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("postgres://u:p@h:5/d", "postgresql://u:p@h:5/d"),
        ("postgresql+psycopg://u@h/d", "postgresql://u@h/d"),
        ("postgresql+asyncpg://u@h/d?sslmode=require", "postgresql://u@h/d?sslmode=require"),
        ("postgresql://postgres@/pgbraid?host=%2Ftmp%2Fa%20b", "postgresql://postgres@/pgbraid?host=%2Ftmp%2Fa%20b"),
        ("host=/tmp dbname=x user=u", "host=/tmp dbname=x user=u"),
        ("service=site", "service=site"),
    ],
)
def test_every_form_of_address_is_read(given: str, read: str) -> None:
    assert libpq_dsn(given) == read


def test_another_database_s_address_is_refused_with_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "mysql://u:hush@h/d")
    with pytest.raises(SettingsError, match=r"DATABASE_URL.*mysql") as caught:
        Settings.load()
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://u:hush/hush@h:5/d",
        "postgresql://u:5/hush@hush@h/d",
        "postgresql://u:hu@hush@h/d",
        "host=h hush hush",
        "postgresql://u:hush@[h/d",
        "hush",
    ],
)
def test_an_unreadable_address_is_refused_without_showing_it(dsn: str) -> None:
    with pytest.raises(SettingsError, match="libpq cannot read it") as caught:
        Settings.load(dsn=dsn)
    assert "hush" not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


@pytest.mark.parametrize("dsn", ["postgresql://u:hush@h/d", "host=h password=hush", "host=h sslpassword='hush hush'"])
def test_a_password_is_never_shown(dsn: str) -> None:
    settings = Settings.load(dsn=dsn)
    assert settings.dsn == dsn
    for shown in (repr(settings), str(settings), safe_dsn(dsn)):
        assert "hush" not in shown and "***" in shown


def test_a_wrong_value_elsewhere_does_not_show_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGBRAID_DSN", "postgresql://u:hush@h/d")
    with pytest.raises(SettingsError) as caught:
        Settings.load(pool_min=9)
    assert "pool_min is 9" in str(caught.value) and "hush" not in str(caught.value)


def test_an_unknown_key_in_the_file_is_an_error_with_the_nearest_name() -> None:
    Path("pgbraid.toml").write_text("pool_maximum = 5\n")
    with pytest.raises(UnknownOption, match=r"'pool_maximum'.*pgbraid\.toml.*Did you mean 'pool_max'"):
        Settings.load()


def test_an_unknown_variable_is_an_error_with_the_nearest_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGBRAID_POOLMAX", "5")
    with pytest.raises(UnknownOption, match="Did you mean 'PGBRAID_POOL_MAX'"):
        Settings.load()


def test_an_unknown_argument_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(UnknownOption, match="Did you mean 'threads'"):
        Settings.load(thread=1)


def test_the_variables_of_the_test_suite_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGBRAID_TEST_DSN", "host=h")
    monkeypatch.setenv("PGBRAID_TEST_DATA", "somewhere")
    assert Settings.load() == Settings()


def test_a_wrong_value_names_its_source_and_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGBRAID_POOL_MAX", "many")
    with pytest.raises(SettingsError, match="PGBRAID_POOL_MAX is 'many'"):
        Settings.load()


def test_a_pool_that_starts_larger_than_it_may_grow_is_refused() -> None:
    with pytest.raises(SettingsError, match="pool_min is 5, more than pool_max"):
        Settings.load(pool_min=5)


@pytest.mark.parametrize(("given", "read"), [("none", None), ("never", None), ("0", 0), ("5", 5)])
def test_prepared_statements_can_be_switched_off_in_words(
    given: str, read: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("pgbraid.toml").write_text("prepare_threshold = 3\n")
    monkeypatch.setenv("PGBRAID_PREPARE_THRESHOLD", given)
    assert Settings.load().prepare_threshold == read


@pytest.mark.parametrize("content", [b"pool_max = = 3", b'dsn = "\xff"'])
def test_a_file_that_cannot_be_read_is_named(content: bytes) -> None:
    Path("pgbraid.toml").write_bytes(content)
    with pytest.raises(SettingsError, match=r"pgbraid\.toml"):
        Settings.load()


def test_settings_do_not_change_once_made() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings.load().pool_max = 9  # type: ignore[misc]
