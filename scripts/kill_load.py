"""Kill a load, and the server under it, at random moments with SIGKILL; look after each whether anything is half there.

    python scripts/kill_load.py [--rounds 100] [--documents 4000] [--seed 1] [--directory DIR]

An embedded server of its own is made in a temporary directory. Each round starts `pgbraid ingest` of one and the same
file and kills the loader, or the whole server, after a random time; then every document must have all of its chunks,
no chunk may be an orphan, and the counts must equal a recount. When the load comes to its end, the collection is
dropped and the next load begins. At the end one load runs through, and every document must be there.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import psycopg

import pgbraid
from pgbraid import Chunking, CollectionSpec, EmbedderRecord, schema, server

PATIENCE = 600  # seconds: a backend whose server is killed may first end its statement, such as building an index
CHECKS = {
    "documents without all of their chunks": """
        SELECT count(*) FROM pgbraid.document AS d
        WHERE d.chunk_count <> (SELECT count(*) FROM pgbraid.chunk AS c
            WHERE c.collection_id = d.collection_id AND c.tenant = d.tenant AND c.document_id = d.id)""",
    "chunks without a document": """
        SELECT count(*) FROM pgbraid.chunk AS c WHERE NOT EXISTS (SELECT FROM pgbraid.document AS d
            WHERE c.collection_id = d.collection_id AND c.tenant = d.tenant AND c.document_id = d.id)""",
    "documents that are there twice": """
        SELECT count(*) - count(DISTINCT external_id) FROM pgbraid.document""",
    "counts that differ from a recount": """
        SELECT abs((SELECT coalesce(sum(chunks), 0) FROM pgbraid.collection_change)
            - (SELECT count(*) FROM pgbraid.chunk))
            + abs((SELECT coalesce(sum(documents), 0) FROM pgbraid.collection_change)
            - (SELECT count(*) FROM pgbraid.document))""",
    "words that are counted wrong": """
        SELECT count(*) FROM (
            SELECT word, sum(n) FROM (
                SELECT l.word, l.chunks AS n FROM pgbraid.lexeme AS l
                UNION ALL
                SELECT l.word, g.chunks FROM pgbraid.lexeme_change AS g JOIN pgbraid.lexeme AS l ON g.lexeme_id = l.id
                UNION ALL
                SELECT w.lexeme, -1 FROM pgbraid.chunk AS c, unnest(c.words) AS w
            ) AS told GROUP BY word HAVING sum(n) <> 0) AS wrong""",
}


def corpus(path: Path, documents: int, seed: int) -> None:
    """A file of made-up documents of one to six chunks."""
    chance = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for i in range(documents):
            words = " ".join(f"w{min(int(chance.expovariate(0.01)), 2000)}" for _ in range(chance.randint(5, 120)))
            file.write(json.dumps({"id": f"d{i}", "text": words}) + "\n")


def prepared(dsn: str) -> None:
    """A collection with small chunks, empty."""
    schema.upgrade(dsn)
    with pgbraid.connect(dsn) as braid:
        if "h" not in [e.name for e in braid.embedders()]:
            braid.add_embedder(EmbedderRecord("h", "hashing", "words", 64))
        if "notes" in [c.name for c in braid.collections()]:
            braid.drop_collection("notes")
        braid.create_collection(CollectionSpec("notes", "h", chunking=Chunking(24, 0)))


def sound(dsn: str) -> None:
    """Raise SystemExit when anything is half there."""
    with psycopg.connect(dsn) as connection:
        for what, query in CHECKS.items():
            row = connection.execute(query.encode()).fetchone()
            if row is None or row[0] != 0:
                raise SystemExit(f"{row} {what}")


def load(dsn: str, path: Path) -> subprocess.Popen[bytes]:
    """A loader in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "pgbraid",
        "--dsn",
        dsn,
        "ingest",
        "notes",
        str(path),
        "--batch-size",
        "50",
        "--json",
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def one_round(directory: Path, path: Path, chance: random.Random, longest: float) -> str:
    """Begin or go on loading, and kill something; what happened."""
    running = server.up(directory)
    loader = load(running.dsn, path)
    time.sleep(chance.uniform(0.3, longest))
    if loader.poll() is not None:
        loader.communicate()
        sound(running.dsn)
        prepared(running.dsn)
        return "came to its end" if loader.returncode == 0 else f"ended with {loader.returncode}"
    victim = chance.choice(["loader", "server"])
    os.kill(loader.pid if victim == "loader" else running.pid, signal.SIGKILL)
    loader.communicate(timeout=PATIENCE)
    sound(server.up(directory).dsn)
    return f"{victim} killed"


def main(arguments: list[str] | None = None, told: Callable[[str], None] = print) -> Counter[str]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--documents", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=6.0, help="seconds until something is killed")
    parser.add_argument("--directory", type=Path)
    asked = parser.parse_args(arguments)
    chance, happened = random.Random(asked.seed), Counter[str]()
    with tempfile.TemporaryDirectory() as temporary:
        directory = asked.directory or Path(temporary) / "server"
        path = Path(temporary) / "documents.jsonl"
        corpus(path, asked.documents, asked.seed)
        try:
            prepared(server.up(directory).dsn)
            for number in range(asked.rounds):
                happened[one_round(directory, path, chance, asked.longest)] += 1
                told(f"{number + 1}: {dict(happened)}")
            dsn = server.up(directory).dsn
            last = load(dsn, path)
            report = json.loads(last.communicate()[0])
            sound(dsn)
            with psycopg.connect(dsn) as connection:
                stored = connection.execute("SELECT count(*) FROM pgbraid.document").fetchone()
            if stored != (asked.documents,):
                raise SystemExit(f"{stored} documents, not {asked.documents}")
            happened["passed over at the end"] = report["resumed"]
        finally:
            server.down(directory)
    told(f"nothing half there, and all {asked.documents} documents at the end: {dict(happened)}")
    return happened


if __name__ == "__main__":
    main()
