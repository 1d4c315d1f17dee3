"""The rerankers: how well a text answers a question, read together and not as two vectors.

`load` turns a spec such as `cross-encoder:PATH` into a reranker, `score` asks one about candidates, `order` mixes its
scores with the fused ones. This room knows nothing of collections or of the database, and importing it loads no
model library.
"""

from pgbraid.rerank.cache import Known, ScoreCache
from pgbraid.rerank.functions import from_callable
from pgbraid.rerank.loading import load
from pgbraid.rerank.maxsim import maxsim
from pgbraid.rerank.ordering import order
from pgbraid.rerank.scoring import Scored, Wanted, pair_keys, score

__all__ = ["Known", "ScoreCache", "Scored", "Wanted", "from_callable", "load", "maxsim", "order", "pair_keys", "score"]
