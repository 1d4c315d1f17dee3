"""Cuts documents into chunks, sized in the embedder's own tokens.

`split(doc, tokenizer, chunking)` is pure: the same input gives the same chunks. Reading files, cleaning text and
embedding are left to other rooms.
"""

from pgbraid.split.splitting import split
from pgbraid.split.tokens import WordTokenizer

__all__ = ["WordTokenizer", "split"]
