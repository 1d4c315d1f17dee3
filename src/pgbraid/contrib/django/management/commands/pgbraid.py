"""`manage.py pgbraid …`: the whole command line, on Django's own connection and in its transaction."""

from __future__ import annotations

import sys
from argparse import REMAINDER, ArgumentParser
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connections


class Command(BaseCommand):
    """Hand the words to the command line of pgbraid, which finds Django's connection lent to it."""

    help = "The command line of pgbraid on this site's database: manage.py pgbraid --help"
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """For call_command: everything behind the name belongs to pgbraid."""
        parser.add_argument("--database", default=None, help="An alias of DATABASES, if not the one PGBRAID names.")
        parser.add_argument("words", nargs=REMAINDER, metavar="…")

    def run_from_argv(self, argv: Sequence[str]) -> None:
        """As typed: --database, --settings and --pythonpath are Django's, all else is pgbraid's, --help included."""
        parser = ArgumentParser(add_help=False, allow_abbrev=False)
        for name in ("--database", "--settings", "--pythonpath"):
            parser.add_argument(name)
        known, words = parser.parse_known_args(argv[2:])
        try:
            code = _run(known.database, words)
        finally:
            connections.close_all()
        if code:
            sys.exit(code)

    def handle(self, *args: Any, **options: Any) -> None:
        """From Python: call_command("pgbraid", "search", "a question"). Raises CommandError with the exit code."""
        out, err = (getattr(stream, "_out", stream) for stream in (self.stdout, self.stderr))
        with redirect_stdout(out), redirect_stderr(err):
            code = _run(options["database"], options["words"])
        if code:
            raise CommandError(f"pgbraid {' '.join(options['words'])} ended with {code}", returncode=code)


def _run(database: str | None, words: Sequence[str]) -> int:
    """The exit code of a command."""
    from pgbraid.cli.app import app
    from pgbraid.cli.door import lending
    from pgbraid.contrib.django.conf import conf
    from pgbraid.contrib.django.connection import driver_connection, dsn_of
    from pgbraid.contrib.django.doors import braid

    alias = database or conf().database
    if alias not in connections:
        raise CommandError(f"There is no database {alias!r} in DATABASES, which has {', '.join(connections)}.")
    with lending(braid(alias), lambda: driver_connection(alias), lambda: dsn_of(alias)):
        try:
            app(list(words), prog_name="manage.py pgbraid")
        except SystemExit as ended:
            return ended.code if isinstance(ended.code, int) else int(bool(ended.code))
    return 0
