"""Loading a collection without embedding against raw binary COPY into identical tables with the same indexes.

    python benchmarks/ingest.py --data DIR --dsn DSN [--corpus scifact] [--documents 2000] [--rounds 3]

Vectors are made before and looked up by text, so that neither side waits for a model. The floor copies the very
rows that pgbraid wrote (documents, then chunks) into tables made LIKE the partitions, INCLUDING ALL: same
constraints, generated column and indexes, the vector index among them. A second floor copies into the same tables
without the vector index and builds that at the end, as pgbraid does for an empty collection. The sides take turns;
medians are quoted. A ratio of 0.5 means that pgbraid takes twice as long as COPY.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import psycopg
from corpora import Corpus

import pgbraid
from pgbraid import CollectionSpec, Document, EmbedderRecord
from pgbraid.embed import from_callable, load

DIMENSIONS = 384
VECTOR_INDEX = """
SELECT c.relname, pg_get_indexdef(i.indexrelid)
FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS a ON a.oid = c.relam
WHERE i.indrelid = 'public.bench_chunk'::regclass AND a.amname = 'hnsw'
"""


def embedder(braid: pgbraid.Braid) -> None:
    """Vectors by feature hashing, kept by text: the first load fills the store, the measured ones only look up."""
    hashing = load(EmbedderRecord("hash", "hashing", "hashing", DIMENSIONS))
    store: dict[str, Any] = {}

    def vectors(texts: Any) -> Any:
        missing = [t for t in texts if t not in store]
        if missing:
            store.update(zip(missing, hashing.embed_documents(missing), strict=True))
        return np.stack([store[t] for t in texts])

    braid.register_embedder("stored", from_callable(vectors, DIMENSIONS, "stored"))
    if "stored" not in [e.name for e in braid.embedders()]:
        braid.add_embedder(EmbedderRecord("stored", "callable", "stored", DIMENSIONS))


def ours(braid: pgbraid.Braid, documents: list[Document]) -> tuple[float, int]:
    """Seconds without embedding, and chunks."""
    if "bench" in [c.name for c in braid.collections()]:
        braid.drop_collection("bench")
    braid.create_collection(CollectionSpec("bench", "stored", language="english"))
    start = time.perf_counter()
    report = braid.ingest("bench", documents)
    print(", ".join(f"{stage} {ms:.0f}" for stage, ms in report.milliseconds.items()), "ms")
    return time.perf_counter() - start - report.milliseconds["embed"] / 1000, report.chunks_written


def floor(dsn: str, braid: pgbraid.Braid, build: bool) -> float:
    """Seconds of COPY of the same rows; with `build` the vector index is made afterwards."""
    known = braid.collection("bench")
    columns = (
        "collection_id, tenant, document_id, ordinal, start_at, end_at, length, text_config, hash, "
        "headings, metadata, terms, context, text, embedding"
    )
    pairs = [(known.document_table, "bench_document", "*"), (known.chunk_table, "bench_chunk", columns)]
    with psycopg.connect(dsn) as connection:
        rows = []
        for source, target, listed in pairs:
            connection.execute(f"DROP TABLE IF EXISTS public.{target}")
            connection.execute(f"CREATE TABLE public.{target} (LIKE pgbraid.{source} INCLUDING ALL)")
            with connection.cursor().copy(
                f"COPY (SELECT {listed} FROM pgbraid.{source}) TO STDOUT (FORMAT BINARY)"
            ) as copy:
                rows.append([bytes(block) for block in copy])
        vector_index = connection.execute(VECTOR_INDEX).fetchone()
        if build:
            connection.execute(f"DROP INDEX public.{vector_index[0]}")
        connection.commit()
        start = time.perf_counter()
        for (_, target, listed), blocks in zip(pairs, rows, strict=True):
            into = target if listed == "*" else f"{target} ({listed})"
            with connection.cursor().copy(f"COPY public.{into} FROM STDIN (FORMAT BINARY)") as copy:
                for block in blocks:
                    copy.write(block)
        if build:
            connection.execute(vector_index[1])
        connection.commit()
        return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--corpus", default="scifact")
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    documents = list(islice(Corpus(asked.corpus, asked.data / asked.corpus).documents(), asked.documents))
    braid = pgbraid.connect(asked.dsn)
    embedder(braid)
    ours(braid, documents)
    pairs = []
    for _ in range(asked.rounds):
        spent, chunks = ours(braid, documents)
        pairs.append((spent, floor(asked.dsn, braid, build=False), floor(asked.dsn, braid, build=True)))
        mine, live, fresh = pairs[-1]
        print(f"pgbraid {mine:.2f} s   COPY {live:.2f} s ({live / mine:.2f})", end="   ")
        print(f"COPY, then the index {fresh:.2f} s ({fresh / mine:.2f})", flush=True)
    braid.drop_collection("bench")
    mine, live, fresh = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(
        f"{len(documents)} documents, {chunks} chunks: {chunks / mine:.0f} chunks/s; ratio to COPY {live / mine:.2f}, "
        f"to COPY and building the index {fresh / mine:.2f}"
    )


if __name__ == "__main__":
    main()
