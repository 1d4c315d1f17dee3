"""From passages to what a language model reads: chosen, without repetition, within a budget, cited, fenced as data.

    context = pack(result, tokens=2000)
    chat = inject(context, [{"role": "user", "content": question}])
    told = check(answer, context)

Pure: asks no database and no model. Which passages there are, and in what order, is the search's doing.
"""

from pgbraid.context.budget import Count, estimate
from pgbraid.context.citations import Citations, check
from pgbraid.context.fence import told
from pgbraid.context.messages import inject
from pgbraid.context.packing import pack
from pgbraid.context.pieces import Context, Source

__all__ = ["Citations", "Context", "Count", "Source", "check", "estimate", "inject", "pack", "told"]
