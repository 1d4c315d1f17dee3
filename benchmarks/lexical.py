"""The lexical branch against `ts_rank_cd` over the same GIN index, on generated chunks.

    python benchmarks/lexical.py --dsn DSN [--chunks 100000] [--questions 30] [--top 10]

Three ways take turns question by question, warm: the branch as a search sends it (pruned where that helps), the same
branch with every match scored, and `ts_rank_cd` over any of the words. The first two must give the same chunks
and scores, else the script fails. Medians and 95th percentiles are quoted, and how many questions were pruned.
The database should be an empty one: a collection `generated` is made in it, and kept for the next run.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import psycopg
from generated import fill, questions

import pgbraid
from pgbraid import Collection
from pgbraid._sync import catalog, search
from pgbraid._sync.link import Database
from pgbraid.compose import branch_statements
from pgbraid.lexical import weigh
from pgbraid.plan import make_plan
from pgbraid.values import Profile

RANKED = """SELECT document_id, ordinal, ts_rank_cd(words, %(query)s::tsquery) AS score FROM pgbraid.CHUNKS
WHERE words @@ %(query)s::tsquery ORDER BY score DESC, document_id, ordinal LIMIT %(top)s"""
SIZES = (2, 5, 8, 20)
WARM = 5


def timed(connection: psycopg.Connection[Any], text: str, params: Any, knobs: Sequence[Any]) -> tuple[float, list[Any]]:
    with connection.transaction():
        for knob in knobs:
            connection.execute(knob.text.encode())
        start = time.perf_counter()
        rows = connection.execute(text.encode(), params, prepare=False).fetchall()
        return (time.perf_counter() - start) * 1000, rows


def row(name: str, times: Sequence[float]) -> str:
    ordered = sorted(times)
    return f"  {name:<12} p50 {statistics.median(ordered):8.2f} ms   p95 {ordered[int(len(ordered) * 0.95)]:8.2f} ms"


def measure(dsn: str, made: Collection, asked: Sequence[str], top: int) -> None:
    times: dict[str, list[float]] = {"pgbraid": [], "every match": [], "ts_rank_cd": []}
    pruned = 0
    with pgbraid.connect(dsn) as braid, psycopg.connect(dsn) as connection, Database(braid.settings).link() as link:
        for question in [*asked[:WARM], *asked]:
            look = catalog.look_up(link, question)
            words = weigh(look.words, [made])
            plain = {key: replace(query, ladder=None) for key, query in words.items()}
            profile = Profile(dense_weight=0.0, candidates=top, top_k=top)
            plans = [make_plan([made], w, profile) for w in (words, plain)]
            both = [branch_statements(plan, {}, link.facts.vector_schema)[0] for plan in plans]
            knobs = search.knobs(plans[0])
            found = []
            for name, one in zip(times, both, strict=False):
                spent, rows = timed(connection, one.statement.text, one.params, knobs)
                times[name].append(spent)
                found.append([(r[0], r[1], r[2], r[3]) for r in sorted(rows, key=lambda r: r[2])])
            if found[0] != found[1]:
                raise SystemExit(f"Pruning changed the result of {question!r}.")
            ranked = RANKED.replace("CHUNKS", made.chunk_table)
            query = {"query": words[made.id].query, "top": top}
            times["ts_rank_cd"].append(timed(connection, ranked, query, knobs)[0])
            pruned += words[made.id].ladder is not None
    times = {name: spent[WARM:] for name, spent in times.items()}
    print("\n".join(row(name, spent) for name, spent in times.items()))
    ratio = statistics.median(times["ts_rank_cd"]) / statistics.median(times["pgbraid"])
    print(f"  ts_rank_cd takes {ratio:.1f} times as long (p50); {pruned} of {len(asked) + WARM} pruned", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=30, help="of each length")
    parser.add_argument("--top", type=int, default=10)
    asked = parser.parse_args()
    made = fill(asked.dsn, asked.chunks)
    with psycopg.connect(asked.dsn) as connection:
        size = connection.execute(
            "SELECT pg_size_pretty(pg_relation_size(%s)), pg_size_pretty(pg_relation_size(%s))",
            (f"pgbraid.{made.chunk_table}", f"pgbraid.{made.chunk_table}_words_gin"),
        ).fetchone()
    print(f"{made.chunks} chunks, table and GIN index {size}, top {asked.top}")
    for words in SIZES:
        print(f"{words} words")
        measure(asked.dsn, made, questions(asked.dsn, made, words, asked.questions), asked.top)


if __name__ == "__main__":
    main()
