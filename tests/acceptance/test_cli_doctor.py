"""`pgbraid doctor`: what it prints, and that what it prints can be run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg

Run = Callable[..., Any]


def test_what_is_found_is_told_and_its_sql_mends_it(full: Run, database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("DROP INDEX pgbraid.chunk_1_words_gin")
        connection.execute("INSERT INTO pgbraid.route (name) VALUES ('no\nwhere')")
    ended = full("doctor")
    assert ended.code == 1 and "findings" in ended.err
    assert "error  hr has no index of its words" in ended.out and "CREATE INDEX CONCURRENTLY" in ended.out
    told = {f["check"]: f for f in full("doctor", "--json").json}
    assert told["missing_gin_indexes"]["severity"] == "error" and told["idle_routes"]["object"] == "no\nwhere"
    script = full("doctor", "hr", "--sql").out
    assert "-- warning: no where matches questions" in script  # a name cannot end the comment that it stands in
    kept = "\n".join(line for line in script.splitlines() if "ALTER SYSTEM" not in line)
    with psycopg.connect(database, autocommit=True) as connection:
        for line in kept.splitlines():
            if not line.startswith("--"):
                connection.execute(line.encode())
    after = full("doctor", "--json")
    assert after.code == 0 and not {"missing_gin_indexes", "idle_routes"} & {f["check"] for f in after.json}


def test_two_ways_to_print_exclude_each_other(filled: Run) -> None:
    assert filled("doctor", "--sql", "--json").code == 2
    assert filled("doctor", "nots").code == 6
