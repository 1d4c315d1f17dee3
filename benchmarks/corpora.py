"""Judged corpora in BEIR's layout, and measures over them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import ir_measures
from ir_measures import nDCG

from pgbraid import Document


@dataclass(frozen=True, slots=True)
class Question:
    """A judged question: its filter is what its judgements are limited to."""

    id: str
    text: str
    filter: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """A folder with corpus.jsonl, queries.jsonl and qrels.tsv."""

    name: str
    folder: Path

    def documents(self) -> Iterator[Document]:
        from pgbraid.read import read

        for item in read([self.folder]):
            if isinstance(item, Document):
                yield item

    def grades(self) -> dict[str, dict[str, int]]:
        """Grades by question and document."""
        grades: dict[str, dict[str, int]] = {}
        lines = (self.folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]
        for line in lines:
            question, document, grade = line.split("\t")
            grades.setdefault(question, {})[document] = int(grade)
        return grades

    def questions(self) -> list[Question]:
        """The questions that have judgements."""
        judged = self.grades().keys()
        found = []
        for line in (self.folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row["_id"] in judged:
                condition = {"kb": row["kb"]} if "kb" in row else None
                found.append(Question(row["_id"], row["text"], condition))
        return found


def ndcg_at_10(grades: Mapping[str, Mapping[str, int]], answers: Mapping[str, Sequence[str]]) -> float:
    """nDCG@10 by ir-measures; an answer is external ids, best first."""
    wanted = {question: dict(graded) for question, graded in grades.items() if question in answers}
    run = {
        question: {document: float(len(found) - place) for place, document in enumerate(found)}
        for question, found in answers.items()
    }
    return float(ir_measures.calc_aggregate([nDCG @ 10], wanted, run)[nDCG @ 10])
