"""The page of the settings: keys, limits and defaults are read from the models that check them.

What a key is for stands here. A key without words is an error, and so are words without a key.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

from reference_text import between, code, prose, table

PROCESS = {
    "dsn": "The database. Without it the command line uses the embedded server; `DATABASE_URL` is read when "
    "`PGBRAID_DSN` is not set.",
    "server_dir": "Where the embedded server lives.",
    "pool_min": "Connections kept open.",
    "pool_max": "Connections at most, in one process.",
    "prepare_threshold": "psycopg's, for the connections of the pool.",
    "threads": "Of torch, in the whole process, once a model that needs it was loaded.",
    "rerank_cache": "Pairs of question and text whose rerank scores are kept in memory; 0 keeps none.",
    "rerank_cache_table": "Whether rerank scores are kept in the table `rerank_score` too, for other processes.",
    "connect_timeout": "Seconds to wait for a connection.",
}
EMBEDDER = {
    "kind": "`transformers`, `openai`, `use`, `hashing`, or `callable` for one that the application registers.",
    "model": "A path, `wheel:PACKAGE/folder`, a hub name; for `openai` the name that the server knows.",
    "dimensions": "0: as the model has.",
    "metric": "How vectors are compared.",
    "query_prefix": "Set before every question.",
    "document_prefix": "Set before every chunk.",
    "max_tokens": "Tokens read of a text; 0: as many as the model can.",
    "options": "Of its kind: see [embedders](../how-to/embedders.md).",
}
COLLECTION = {
    "embedder": "The name of its embedder.",
    "description": "For people.",
    "language": "`english`, `multilingual`, `zh`, …, or the name of a text search configuration.",
    "chunking": "Left out: 200 tokens, 30 of them shared, or less when the embedder reads less.",
    "index": "Its HNSW index.",
    "k1": "BM25: how soon repeating a word stops counting.",
    "b": "BM25: how much the length of a chunk counts.",
    "tenants": "Whether it keeps tenants apart, by row policies.",
}
CHUNKING = {
    "tokens": "Of a chunk at most, in the embedder's own tokens.",
    "overlap": "Tokens that neighbours share; at most half of `tokens`.",
}
INDEX = {
    "storage": "The type in the index; `halfvec` takes half the room and allows up to 4000 dimensions.",
    "m": "Links of a node.",
    "ef_construction": "Breadth while building; at least twice `m`.",
    "ef_search": "Breadth while searching. Can change in place.",
    "exact_below": "Up to so many chunks every one is compared instead. Can change in place.",
}
ROUTE = {
    "collections": "Who is asked when it matches.",
    "match": "When it matches.",
    "priority": "Of the routes that match, those with the highest count.",
    "profile": "How to retrieve then.",
    "description": "For people, and one more example.",
    "examples": "Questions that belong to it; used by the selectors `semantic` and `classifier`.",
    "enabled": "A route that is not enabled never matches.",
}
MATCH = {
    "any": "One of these must match.",
    "all": "Each of these must match.",
    "none": "None of these may match.",
}
PROFILE = {
    "top_k": "Passages wanted: 1 to 1000.",
    "candidates": "Hits that each branch gives: 1 to 100000.",
    "fusion": "How hits of several branches are added up.",
    "rrf_k": "The constant of `rrf`: 1 to 10000.",
    "evidence_weight": "Where several collections are asked: what it counts that one of them matches the words better.",
    "dense_weight": "Of the dense branches: 0 to 1000; 0 leaves them out.",
    "lexical_weight": "Of the lexical branches: 0 to 1000; 0 leaves them out.",
    "dense_threshold": "Hits below it do not take part. The score is the cosine, the inner product, or minus the "
    "distance, by the embedder's metric.",
    "lexical_threshold": "Hits below it do not take part, in BM25.",
    "rerank": "A registered name, or `maxsim:EMBEDDER`, `maxsim:MODEL`, `cross-encoder:MODEL`, `exits:MODEL`, "
    "`endpoint:URL`, with options behind a `#`.",
    "rerank_top_k": "Documents that are reranked: 1 to 1000; not more than `candidates`.",
    "rerank_reads": "What the reranker reads of a document: its best chunk, every chunk that matched, the best one "
    "with its neighbours, or the whole.",
    "rerank_top_m": "A document's score is the mean of its best so many scores: 1 to 100.",
    "rerank_overflow": "A text that is too long is left without a score, cut, or read in windows of which the best "
    "counts.",
    "rerank_blend": "Of the rerank score against the fused one: 0 to 1; none takes the reranker's own.",
    "rerank_budget_ms": "How long reranking may take; what it does not get to keeps the fused order.",
    "rerank_on_failure": "What a reranker that fails does to the search.",
    "rerank_strict": "Whether one text without a score fails the whole reranking.",
}


def settings() -> str:
    """Settings of the process, the keys of the declared file, and those of a profile."""
    from pgbraid import declared_file as file
    from pgbraid import settings as room

    sections = (
        ("An embedder: `embedders.NAME`", file.WrittenEmbedder, EMBEDDER),
        ("A collection: `collections.NAME`", file.WrittenCollection, COLLECTION),
        ("Its chunks: `collections.NAME.chunking`", file.WrittenChunking, CHUNKING),
        ("Its vector index: `collections.NAME.index`", file.WrittenIndex, INDEX),
        ("A route: `routes.NAME`", file.WrittenRoute, ROUTE),
        ("Its rules: `routes.NAME.match`", file.WrittenMatch, MATCH),
    )
    tests = ", ".join(map(code, sorted(room.FOR_TESTS)))
    return (
        "# Settings\n\nThree kinds, by who decides: the operator (settings of the process), the owner of a collection "
        "(the declared file), and whoever asks (a profile, or options of one search). How they are used is in "
        "[routes](../how-to/routes.md) and [embedders](../how-to/embedders.md).\n\n## The process\n\n"
        + prose(room.__doc__)
        + _process(room.Settings, room.PREFIX)
        + f"Read by the test suite only: {tests}.\n\n"
        + "".join(f"## {title}\n\n{_keys(model, words)}" for title, model, words in sections)
        + "## Who chooses: `selectors`\n\nA list of `rules`, `{semantic: {embedder: NAME, …}}`, `{classifier: {…}}`, "
        "in the order in which they are asked; see [routes](../how-to/routes.md). Without it the rules alone.\n\n"
        + "## What happens when no route matches: `default`\n\n`all`, `none`, `error`, or a list of collections.\n\n"
        "## Other names of collections: `aliases`\n\nAlias to collection.\n\n"
        "## A profile: `profiles.NAME`, and the options of `search`\n\n" + _profile()
    )


def _process(model: Any, prefix: str) -> str:
    shape = model.model_json_schema()["properties"]
    _same(PROCESS, shape, "PROCESS")
    rows = ((code(k), code(prefix + k.upper()), _kind(s), _default(s), PROCESS[k]) for k, s in shape.items())
    return prose(model.__doc__) + table(("setting", "environment", "takes", "default", "meaning"), rows)


def _keys(model: Any, words: Mapping[str, str]) -> str:
    shape = model.model_json_schema()
    needed = shape.get("required", [])
    _same(words, shape["properties"], model.__name__)
    rows = (
        (code(k), _kind(s), "required" if k in needed else _default(s), words[k])
        for k, s in shape["properties"].items()
    )
    return table(("key", "takes", "default", "meaning"), rows)


def _profile() -> str:
    from pgbraid.values import Profile

    hints = get_type_hints(Profile)
    fields = [f for f in dataclasses.fields(Profile) if f.name != "name"]
    _same(PROFILE, [f.name for f in fields], "Profile")
    rows = ((code(f.name), _python_kind(hints[f.name]), _shown(f.default), PROFILE[f.name]) for f in fields)
    return prose(Profile.__doc__) + table(("key", "takes", "default", "meaning"), rows)


def _same(words: Mapping[str, str], keys: Any, where: str) -> None:
    if different := set(words) ^ set(keys):
        raise SystemExit(f"scripts/reference_settings.py: {where} and its words differ in {sorted(different)}")


def _python_kind(hint: Any) -> str:
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    if kinds and all(isinstance(kind, str) for kind in kinds):
        return ", ".join(map(code, kinds))
    words = {"int": "integer", "float": "number", "str": "string", "bool": "boolean"}
    names = [words[kind.__name__] for kind in kinds or [hint]]
    return " or ".join([*names, *(["null"] if kinds else [])])


def _kind(shape: Mapping[str, Any]) -> str:
    """A JSON schema in words."""
    if "anyOf" in shape:
        return " or ".join(dict.fromkeys(_kind(one) for one in shape["anyOf"]))
    if "enum" in shape:
        return ", ".join(code(value) for value in shape["enum"])
    if "$ref" in shape:
        return "its own keys, below"
    if shape.get("type") == "array":
        return "list"
    low, high = shape.get("minimum"), shape.get("maximum")
    if "exclusiveMaximum" in shape:
        high = shape["exclusiveMaximum"] - 1
    kind = shape.get("format") or shape["type"]
    return kind if low is None else f"{kind}, {between(low, high)}"


def _default(shape: Mapping[str, Any]) -> str:
    value = shape.get("default", {})
    return "see there" if isinstance(value, dict) and value else _shown(value)


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return code(str(value).lower())
    return code(value) if value not in ("", {}) else "empty"
