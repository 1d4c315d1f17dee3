"""How a revision runs: the SQL file beside it, as it is written. Colons and percent signs in it mean nothing here.

One thing is replaced. pgvector may live in any schema, and its types must be named with it: a file writes
`/*ext*/ public.vector`, valid as it stands, and `public` becomes the schema that pgvector is in.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

EXTENSION_SCHEMA = re.compile(r"/\*ext\*/ public\b")


def run(revision_file: str, direction: Literal["up", "down"]) -> None:
    """Write the SQL of a revision into the script that Alembic is making."""
    from alembic import op

    context = op.get_context()
    text = Path(revision_file).with_suffix(f".{direction}.sql").read_text(encoding="utf-8")
    context.impl.static_output(fill(text, context.config.attributes["vector_schema"]))


def fill(text: str, vector_schema: str) -> str:
    """The SQL with the schema of pgvector written in, quoted."""
    quoted = '"' + vector_schema.replace('"', '""') + '"'
    return EXTENSION_SCHEMA.sub(lambda _: quoted, text)
