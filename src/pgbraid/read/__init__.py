"""Reads files into documents, one at a time: JSON lines, BEIR folders, Markdown, HTML and plain text.

`read(paths, format)` gives a `Document` for what can be read and a `Rejected` for what cannot, and goes on. Cleaning,
splitting and storing are left to other rooms.
"""

from pgbraid.read.reading import FORMATS, read

__all__ = ["FORMATS", "read"]
