"""Judgements from files and into files: BEIR folders, TREC qrels, CSV. Says which line cannot be read."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pgbraid.errors import SettingsError
from pgbraid.measure.values import Judged

CSV_COLUMNS = ("question", "external_id", "grade")


def read_judgements(path: Path, questions: Path | None = None) -> list[Judged]:
    """Judged questions of a BEIR folder, a CSV file, or TREC qrels with a file of questions.

    A folder has queries.jsonl (`_id`, `text`, optionally `kb`, which becomes the filter) and qrels.tsv, or as BEIR has
    it qrels/test.tsv. A CSV file has the columns question, external_id, grade. Anything else is read as TREC qrels
    (question, iteration, document, grade, apart by white space), whose questions stand in `questions`, JSON lines as in
    BEIR. Raises SettingsError.
    """
    if path.is_dir():
        qrels = _qrels_of(path)
        return _joined(_questions(path / "queries.jsonl"), _graded(qrels, _beir_rows(qrels)))
    if path.suffix == ".csv":
        return _from_csv(path)
    if questions is None:
        raise SettingsError(f"{path}: TREC qrels hold no questions: name the file that does with --questions")
    return _joined(_questions(questions), _graded(path, _trec_rows(path)))


def _qrels_of(folder: Path) -> Path:
    flat = folder / "qrels.tsv"
    return flat if flat.exists() else folder / "qrels" / "test.tsv"


def write_folder(judged: Iterable[Judged], folder: Path) -> None:
    """Write queries.jsonl and qrels.tsv, as `read_judgements` reads them back.

    Only filters on `kb` have a place in that layout. Raises SettingsError for another one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (
        (folder / "queries.jsonl").open("w", encoding="utf-8") as texts,
        (folder / "qrels.tsv").open("w", encoding="utf-8") as grades,
    ):
        grades.write("query-id\tcorpus-id\tscore\n")
        for one in judged:
            if one.filter is not None and set(one.filter) != {"kb"}:
                raise SettingsError(f"Question {one.id!r} has the filter {one.filter!r}: a BEIR folder only holds kb")
            texts.write(json.dumps({"_id": one.id, "text": one.text, **(one.filter or {})}, ensure_ascii=False) + "\n")
            grades.writelines(f"{one.id}\t{document}\t{grade}\n" for document, grade in one.grades.items())


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, numbered from 1."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read as UTF-8 text: {error}") from None
    return ((number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip())


def _questions(path: Path) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for number, line in numbered_lines(path):
        try:
            row = json.loads(line)
            found[str(row["_id"])] = {"text": row["text"], "kb": row.get("kb")}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise SettingsError(f"{path}:{number}: not an object with _id and text: {line:.80}") from None
    return found


def _beir_rows(path: Path) -> Iterator[tuple[int, Sequence[str]]]:
    return ((number, line.split("\t")) for number, line in numbered_lines(path) if number > 1)


def _trec_rows(path: Path) -> Iterator[tuple[int, Sequence[str]]]:
    for number, line in numbered_lines(path):
        parts = line.split()
        yield number, (parts[0], *parts[2:])


def _graded(path: Path, rows: Iterable[tuple[int, Sequence[str]]]) -> dict[str, dict[str, int]]:
    """Grades by question and document."""
    grades: dict[str, dict[str, int]] = {}
    for number, parts in rows:
        try:
            question, document, grade = parts
            grades.setdefault(question, {})[document] = int(grade)
        except ValueError:
            raise SettingsError(f"{path}:{number}: not question, document and a whole grade: {parts}") from None
    return grades


def _joined(texts: Mapping[str, Mapping[str, Any]], grades: Mapping[str, Mapping[str, int]]) -> list[Judged]:
    unknown = [key for key in grades if key not in texts]
    if unknown:
        raise SettingsError(f"{len(unknown)} judged questions have no text, {unknown[0]!r} is the first")
    return [
        Judged(key, row["text"], grades[key], None if row["kb"] is None else {"kb": row["kb"]})
        for key, row in texts.items()
        if key in grades
    ]


def _from_csv(path: Path) -> list[Judged]:
    """The question's text is its id too."""
    rows = csv.reader(line for _, line in numbered_lines(path))
    heading = next(rows, [])
    if tuple(heading) != CSV_COLUMNS:
        raise SettingsError(f"{path}:1: the columns are {', '.join(CSV_COLUMNS)}, not {', '.join(heading)}")
    grades = _graded(path, enumerate(rows, 2))
    return [Judged(text, text, graded) for text, graded in grades.items()]
