"""How loading, searching and size on disk grow: generated text and vectors, several sizes in one run.

    python benchmarks/scale.py --dsn DSN [--sizes 10000 100000 1000000] [--questions 60]

For each size a collection is loaded by a process of its own, whose peak memory is told, and its rows are copied into
tables without the vector index, which is built at the end: the floor. Then questions are asked, first idle, then while
another process loads a collection of the same size; the two come from one run. Vectors are made from each text
by a seeded generator, in clusters; a chunk is a document of 33 words, as frequent as real ones.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import psycopg

import pgbraid
from pgbraid import CollectionSpec, Document, EmbedderRecord
from pgbraid.embed import from_callable

DIMENSIONS, WORDS, VOCABULARY, CLUSTERS = 384, 33, 50_000, 1000
COLUMNS = (
    "collection_id, tenant, document_id, ordinal, start_at, end_at, length, text_config, hash, "
    "headings, metadata, terms, context, text, embedding"
)
CENTRES = np.random.default_rng(5).standard_normal((CLUSTERS, DIMENSIONS)).astype(np.float32)


def vectors(texts: Any) -> Any:
    """A vector for each text, the same in every process."""
    made = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
    for i, text in enumerate(texts):
        seed = zlib.crc32(text.encode())
        made[i] = CENTRES[seed % CLUSTERS] + 0.5 * np.random.default_rng(seed).standard_normal(DIMENSIONS)
    return made


def documents(size: int, seed: int) -> Iterator[Document]:
    """Documents of one chunk; the frequency of a word falls with its rank."""
    chance = np.random.default_rng(seed)
    for start in range(0, size, 1000):
        ranks = np.floor(np.exp(chance.random((1000, WORDS)) * np.log(VOCABULARY))).astype(int)
        for i, row in enumerate(ranks[: size - start]):
            yield Document(f"d{start + i}", " ".join(f"w{rank}" for rank in row))


def opened(dsn: str) -> pgbraid.Braid:
    """A braid with the embedder."""
    braid = pgbraid.connect(dsn)
    braid.register_embedder("made", from_callable(vectors, DIMENSIONS, "made"))
    if "made" not in [e.name for e in braid.embedders()]:
        braid.add_embedder(EmbedderRecord("made", "callable", "made", DIMENSIONS))
    return braid


def load(dsn: str, name: str, size: int) -> None:
    """Load a new collection in this process, and tell how that went as JSON."""
    with opened(dsn) as braid:
        if name in [c.name for c in braid.collections()]:
            braid.drop_collection(name)
        braid.create_collection(CollectionSpec(name, "made", language="simple"))
        report = braid.ingest(name, documents(size, len(name)))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(json.dumps({"milliseconds": dict(report.milliseconds), "chunks": report.chunks_written, "mb": peak}))


def loader(dsn: str, name: str, size: int) -> subprocess.Popen[str]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--dsn", dsn, "--load", name, "--sizes", str(size)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def floor(dsn: str, braid: pgbraid.Braid, name: str) -> tuple[float, float]:
    """Seconds of COPY of the same rows, and of building the vector index after it."""
    known = braid.collection(name)
    spent = 0.0
    with psycopg.connect(dsn, autocommit=True) as connection, psycopg.connect(dsn) as source:
        for table in (known.document_table, known.chunk_table):
            connection.execute(f"DROP TABLE IF EXISTS public.floor_{table}")
            connection.execute(f"CREATE TABLE public.floor_{table} (LIKE pgbraid.{table} INCLUDING ALL)")
        query = "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s AND indexdef LIKE '%%USING hnsw%%'"
        index = connection.execute(query, (f"floor_{known.chunk_table}",)).fetchone()
        connection.execute(f"DROP INDEX public.{index[0]}")
        for table, listed in ((known.document_table, "*"), (known.chunk_table, COLUMNS)):
            into = f"floor_{table}" if listed == "*" else f"floor_{table} ({listed})"
            with (
                source.cursor().copy(f"COPY (SELECT {listed} FROM pgbraid.{table}) TO STDOUT (FORMAT BINARY)") as out,
                connection.cursor().copy(f"COPY public.{into} FROM STDIN (FORMAT BINARY)") as copy,
            ):
                for block in out:
                    start = time.perf_counter()
                    copy.write(block)
                    spent += time.perf_counter() - start
                start = time.perf_counter()
            spent += time.perf_counter() - start
        start = time.perf_counter()
        connection.execute(index[1])
        built = time.perf_counter() - start
        for table in (known.chunk_table, known.document_table):
            connection.execute(f"DROP TABLE public.floor_{table}")
    return spent, built


def asked(braid: pgbraid.Braid, name: str, questions: list[str]) -> list[float]:
    """Milliseconds of each question."""
    times = []
    for question in questions:
        start = time.perf_counter()
        braid.search(question, collections=name)
        times.append((time.perf_counter() - start) * 1000)
    return times


def shown(times: list[float]) -> str:
    """Median and 95th percentile."""
    ordered = sorted(times)
    return f"p50 {statistics.median(ordered):.1f} ms, p95 {ordered[int(0.95 * (len(ordered) - 1))]:.1f} ms"


def sizes(dsn: str, table: str) -> str:
    """Bytes a chunk on disk: the table with its TOAST, and each index."""
    with psycopg.connect(dsn) as connection:
        row = connection.execute(
            f"SELECT pg_table_size('pgbraid.{table}'), (SELECT count(*) FROM pgbraid.{table})"
        ).fetchone()
        indexes = connection.execute(
            "SELECT c.relname, pg_relation_size(c.oid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            f"WHERE i.indrelid = 'pgbraid.{table}'::regclass ORDER BY 1"
        ).fetchall()
    parts = [f"table {row[0] / row[1]:.0f}"]
    parts += [f"{name.removeprefix(table + '_')} {size / row[1]:.0f}" for name, size in indexes]
    return ", ".join(parts)


def measure(dsn: str, size: int, count: int) -> None:
    """One size: load, floor, idle, busy, disk."""
    chance = random.Random(3)
    questions = [
        " ".join(f"w{int(np.exp(chance.random() * np.log(VOCABULARY)))}" for _ in range(8)) for _ in range(count)
    ]
    told = json.loads(loader(dsn, "scale", size).communicate()[0])
    spent = told["milliseconds"]["total"] / 1000
    stages = ", ".join(f"{stage} {ms / 1000:.1f}" for stage, ms in told["milliseconds"].items())
    with opened(dsn) as braid:
        copied, built = floor(dsn, braid, "scale")
        print(f"{size} chunks: {size / spent:.0f} chunks/s, peak {told['mb']} MB ({stages} s)")
        print(f"  floor: COPY {copied:.1f} s, index {built:.1f} s, ratio {(copied + built) / spent:.2f}")
        asked(braid, "scale", questions)
        idle = asked(braid, "scale", questions)
        other = loader(dsn, "scale_other", size)
        time.sleep(3)
        busy: list[float] = []
        while other.poll() is None:
            busy += asked(braid, "scale", questions[: count // 4])
        other.communicate()
        print(f"  search idle: {shown(idle)}; while another collection is loaded: {shown(busy)}, {len(busy)} questions")
        print(f"  bytes a chunk on disk: {sizes(dsn, braid.collection('scale').chunk_table)}", flush=True)
        braid.drop_collection("scale_other")
        braid.drop_collection("scale")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--load", help="only load a collection of this name, for the other process")
    given = parser.parse_args()
    if given.load:
        load(given.dsn, given.load, given.sizes[0])
        return
    for size in given.sizes:
        measure(given.dsn, size, given.questions)


if __name__ == "__main__":
    main()
