"""The question as it can be searched. Pure."""

from __future__ import annotations

from pgbraid.clean import clean_text
from pgbraid.errors import BadQuestion

LONGEST = 100_000


def clean_question(question: object) -> tuple[str, tuple[str, ...]]:
    """The question without what PostgreSQL cannot hold, and notes on what was removed. Raises BadQuestion."""
    if not isinstance(question, str):
        raise BadQuestion(f"A question is text, not {type(question).__name__}.")
    if len(question) > LONGEST:
        raise BadQuestion(
            f"A question has at most {LONGEST:,} characters, not {len(question):,}. Ask for a part of it."
        )
    text, notes = clean_text(question)
    text = text.strip()
    if not text:
        raise BadQuestion("The question is empty. Ask something.")
    return text, notes
