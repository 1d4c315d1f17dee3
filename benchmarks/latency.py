"""A search over several collections against its own branch statements, run bare one after the other.

    python benchmarks/latency.py --data DIR --dsn DSN [--corpora scifact,cmrc2018_dev,policyqa] [--questions 200]

Both sides work on the same questions, with the vectors made before; they take turns question by question. What is
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
from pgbraid._sync.link import Database
from pgbraid.compose import Composed, branch_statements, compose, compose_lift
from pgbraid.lexical import weigh
from pgbraid.passages import read_rows
from pgbraid.plan import make_plan
from pgbraid.values import Profile


def timed(work: Any, *arguments: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work(*arguments)
    return (time.perf_counter() - start) * 1000, result


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
    database = Database(braid.settings)
    ours, theirs = [], []
    with database.link() as link, psycopg.connect(asked.dsn) as connection:
        for question in [*questions[:10], *questions]:
            look = catalog.look_up(link, question)
            chosen = [c for c in look.collections if c.name in names]
            plan = make_plan(chosen, weigh(look.words, chosen), Profile())
            vectors = {c.embedder.id: braid.models.embedder(c.embedder).embed_queries([question])[0] for c in chosen}

            def whole(plan: Any = plan, vectors: Any = vectors) -> Any:
                composed = compose(plan, vectors, link.facts.vector_schema)
                rows = link.read([(composed.statement, composed.params)], "", search.knobs(plan))[0]
                return read_rows(rows, plan)

            spent, retrieved = timed(whole)
            fetch = compose_lift(chosen, [f.key for f in retrieved.found], "")
            parts = [*branch_statements(plan, vectors, link.facts.vector_schema), fetch]
            ours.append(spent)
            theirs.append(timed(bare, connection, parts, search.knobs(plan))[0])
    ours, theirs = ours[10:], theirs[10:]
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    print(f"{len(questions)} questions, {len(names)} collections, {sum(c.chunks for c in chosen)} chunks")
    print(f"composed  p50 {statistics.median(ours):.2f} ms   p95 {sorted(ours)[int(len(ours) * 0.95)]:.2f} ms")
    print(f"bare      p50 {statistics.median(theirs):.2f} ms   p95 {sorted(theirs)[int(len(theirs) * 0.95)]:.2f} ms")
    print(
        f"ratio     p50 {statistics.median(ratios):.3f}   "
        f"of medians {statistics.median(ours) / statistics.median(theirs):.3f}"
    )


if __name__ == "__main__":
    main()
