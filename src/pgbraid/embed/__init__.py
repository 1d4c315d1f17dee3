"""The embedders: texts to vectors, by a model in this process, a server, a function, or plain hashing.

`load` turns a record of the catalogue into an embedder, `describe` fills in what only the model knows. This room knows
nothing of collections or of the database, and importing it loads no model library.
"""

from pgbraid.embed.functions import from_callable
from pgbraid.embed.loading import KINDS, describe, load
from pgbraid.embed.threads import limit_threads
from pgbraid.embed.vectors import check_vectors

__all__ = ["KINDS", "check_vectors", "describe", "from_callable", "limit_threads", "load"]
