"""The embedder behind HTTP, against a real server that can be told to misbehave."""

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from fix_http import Answer, Server, serving
from pgbraid import embed
from pgbraid.errors import EmbedderMismatch, EmbeddingFailed, SettingsError, UnknownOption
from pgbraid.values import EmbedderRecord


def good(body: dict) -> Answer:
    """Two numbers a text, told in reverse order: its length and 1."""
    data = [{"index": index, "embedding": [len(text), 1]} for index, text in enumerate(body["input"])]
    return 200, {"data": data[::-1]}


def _embedder(server: Server, options: dict | None = None, **changes):
    every = {"base_url": server.url, "backoff": 0.001, "retries": 2} | (options or {})
    values = {"name": "remote", "kind": "openai", "model": "m-1", "dimensions": 2, "options": every} | changes
    return embed.load(EmbedderRecord(**values))


def test_vectors_come_back_in_the_order_of_the_texts():
    with serving(good) as server:
        vectors = _embedder(server).embed_documents(["a", "bb", "ccc"])
    assert vectors.tolist() == [[1, 1], [2, 1], [3, 1]]
    assert vectors.dtype == np.float32
    assert server.paths == ["/v1/embeddings"]
    assert server.bodies == [{"model": "m-1", "input": ["a", "bb", "ccc"], "encoding_format": "float"}]


def test_texts_are_asked_in_batches():
    with serving(good) as server:
        vectors = _embedder(server, {"batch": 2}).embed_documents(["a", "bb", "ccc", "dddd", "eeeee"])
    assert vectors[:, 0].tolist() == [1, 2, 3, 4, 5]
    assert [len(body["input"]) for body in server.bodies] == [2, 2, 1]


def test_prefixes_dimensions_and_the_key_are_sent(monkeypatch):
    monkeypatch.setenv("SOME_KEY", "sesame\n")
    with serving(good) as server:
        embedder = _embedder(server, {"api_key_env": "SOME_KEY", "dimensions": 2}, query_prefix="q: ")
        embedder.embed_queries(["x"])
    assert server.bodies[0]["input"] == ["q: x"] and server.bodies[0]["dimensions"] == 2
    assert server.headers[0]["Authorization"] == "Bearer sesame"


def test_a_missing_key_names_the_variable_and_asks_nothing(monkeypatch):
    monkeypatch.delenv("SOME_KEY", raising=False)
    with serving(good) as server, pytest.raises(SettingsError, match="SOME_KEY"):
        _embedder(server, {"api_key_env": "SOME_KEY"}).embed_documents(["a"])
    assert server.bodies == []


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(status):
    with serving(lambda body: (status, {"error": "busy"}), good) as server:
        assert _embedder(server).embed_documents(["a"]).tolist() == [[1, 1]]
    assert len(server.bodies) == 2


def test_a_server_that_stays_broken_is_given_up_with_status_and_body():
    words = "failed 3 times, last: status 500, 'the card is on fire'"
    with serving(lambda body: (500, b"the card is on fire")) as server, pytest.raises(EmbeddingFailed, match=words):
        _embedder(server).embed_documents(["a"])
    assert len(server.bodies) == 3


def test_a_refusal_is_not_tried_again():
    words = r"refused: status 400.*too long"
    with serving(lambda body: (400, {"error": "too long"})) as server, pytest.raises(EmbeddingFailed, match=words):
        _embedder(server).embed_documents(["a"])
    assert len(server.bodies) == 1


