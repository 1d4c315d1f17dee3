"""The command line: a question or an order goes in, the façade is asked, text or JSON comes out.

No decisions are made here. A module holds one group of commands; everything heavy is imported inside them.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that was typed."""
    from pgbraid.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 shows ?, and nothing breaks
    app()
