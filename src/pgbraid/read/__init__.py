"""Reads files into documents, one at a time: JSON lines, BEIR folders, Markdown, HTML, plain text and Parquet.

`read(paths, format)` gives a `Document` for what can be read and a `Rejected` for what cannot, and goes on. Cleaning,
splitting and storing are left to other rooms.
"""

from pgbraid.read.reading import FORMATS, Reading, read

__all__ = ["FORMATS", "Reading", "read"]
