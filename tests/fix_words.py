"""BM25 computed the plain way in Python, from the words as PostgreSQL reads them, and what is compared with it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import psycopg
import pytest

from pgbraid import Braid, Document

Scores = dict[tuple[str, str, int], float]


def words_of(connection: psycopg.Connection[Any], config: str, text: str) -> Counter[str]:
    """How often each word stands in a text, as PostgreSQL reads it."""
    found = connection.execute(
        "SELECT lexeme, cardinality(positions) FROM unnest(pgbraid.words_v1(%s, %s))", (config, text)
    ).fetchall()
    return Counter(dict(found))


def expected(
    dsn: str, braid: Braid, names: Sequence[str], question: str, tenant: str = "", passing: Any = None
) -> Scores:
    """BM25 of every chunk that holds a word of the question: by collection, document and ordinal."""
    scores: Scores = {}
    with psycopg.connect(dsn) as connection:
        connection.execute("SELECT set_config('pgbraid.upkeep', 'on', true)")
        chunks = []
        for name in names:
            known = braid.collection(name)
            found = connection.execute(
                f"""SELECT d.external_id, c.ordinal, c.tenant, c.metadata, c.context || E'\\n' || c.text
                    FROM pgbraid.{known.chunk_table} AS c JOIN pgbraid.{known.document_table} AS d
                    ON d.collection_id = c.collection_id AND d.tenant = c.tenant AND d.id = c.document_id""".encode()
            ).fetchall()
            mine = [(name, i, o, t, m, words_of(connection, known.text_config, text)) for i, o, t, m, text in found]
            average = sum(sum(row[-1].values()) for row in mine) / max(1, len(mine))
            chunks += [(known, average, *row) for row in mine]
        holding = Counter(word for row in chunks for word in row[-1])
        for known, average, name, document, ordinal, owner, metadata, words in chunks:
            asked = words_of(connection, known.text_config, question)
            if not asked.keys() & words.keys() or owner != tenant or (passing and not passing(metadata)):
                continue
            scores[name, document, ordinal] = sum(
                times
                * math.log(1 + (len(chunks) - holding[word] + 0.5) / (holding[word] + 0.5))
                * words[word]
                * (known.k1 + 1)
                / (words[word] + known.k1 * (1 - known.b + known.b * sum(words.values()) / average))
                for word, times in asked.items()
                if word in words
            )
    return scores


def agree(found: Scores, wanted: Scores) -> None:
    assert found.keys() == wanted.keys()
    for key, score in wanted.items():
        assert found[key] == pytest.approx(score, rel=1e-5, abs=1e-6)


def fill(braid: Braid, name: str, texts: Iterable[str], **others: Any) -> None:
    braid.ingest(name, [Document(f"d{i}", t, metadata={"n": i}) for i, t in enumerate(texts)], **others)
    braid.refresh_words(name, exact=True)
