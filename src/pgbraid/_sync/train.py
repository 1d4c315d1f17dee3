# Generated from src/pgbraid/_async/train.py by scripts/async_to_sync.py. Change that file, not this one.

"""Training the classifier of questions: labelled questions in, a stored version out, activated or taken back by hand.

The model embeds and the arithmetic is done while no connection waits. How it learns is said by `pgbraid.classifier`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import numpy as np
from psycopg.types.json import Jsonb

from pgbraid import classifier
from pgbraid._sync import catalog, learn
from pgbraid._sync.link import Database, Link
from pgbraid.compute import directly
from pgbraid.db.statements import statement
from pgbraid.db.vectors import as_text
from pgbraid.errors import CatalogError, NoSuchRoute, SettingsError
from pgbraid.measure.labelled import agreement
from pgbraid.measure.values import Labelled
from pgbraid.models import Models
from pgbraid.question import clean_question
from pgbraid.selectors import text_hash
from pgbraid.values import EmbedderRecord, Json, Vectors

EXAMPLES = statement("train/examples")
ROUTES = statement("train/routes")
ADD_VERSION = statement("train/add_version")
ADD_WEIGHTS = statement("train/add_weights")
VERSIONS = statement("train/versions")
WEIGHTS = statement("train/weights")
QUESTIONS = statement("train/questions")
ACTIVATE = statement("train/activate")
STEP_BACK = statement("train/step_back")


@dataclass(frozen=True, slots=True)
class Version:
    """A version of the classifier.

    `report` has `routes`, `penalty`, `temperature`, `balanced`, and the agreement with labels of questions held out.
    Under `compared` it has the `version` that was active and the `accuracy` and `accuracy_before` of both on the
    `questions` that neither had learned from; it is null where there was no such version or no such question.
    """

    id: int
    embedder: str
    learned_at: datetime
    report: dict[str, Json]
    active: bool


def train(
    database: Database, models: Models, labelled: Sequence[Labelled], embedder: str | None, balanced: bool
) -> Version:
    """Learn from labelled questions, or with none from the examples of the routes, and store a version.

    Raises SettingsError, NoSuchRoute, NoSuchEmbedder, ModelError, MissingExtra.
    """
    with database.link() as link:
        record = _embedder(link, embedder)
        routes = [row["name"] for row in link.rows(ROUTES)]
        known = _checked(labelled or _examples(link), routes)
    vectors = _embedded(models, record, [one.question for one in known])
    labels = [one.routes for one in known]
    learned = directly(classifier.learn, vectors, labels, balanced)
    with database.link() as link, link.writing():
        compared = _compared(link, record, learned, known, vectors)
        found = asdict(agreement(learned.labels, learned.held_out, labels))
        said = {"routes": sum(map(bool, learned.labels)), "penalty": learned.penalty, "balanced": balanced}
        report = {**said, "temperature": learned.temperature, **found, "compared": compared}
        number = _write(link, record, learned, report, known)
        return _version(link, number)


def versions(database: Database) -> tuple[Version, ...]:
    """Every version of the classifier, the newest first."""
    with database.link() as link:
        return tuple(Version(**row) for row in link.rows(VERSIONS))


def activate(database: Database, number: int) -> Version:
    """Let a version decide from now on. Raises CatalogError."""
    with database.link() as link, link.writing():
        _version(link, number)
        link.rows(ACTIVATE, classifier_id=number)
        return _version(link, number)


def back(database: Database) -> Version | None:
    """Let the version decide that did before; None when there was none and no selector asks. Raises CatalogError."""
    with database.link() as link, link.writing():
        if not link.rows(STEP_BACK):
            raise CatalogError(
                "No version of the classifier was active before this one: there is nothing to go back to."
            )
        return next((Version(**row) for row in link.rows(VERSIONS) if row["active"]), None)


def _version(link: Link, number: int) -> Version:
    rows = link.rows(VERSIONS)
    found = next((row for row in rows if row["id"] == number), None)
    if found is None:
        known = ", ".join(str(row["id"]) for row in rows) or "none yet: train one"
        raise CatalogError(f"There is no version {number} of the classifier. There are: {known}.")
    return Version(**found)


def _embedder(link: Link, name: str | None) -> EmbedderRecord:
    """The one named, else that of the chain or of the newest version, else the only one there is."""
    chain = [catalog.ready(row).record for row in link.rows(catalog.SELECTORS)]
    used = [record.name for record in chain if record is not None]
    used += [row["embedder"] for row in link.rows(VERSIONS)]
    every = [record.name for record in catalog.embedders(link)]
    if name is None and not used and len(every) != 1:
        raise SettingsError(f"Say which embedder makes the vectors: {', '.join(every) or 'none is registered yet'}.")
    return catalog.embedder(link, name or [*used, *every][0])


def _examples(link: Link) -> list[Labelled]:
    """The examples of the routes; a text may be an example of several."""
    routes: dict[str, list[str]] = {}
    for row in link.rows(EXAMPLES):
        routes.setdefault(row["text"], []).append(row["route"])
    return [Labelled(text, tuple(names)) for text, names in routes.items()]


def _checked(labelled: Sequence[Labelled], routes: Sequence[str]) -> list[Labelled]:
    """The questions as they will be asked. Raises NoSuchRoute."""
    for name in sorted({name for one in labelled for name in one.routes}):
        if name not in routes:
            raise NoSuchRoute(name, routes)
    return [Labelled(clean_question(one.question)[0], one.routes) for one in labelled]


def _embedded(models: Models, record: EmbedderRecord, texts: Sequence[str]) -> Vectors:
    parts = [
        directly(learn.embedded, models, record, texts[start : start + learn.BATCH])
        for start in range(0, len(texts), learn.BATCH)
    ]
    return np.concatenate(parts) if parts else np.zeros((0, record.dimensions), dtype=np.float32)


def _compared(
    link: Link, record: EmbedderRecord, learned: classifier.Learned, known: Sequence[Labelled], vectors: Vectors
) -> dict[str, Json] | None:
    """Both on questions that the active version has not learned from, each held out when this one was asked."""
    before = next((row for row in link.rows(VERSIONS) if row["active"]), None)
    if before is None or before["embedder"] != record.name:
        return None
    seen = {bytes(row["hash"]) for row in link.rows(QUESTIONS, classifier_id=before["id"])}
    new = [i for i, one in enumerate(known) if text_hash(one.question) not in seen]
    rows = link.rows(WEIGHTS, classifier_id=before["id"])
    if not new or not rows:
        return None
    weights, biases = np.array([row["weights"] for row in rows]), np.array([row["bias"] for row in rows])
    old = classifier.probabilities(weights, biases, vectors[new])
    routes = [known[i].routes for i in new]
    return {
        "version": before["id"],
        "questions": len(new),
        "accuracy": agreement(learned.labels, learned.held_out[new], routes).accuracy,
        "accuracy_before": agreement([row["label"] for row in rows], old, routes).accuracy,
    }


def _write(
    link: Link, record: EmbedderRecord, learned: classifier.Learned, report: dict[str, Any], known: Sequence[Labelled]
) -> int:
    hashes = [text_hash(one.question) for one in known]
    rows = link.rows(ADD_VERSION, embedder_id=record.id, report=Jsonb(report), questions=hashes)
    number: int = rows[0]["id"]
    written = link.rows(
        ADD_WEIGHTS.fill(ext=link.facts.vector_schema),
        classifier_id=number,
        labels=list(learned.labels),
        biases=learned.biases.tolist(),
        vectors=[as_text(vector) for vector in learned.weights],
    )
    if len(written) < len(learned.labels):
        raise CatalogError("A route was dropped while the classifier learned about it. Train again.")
    return number
