"""pgbraid in a Flask application: in the session's transaction, apart, and on its command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import URL, select, text
from sqlalchemy.orm import Mapped, mapped_column

from fix_braid import HANDBOOK, documents, ids, made_of, rows
from pgbraid import Document, EmbedderRecord
from pgbraid.embed import from_callable
from pgbraid.errors import SettingsError, UnknownOption

flask = pytest.importorskip("flask", reason="needs the extra flask")
flask_sqlalchemy = pytest.importorskip("flask_sqlalchemy", reason="needs Flask-SQLAlchemy")
from pgbraid.contrib.flask import Knowledge  # noqa: E402 - needs flask

NEW = "Sabbaticals are granted after five years of service."
knowledge = Knowledge()
db = flask_sqlalchemy.SQLAlchemy()


class Page(db.Model):  # type: ignore[name-defined,misc]
    """A row of the application's own."""

    __tablename__ = "page"
    id: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str]


def uri(dsn: str) -> URL:
    parts: dict[str, Any] = conninfo_to_dict(dsn)
    query = {"host": str(parts["host"]), "port": str(parts["port"])}
    return URL.create("postgresql+psycopg", parts["user"], parts.get("password"), database=parts["dbname"], query=query)


def made_app(dsn: str, session: bool = True, **config: Any) -> Any:
    """An application as its factory makes it."""
    app = flask.Flask("shop")
    app.config.update(TESTING=True, PGBRAID=config)
    if session:
        app.config["SQLALCHEMY_DATABASE_URI"] = uri(dsn)
        db.init_app(app)
    knowledge.init_app(app)

    @app.post("/upload")
    def upload() -> Any:
        page = Page(text=flask.request.form["text"])
        db.session.add(page)
        db.session.flush()
        knowledge.braid.ingest("notes", [Document(f"page {page.id}", page.text)])
        found = ids(knowledge.braid.search(page.text))
        if "fail" in flask.request.form:
            raise ValueError("the view fails after its ingest")
        db.session.commit()
        return {"found": found}

    @app.get("/search")
    def search() -> Any:
        return {"found": ids(knowledge.braid.search(flask.request.args["q"]))}

    return app


@pytest.fixture
def app(own: str) -> Iterator[Any]:
    """An application with Flask-SQLAlchemy, a page table and the collection `notes`."""
    app = made_app(own)
    with app.app_context():
        db.create_all()
        made_of(knowledge.apart)
        knowledge.apart.ingest("notes", documents(HANDBOOK))
        yield app
        knowledge.apart.close()
        db.session.remove()
        db.engine.dispose()


def stored(dsn: str) -> set[str]:
    return {row[0] for row in rows(dsn, "SELECT external_id FROM pgbraid.document WHERE tenant = ''")}


def test_a_row_and_its_document_are_committed_together(app: Any, own: str) -> None:
    assert app.test_client().post("/upload", data={"text": NEW}).json["found"][0] == "page 1"
    assert "page 1" in stored(own) and rows(own, "SELECT text FROM page") == [(NEW,)]
    assert app.test_client().get("/search", query_string={"q": "sabbaticals"}).json["found"][0] == "page 1"


def test_a_view_that_fails_leaves_neither(app: Any, own: str) -> None:
    with pytest.raises(ValueError):
        app.test_client().post("/upload", data={"text": NEW, "fail": "1"})
    assert stored(own) == set(HANDBOOK) and rows(own, "SELECT text FROM page") == []


def test_a_search_sees_what_the_session_has_not_committed_and_apart_does_not(app: Any) -> None:
    knowledge.braid.ingest("notes", [Document("new", NEW)])
    assert "new" in ids(knowledge.braid.search("sabbaticals"))
    assert "new" not in ids(knowledge.apart.search("sabbaticals"))
    db.session.rollback()
    assert "new" not in ids(knowledge.braid.search("sabbaticals"))


def test_both_work_on_the_very_connection_of_the_session(app: Any) -> None:
    page = Page(text="x")
    db.session.add(page)
    db.session.flush()
    knowledge.braid.ingest("notes", [Document("new", NEW)])
    seen = db.session.execute(text("SELECT external_id FROM pgbraid.document WHERE external_id = 'new'")).all()
    assert seen == [("new",)]
    assert db.session.scalars(select(Page.text)).all() == ["x"]
    db.session.rollback()
    assert "new" not in ids(knowledge.apart.search("sabbaticals"))


