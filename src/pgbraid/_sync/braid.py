# Generated from src/pgbraid/_async/braid.py by scripts/async_to_sync.py. Change that file, not this one.

"""The façade: one object that an application holds. No SQL and no decisions here, only doors to the corridors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pgbraid._sync import catalog, decide, ingest, observe, recall, search, train, upkeep, write
from pgbraid._sync.link import Database
from pgbraid._sync.reading import Reading
from pgbraid.borrow import connection_of
from pgbraid.compute import directly
from pgbraid.measure.recall import Recalled, Sweep
from pgbraid.measure.values import Labelled, Observed
from pgbraid.models import Models
from pgbraid.settings import Settings
from pgbraid.values import (
    Collection,
    CollectionSpec,
    Decision,
    Document,
    Embedder,
    EmbedderRecord,
    IngestReport,
    Json,
    Rejected,
    Reranker,
    SearchResult,
)

if TYPE_CHECKING:
    from pgbraid._sync.maintain import Maintained
    from pgbraid.declared import Changes, Declared
    from pgbraid.explained import Explanation
    from pgbraid.findings import Finding
    from pgbraid.tally import Rehearsal


class Braid(Reading):
    """A database with collections: ask it, load into it, declare what is in it.

    Opens connections when first needed, and again after a fork. `using(connection)` gives the same braid over a
    connection of the application's, whose transaction all work then joins.
    """

    def __init__(self, settings: Settings, models: Models | None = None, database: Database | None = None) -> None:
        self.settings = settings
        self.models = models or Models(settings.threads, settings.rerank_cache)
        self._database = database or Database(settings)

    def using(self, connection: Any) -> Self:
        """This braid over a connection or session of psycopg, SQLAlchemy or Django; it is never closed or committed."""
        return type(self)(self.settings, self.models, self._database.lend(connection, connection_of))

    def search(
        self,
        question: str,
        *,
        collections: Sequence[str] | str = (),
        top_k: int | None = None,
        filter: Mapping[str, Json] | str | None = None,
        tenant: str = "",
        profile: str | None = None,
        rerank: bool | str | None = None,
        **options: Any,
    ) -> SearchResult:
        """Answer a question with whole documents.

        Without `collections` the routes decide who is asked. `rerank` is False for none, or names a reranker;
        `options` are the other settings of a profile (fusion, candidates, dense_weight, …).
        """
        settings = {**options, "top_k": top_k}
        request = decide.request(
            question,
            collections=collections,
            filter=filter,
            tenant=tenant,
            profile=profile,
            rerank=rerank,
            **settings,
        )
        return search.search(self._database, self.models, request)

    def route(self, question: str, *, collections: Sequence[str] | str = (), tenant: str = "") -> Decision:
        """Only decide: which collections would be asked, and why."""
        return decide.decide(
            self._database, self.models, decide.request(question, collections=collections, tenant=tenant)
        )

    def ingest(
        self,
        collection: str,
        documents: Iterable[Document | Rejected],
        *,
        tenant: str | None = None,
        batch_size: int | None = None,
        progress: ingest.Progress | None = None,
        on_rejected: ingest.OnRejected | None = None,
        checkpoint: str | None = None,
    ) -> IngestReport:
        """Load documents; the report says what was added, changed, left alone, cleaned and rejected.

        `checkpoint` names the load: when it was interrupted and comes again with the same documents in the same
        order, it goes on behind what was written. `on_rejected` gets each rejection with its document.
        """
        options = ingest.Options(tenant, batch_size, progress, on_rejected, checkpoint)
        return ingest.ingest(self._database, self.models, collection, documents, options)

    def rehearse(
        self, collection: str, documents: Iterable[Document | Rejected], *, tenant: str | None = None
    ) -> Rehearsal:
        """What `ingest` would do with these documents, and how long embedding would take. Writes nothing."""
        from pgbraid._sync.rehearse import rehearse

        return rehearse(self._database, self.models, collection, documents, tenant)

    def delete(self, collection: str, external_ids: Sequence[str] | str, *, tenant: str = "") -> tuple[str, ...]:
        """Remove documents and their chunks; gives the ids of those that were there."""
        with self._database.link() as link:
            known = catalog.collection(link, collection)
            return write.remove(link, known, tenant, _names(external_ids))

    def document(self, collection: str, external_id: str, *, tenant: str = "") -> dict[str, Any] | None:
        """One document with its chunks, or None."""
        with self._database.link() as link:
            return write.show(link, catalog.collection(link, collection), tenant, external_id)

    def collection(self, name: str) -> Collection:
        """The collection of that name. Raises NoSuchCollection."""
        with self._database.link() as link:
            return catalog.collection(link, name)

    def collections(self) -> tuple[Collection, ...]:
        """Every collection that this role may read."""
        with self._database.link() as link:
            return catalog.collections(link)

    def create_collection(self, spec: CollectionSpec) -> Collection:
        """Make a collection with its tables and indexes."""
        with self._database.link() as link:
            return catalog.create(link, spec)

    def alter_collection(self, name: str, **changes: Any) -> Collection:
        """Change new_name, description, ef_search or exact_below."""
        with self._database.link() as link:
            return catalog.alter(link, name, changes)

    def drop_collection(self, name: str) -> None:
        """Drop a collection with everything in it."""
        with self._database.link() as link:
            catalog.drop(link, name)

    def embedders(self) -> tuple[EmbedderRecord, ...]:
        """Every embedder of the catalogue."""
        with self._database.link() as link:
            return catalog.embedders(link)

    def add_embedder(self, record: EmbedderRecord) -> EmbedderRecord:
        """Register an embedder; what the record leaves open is read from the model."""
        described = directly(self.models.describe, record)
        with self._database.link() as link:
            return catalog.add_embedder(link, described)

    def drop_embedder(self, name: str) -> None:
        """Forget an embedder that no collection uses."""
        with self._database.link() as link:
            catalog.drop_embedder(link, name)

    def register_embedder(self, name: str, embedder: Embedder) -> None:
        """Use an object of the application's as the embedder of that name, in this process."""
        self.models.register_embedder(name, embedder)

    def register_reranker(self, name: str, reranker: Reranker) -> None:
        """Use an object of the application's where a profile names it as reranker, in this process."""
        self.models.register_reranker(name, reranker)

    def apply(self, declared: Declared | Mapping[str, Any] | Path | str, *, dry_run: bool = False) -> Changes:
        """Make the catalogue what a file declares; gives what changed, or would change."""
        from pgbraid._sync import declare

        return declare.apply(self._database, self.models, declared, dry_run=dry_run)

    def train_classifier(
        self, labelled: Sequence[Labelled] = (), *, embedder: str | None = None, balanced: bool = False
    ) -> train.Version:
        """Learn a classifier from labelled questions, or with none from the examples of the routes; store a version.

        It decides once it is activated and the chain of selectors asks it. `balanced` lets rare routes count as much.
        """
        return train.train(self._database, self.models, labelled, embedder, balanced)

    def classifiers(self) -> tuple[train.Version, ...]:
        """Every version of the classifier, the newest first."""
        return train.versions(self._database)

    def activate_classifier(self, version: int | None) -> train.Version | None:
        """Let a version of the classifier decide from now on; None goes back to the one that did before."""
        return train.back(self._database) if version is None else train.activate(self._database, version)

    def refresh_words(self, collection: str, *, exact: bool = False) -> upkeep.Refreshed:
        """Fold word counts and bring stored weights up to date; `exact` does so for the smallest change."""
        with self._database.link() as link:
            known = catalog.collection(link, collection)
            return upkeep.refresh_as_owner(link, known, 0.0 if exact else upkeep.TOLERANCE)

    def maintain(self, collection: str | None = None) -> Maintained:
        """Upkeep of one collection or of all: indexes, dead rows, statistics, words. Safe twice at once."""
        from pgbraid._sync.maintain import maintain

        return maintain(self._database, collection)

    def doctor(self, collection: str | None = None, *, load_models: bool = False) -> tuple[Finding, ...]:
        """What is not as it should be, the gravest first, each with what to do. Changes nothing."""
        from pgbraid._sync.doctor import doctor

        return doctor(self._database, self.models, collection, load_models)

    def statement(self, question: str, **arguments: Any) -> str:
        """The composed statement of a search with its values written in, ready for psql. Takes what `search` takes."""
        run, _ = search.followed(self._database, self.models, decide.request(question, **arguments))
        return run.composed.pasted() if run.composed else ""

    def explain(self, question: str, **arguments: Any) -> Explanation:
        """An answer with its statement and how PostgreSQL ran it. Takes what `search` takes."""
        from pgbraid._sync.explain import explain

        return explain(self._database, self.models, decide.request(question, **arguments))

    def observe(self, question: str, **arguments: Any) -> Observed:
        """What each branch of one collection gives, unfused, for `measure.replay`. Takes what `search` takes."""
        return observe.observe(self._database, self.models, decide.request(question, **arguments))

    def recall(self, collection: str, sweep: Sweep = Sweep()) -> Recalled:
        """Measure what the collection's vector index finds of the exact answers, and how fast, at each `ef_search`."""
        return recall.recall(self._database, collection, sweep)

    def close(self) -> None:
        """Close this process's connections; a borrowed one stays open."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _names(given: Sequence[str] | str) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