def _numbers(*rows: object) -> Callable[[dict], Answer]:
    return lambda body: (200, {"data": [{"index": index, "embedding": row} for index, row in enumerate(rows)]})


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda body: (200, b"<html>login</html>"), "no list of embeddings: status 200, '<html>login"),
        (lambda body: (200, [1, 2]), "no list of embeddings"),
        (lambda body: (200, {"data": None}), "no list of embeddings"),
        (lambda body: (200, {"data": [{"embedding": [1, 2]}, {"embedding": [1, 2]}]}), "no list of embeddings"),
        (_numbers([1, 2]), "gave 1 embeddings"),
        (_numbers([1, 2], [1, 2], [1, 2]), "gave 3 embeddings"),
        (lambda body: (200, {"data": [{"index": 0, "embedding": [1, 2]}] * 2}), r"indexes \[0\] for 2 texts"),
        (_numbers([1, 2, 3], [1, 2, 3]), r"\(2, 3\) for 2 texts, expected \(2, 2\)"),
        (_numbers([1, 2], [1]), "no array of numbers"),
        (_numbers([1, 2], "AAAA"), "no array of numbers"),
    ],
)
def test_an_answer_that_is_not_what_was_asked_for_is_refused(answer, words):
    with serving(answer) as server, pytest.raises(EmbeddingFailed, match=words):
        _embedder(server).embed_documents(["a", "b"])


def test_a_server_that_hangs_is_given_up():
    awake = threading.Event()

    def hang(body: dict) -> Answer:
        awake.wait(10)
        return good(body)

    with serving(hang) as server:
        try:
            with pytest.raises(EmbeddingFailed, match=r"failed 2 times, last: \w*Timeout"):
                _embedder(server, {"timeout": 0.05, "retries": 1}).embed_documents(["a"])
        finally:
            awake.set()


def test_a_server_that_is_not_there_is_given_up():
    with serving(good) as server:
        pass
    with pytest.raises(EmbeddingFailed, match="failed 3 times, last: ConnectError"):
        _embedder(server).embed_documents(["a"])


@pytest.mark.parametrize(
    ("header", "seconds"), [("7", 7.0), ("-1", 0.001), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.001), ("9999", 30.0)]
)
def test_a_server_that_says_when_to_come_again_is_waited_for_within_reason(monkeypatch, header, seconds):
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    with serving(lambda body: (429, {}, header), good) as server:
        _embedder(server).embed_documents(["a"])
    assert waited == [seconds]


def test_the_fingerprint_knows_host_model_and_dimensions_without_asking():
    def of(**changes):
        options = {"base_url": changes.pop("url", "https://one.example/v1")}
        values = {"name": "remote", "kind": "openai", "model": "m", "dimensions": 2, "options": options} | changes
        return embed.load(EmbedderRecord(**values)).fingerprint

    assert of() == of(name="other") == of(url="https://one.example/v1/")
    assert len({of(), of(url="https://two.example/v1"), of(model="n"), of(dimensions=3), of(query_prefix="q")}) == 5


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dimensions": 0}, "how many dimensions"),
        ({"options": {"dimensions": 3}}, "asks for 3"),
        ({"options": {"dimensions": "2"}}, "dimensions .* is '2'"),
        ({"options": {"timeout": 0}}, "timeout .* is 0"),
        ({"options": {"retries": -1}}, "retries .* is -1"),
        ({"options": {"batch": True}}, "batch .* is True"),
        ({"options": {"base_url": "ftp://x"}}, "base_url"),
        ({"options": {"base_url": "https://me:secret@x"}}, "base_url"),
        ({"options": {"api_key_env": 5}}, "api_key_env"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused(changes, words):
    record = EmbedderRecord(**({"name": "r", "kind": "openai", "model": "m", "dimensions": 2} | changes))
    with pytest.raises((SettingsError, EmbedderMismatch), match=words):
        embed.load(record)


def test_an_unknown_option_names_the_nearest():
    with pytest.raises(UnknownOption, match="Did you mean 'timeout'"):
        embed.load(EmbedderRecord("r", "openai", "m", 2, options={"timout": 3}))


def test_the_dimensions_asked_for_are_those_of_the_embedder():
    record = EmbedderRecord("r", "openai", "m", 0, options={"dimensions": 256})
    assert embed.describe(record).dimensions == 256