def test_requests_give_their_connections_back(app: Any) -> None:
    client = app.test_client()
    for _ in range(20):
        assert client.get("/search", query_string={"q": "annual leave"}).json["found"][0] == "leave"
    assert db.engine.pool.checkedout() <= 1


def test_an_application_without_a_session_has_connections_of_its_own(own: str) -> None:
    app = made_app(own, session=False, DSN=own, POOL_MAX=2)
    with app.app_context():
        assert knowledge.braid is knowledge.apart and knowledge.apart.settings.pool_max == 2
        made_of(knowledge.braid)
        knowledge.braid.ingest("notes", documents(HANDBOOK))
        assert app.test_client().get("/search", query_string={"q": "annual leave"}).json["found"][0] == "leave"
        knowledge.apart.close()


def test_applications_of_one_process_have_databases_and_models_of_their_own(app: Any, another: Any) -> None:
    other = made_app("", session=False, DSN=another().settings.dsn)
    with other.app_context():
        assert knowledge.braid.collections() == ()
        assert knowledge.apart.models is not app.extensions["pgbraid"].apart.models
        knowledge.apart.close()
    assert len(knowledge.apart.collections()) == 1


def test_a_bind_of_the_session_may_be_the_database(own: str, empty_database: str) -> None:
    app = flask.Flask("shop")
    app.config.update(
        SQLALCHEMY_DATABASE_URI=uri(empty_database), SQLALCHEMY_BINDS={"wise": uri(own)}, PGBRAID={"BIND": "wise"}
    )
    two = flask_sqlalchemy.SQLAlchemy(app)
    knowledge.init_app(app)
    with app.app_context():
        made_of(knowledge.apart)
        knowledge.braid.ingest("notes", documents(HANDBOOK))
        assert stored(own) == set()
        two.session.commit()
        assert stored(own) == set(HANDBOOK)
        knowledge.apart.close()
        two.session.remove()
        for engine in two.engines.values():
            engine.dispose()


@pytest.mark.parametrize(
    ("config", "error", "said"),
    [
        ({"POOLMAX": 2}, UnknownOption, "Did you mean 'POOL_MAX'?"),
        ({"SERVER_DIR": "x"}, UnknownOption, "use DSN"),
        ({"EMBEDDERS": ["h"]}, SettingsError, "objects by name"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused(config: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match="PGBRAID") as raised:
        made_app("", session=False, **config)
    assert said in str(raised.value)


def test_a_bind_that_does_not_exist_is_refused(own: str, app: Any) -> None:
    app.extensions["pgbraid"].bind = "wise"
    with pytest.raises(SettingsError, match="BIND"):
        knowledge.braid.search("x")
    app.extensions["pgbraid"].bind = None


def test_an_application_is_registered_once_and_before_use(app: Any) -> None:
    with pytest.raises(SettingsError, match="already"):
        knowledge.init_app(app)
    with flask.Flask("bare").app_context(), pytest.raises(SettingsError, match="call init_app"):
        _ = knowledge.braid


def test_objects_of_the_application_are_used_by_name(own: str) -> None:
    embedder = from_callable(lambda texts: [[1.0, 0.0]] * len(texts), 2, "words")
    app = made_app(own, session=False, DSN=own, EMBEDDERS={"words": embedder})
    with app.app_context():
        knowledge.apart.add_embedder(EmbedderRecord("words", "callable", "words", 2))
        made_of(knowledge.apart, embedder="words")
        assert knowledge.apart.ingest("notes", documents(HANDBOOK)).added == len(HANDBOOK)
        knowledge.apart.close()


def test_the_command_line_is_that_of_pgbraid_on_this_database(app: Any) -> None:
    runner = app.test_cli_runner()
    said = runner.invoke(args=["pgbraid", "search", "annual leave", "--json"])
    assert said.exit_code == 0 and json.loads(said.stdout)["passages"][0]["external_id"] == "leave"
    assert json.loads(runner.invoke(args=["pgbraid", "schema", "check", "--json"]).stdout)["version"]
    assert runner.invoke(args=["pgbraid", "search", "x", "-c", "nots"]).exit_code == 6
    assert "Usage: flask pgbraid" in runner.invoke(args=["pgbraid", "--help"]).stdout


def test_a_command_without_a_database_says_what_to_do() -> None:
    said = made_app("", session=False).test_cli_runner().invoke(args=["pgbraid", "collection", "list"])
    assert said.exit_code != 0 and "No database was named" in str(said.exception)
