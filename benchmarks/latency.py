"""A search over several collections against its own branch statements, run bare one after the other.

    python benchmarks/latency.py --data DIR --dsn DSN [--corpora scifact,cmrc2018_dev,policyqa] [--questions 200]

All vectors are made before. Both sides work on the same questions and take turns in going first. What is
compared: the retrieving step of a search (composed statement, settings, reading rows into passages), and each
branch as its own statement followed by the ordered fetch of the documents that the search returned. Medians are
quoted.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import psycopg
from corpora import Corpus

import pgbraid
from pgbraid._sync import catalog, search
from pgbraid._sync.link import Database, Link
from pgbraid.compose import Composed, branch_statements, compose, compose_lift
from pgbraid.lexical import weigh
from pgbraid.passages import Retrieved, read_rows
from pgbraid.plan import Plan, make_plan
from pgbraid.values import Profile


def timed(work: Any, *arguments: Any) -> float:
    """Milliseconds."""
    start = time.perf_counter()
    work(*arguments)
    return (time.perf_counter() - start) * 1000


def ready(braid: pgbraid.Braid, link: Link, question: str, names: list[str]) -> tuple[Plan, dict[int, Any]]:
    """The plan of a question over the named collections, and its vectors."""
    look = catalog.look_up(link, question)
    chosen = [c for c in look.collections if c.name in names]
    embedders = {c.embedder.id: c.embedder for c in chosen}
    vectors = {key: braid.models.embedder(one).embed_queries([question])[0] for key, one in embedders.items()}
    return make_plan(chosen, weigh(look.words, chosen), Profile()), vectors


def composed(link: Link, plan: Plan, vectors: dict[int, Any]) -> Retrieved:
    """What a search does: text, one trip, rows read."""
    asked = compose(plan, vectors, link.facts.vector_schema)
    return read_rows(link.read([(asked.statement, asked.params)], "", search.knobs(plan))[0], plan)


def alone(link: Link, plan: Plan, vectors: dict[int, Any]) -> list[Composed]:
    """Each branch as its own statement, and the ordered fetch of what the search returns."""
    wanted = [found.key for found in composed(link, plan, vectors).found]
    fetch = compose_lift(plan.collections, wanted, "")
    return [*branch_statements(plan, vectors, link.facts.vector_schema), fetch]


def bare(connection: psycopg.Connection[Any], statements: list[Composed], knobs: list[Any]) -> None:
    """Every statement by itself, in one transaction."""
    with connection.transaction():
        for knob in knobs:
            connection.execute(knob.text.encode())
        for one in statements:
            connection.execute(one.statement.text.encode(), one.params, prepare=False).fetchall()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--corpora", default="scifact,cmrc2018_dev,policyqa")
    parser.add_argument("--questions", type=int, default=100, help="of each corpus")
    asked = parser.parse_args()
    names = asked.corpora.split(",")
    questions = [q.text for name in names for q in Corpus(name, asked.data / name).questions()[: asked.questions]]

    braid = pgbraid.connect(asked.dsn)
    with Database(braid.settings).link() as link, psycopg.connect(asked.dsn) as connection:
        work = [ready(braid, link, question, names) for question in questions]
        ours: list[float] = []
        theirs: list[float] = []
        for turn, (plan, vectors) in enumerate([*work[:10], *work]):
            parts = alone(link, plan, vectors)
            sides = [(ours, composed, (link, plan, vectors)), (theirs, bare, (connection, parts, search.knobs(plan)))]
            for kept, side, arguments in sides[:: 1 if turn % 2 else -1]:
                kept.append(timed(side, *arguments))
    ours, theirs = ours[10:], theirs[10:]
    chunks = sum(c.chunks for c in plan.collections)
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    print(f"{len(questions)} questions, {len(names)} collections, {chunks} chunks")
    print(f"composed  p50 {statistics.median(ours):.2f} ms   p95 {sorted(ours)[int(len(ours) * 0.95)]:.2f} ms")
    print(f"bare      p50 {statistics.median(theirs):.2f} ms   p95 {sorted(theirs)[int(len(theirs) * 0.95)]:.2f} ms")
    print(
        f"ratio     p50 {statistics.median(ratios):.3f}   "
        f"of medians {statistics.median(ours) / statistics.median(theirs):.3f}"
    )


if __name__ == "__main__":
    main()
