"""pgbraid in a Flask application: one object beside `app`, as Flask's extensions are used.

    knowledge = Knowledge()

    def create_app():
        app = Flask(__name__)
        db.init_app(app)
        knowledge.init_app(app)
        return app

`knowledge.braid` works in the transaction of Flask-SQLAlchemy's session when the application has one; `knowledge.apart`
has connections of its own. `flask pgbraid …` is the command line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click
from flask import Flask, current_app

from pgbraid.contrib.options import NAME, settings_in
from pgbraid.errors import SettingsError, nearest

if TYPE_CHECKING:
    from pgbraid._sync.braid import Braid

KEY = "pgbraid"
OURS = ("BIND", "EMBEDDERS", "RERANKERS")
REFUSED = {"server_dir": "DSN"}


@dataclass(slots=True)
class _State:
    """What one application has: its settings, and the braid that is made when first needed."""

    bind: str | None
    settings: Mapping[str, Any]
    embedders: Mapping[str, Any] = field(default_factory=dict)
    rerankers: Mapping[str, Any] = field(default_factory=dict)
    apart: Braid | None = None


class Knowledge:
    """The extension. It may serve several applications: each has its own database, settings and models."""

    def __init__(self, app: Flask | None = None) -> None:
        if app is not None:
            self.init_app(app)

    def init_app(self, app: Flask) -> None:
        """Read PGBRAID of the application's config and add `flask pgbraid`.

        Raises SettingsError for a second registration or a setting that cannot be used.
        """
        if KEY in app.extensions:
            raise SettingsError(f"pgbraid is registered with {app.name!r} already: call init_app once.")
        app.extensions[KEY] = _read(app.config.get(NAME, {}))
        app.cli.add_command(_command)

    @property
    def braid(self) -> Braid:
        """The braid for this request: in the transaction of Flask-SQLAlchemy's session, else the one `apart`.

        What it writes is committed by `db.session.commit()` and undone by `db.session.rollback()`.
        """
        state, database = _state(), current_app.extensions.get("sqlalchemy")
        if database is None:
            return self.apart
        return _lent(self.apart, database, state.bind)

    @property
    def apart(self) -> Braid:
        """The braid with connections of its own: every act commits by itself, and what a session holds is not seen."""
        state = _state()
        if state.apart is None:
            state.apart = _made(state)
        return state.apart


def _read(given: object) -> _State:
    settings = settings_in(given, OURS, REFUSED)
    said: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    for key in ("EMBEDDERS", "RERANKERS"):
        if not isinstance(said.get(key, {}), Mapping):
            raise SettingsError(f"{NAME}[{key!r}] gives objects by name, not {said[key]!r}.")
    return _State(said.get("BIND"), settings, said.get("EMBEDDERS", {}), said.get("RERANKERS", {}))


def _state() -> _State:
    state: _State | None = current_app.extensions.get(KEY)
    if state is None:
        raise SettingsError(f"pgbraid is not registered with {current_app.name!r}: call init_app(app) first.")
    return state


def _made(state: _State) -> Braid:
    import pgbraid

    settings = dict(state.settings)
    if (url := _url(state.bind)) is not None:
        settings.setdefault("dsn", url)
    braid = pgbraid.connect(**settings)
    for name, embedder in state.embedders.items():
        braid.register_embedder(name, embedder)
    for name, reranker in state.rerankers.items():
        braid.register_reranker(name, reranker)
    return braid


def _url(bind: str | None) -> str | None:
    """Where Flask-SQLAlchemy's engine connects to, when the application has one."""
    database = current_app.extensions.get("sqlalchemy")
    if database is None:
        if bind is not None:
            raise SettingsError(f"{NAME}['BIND'] is {bind!r}, and the application has no Flask-SQLAlchemy.")
        return None
    url: str = _engine(database, bind).url.render_as_string(hide_password=False)
    return url


def _engine(database: Any, bind: str | None) -> Any:
    if bind not in database.engines:
        raise SettingsError(f"{NAME}['BIND'] is {bind!r}. {nearest(str(bind), map(str, database.engines))}")
    return database.engines[bind]


def _lent(apart: Braid, database: Any, bind: str | None) -> Braid:
    """The braid over the connection that the session has, or takes, for its bind."""
    engine = _engine(database, bind)
    return apart.using(database.session.connection(bind_arguments={"bind": engine}))


@click.command(
    KEY,
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    help="The command line of pgbraid on this application's database.",
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def _command(context: click.Context, words: Sequence[str]) -> None:
    from flask.cli import ScriptInfo

    from pgbraid.cli.app import app
    from pgbraid.cli.door import lending

    with context.ensure_object(ScriptInfo).load_app().app_context():
        braid = Knowledge().apart
        dsn = braid.settings.dsn
        if dsn is None:
            raise SettingsError(f"No database was named. Give {NAME} a DSN, or register Flask-SQLAlchemy first.")
        try:
            with lending(braid, lambda: dsn, lambda: dsn):
                app(list(words), prog_name="flask pgbraid")
        finally:
            braid.close()
