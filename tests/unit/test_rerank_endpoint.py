"""The reranker behind HTTP, against a real server that can be told to misbehave."""

import time

import pytest

from fix_http import Answer, serving
from pgbraid import rerank
from pgbraid.errors import ModelError, SettingsError, UnknownOption


def cohere(body: dict) -> Answer:
    """The length of each text, told in reverse order."""
    rows = [{"index": i, "relevance_score": len(text)} for i, text in enumerate(body["documents"])]
    return 200, {"results": rows[::-1]}


def tei(body: dict) -> Answer:
    return 200, [{"index": i, "score": len(text) / 2} for i, text in enumerate(body["texts"])][::-1]


def _at(server, options="retries=1"):
    return rerank.load(f"endpoint:{server.url}/rerank#{options}")


def test_scores_come_in_the_order_of_the_texts():
    with serving(cohere) as server:
        assert _at(server, "model=m").score("question", ["four", "a", "four"]) == [4.0, 1.0, 4.0]
    assert server.paths == ["/v1/rerank"]
    assert server.bodies == [{"model": "m", "query": "question", "documents": ["four", "a", "four"], "top_n": 3}]


def test_the_other_shape_is_asked_in_its_own_words():
    with serving(tei) as server:
        assert _at(server, "shape=tei").score("q", ["four", "a"]) == [2.0, 0.5]
    assert server.bodies == [{"query": "q", "texts": ["four", "a"], "raw_scores": True, "truncate": True}]


def test_no_texts_ask_nobody():
    with serving(cohere) as server:
        assert _at(server).score("q", []) == [] and server.bodies == []


def test_a_busy_server_is_asked_again():
    with serving(lambda _: (503, "busy"), cohere) as server:
        assert _at(server).score("q", ["ab"]) == [2.0] and len(server.bodies) == 2


def test_a_server_that_stays_busy_is_an_error_and_one_that_refuses_is_asked_once():
    with serving(lambda _: (429, "later")) as server:
        with pytest.raises(ModelError, match="status 429"):
            _at(server).score("q", ["ab"])
        assert len(server.bodies) == 2
    with serving(lambda _: (400, "too many texts")) as server:
        with pytest.raises(ModelError, match=r"status 400, .*too many texts"):
            _at(server).score("q", ["ab"])
        assert len(server.bodies) == 1


def test_a_server_that_hangs_or_is_not_there_is_an_error():
    with serving(lambda _: time.sleep(0.4) or (200, {})) as server, pytest.raises(ModelError, match="Timeout"):
        _at(server, "timeout_ms=50,retries=0").score("q", ["ab"])
    with pytest.raises(ModelError, match="ConnectError"):
        rerank.load("endpoint:http://127.0.0.1:1/rerank#retries=0").score("q", ["ab"])


@pytest.mark.parametrize(
    "content",
    [
        b"prose",
        b"\xff\xfe",
        {},
        [],
        {"results": None},
        {"results": []},
        {"results": [{"index": 0, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 0, "relevance_score": 2}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 2, "relevance_score": 2}]},
        {"results": [{"index": "0", "relevance_score": 1}, {"index": 1, "relevance_score": 2}]},
        {"results": [{"index": True, "relevance_score": 1}, {"index": 0, "relevance_score": 2}]},
        {"results": [{"index": 0, "relevance_score": "high"}, {"index": 1, "relevance_score": 2}]},
        {"results": [{"index": 0, "relevance_score": None}, {"index": 1, "relevance_score": 2}]},
        b'{"results": [{"index": 0, "relevance_score": NaN}, {"index": 1, "relevance_score": 2}]}',
        b'{"results": [{"index": 0, "relevance_score": 1e999}, {"index": 1, "relevance_score": 2}]}',
    ],
)
def test_an_answer_that_is_no_list_of_scores_is_an_error(content):
    with serving(lambda _: (200, content)) as server, pytest.raises(ModelError, match="The rerank server at"):
        _at(server).score("q", ["a", "b"])


def test_an_answer_without_end_is_not_read_to_it():
    with serving(lambda _: (200, b" " * 5_000_000)) as server, pytest.raises(ModelError, match="more than 4194304"):
        _at(server).score("q", ["a"])


def test_the_key_comes_from_the_environment_and_is_needed(monkeypatch):
    with serving(cohere) as server:
        asked = _at(server, "api_key_env=RERANK_KEY")
        with pytest.raises(SettingsError, match="set the variable RERANK_KEY"):
            asked.score("q", ["a"])
        monkeypatch.setenv("RERANK_KEY", " secret ")
        asked.score("q", ["a"])
    assert server.headers[0]["Authorization"] == "Bearer secret" and "secret" not in repr(asked)


@pytest.mark.parametrize("url", ["localhost/rerank", "ftp://x/rerank", "http://", "http://me:pw@host/rerank"])
def test_a_url_that_cannot_be_asked_is_refused(url):
    with pytest.raises(SettingsError, match="an endpoint is http"):
        rerank.load(f"endpoint:{url}")


def test_options_are_honoured_or_refused():
    for option in (
        "shape=jina",
        "timeout_ms=0",
        "timeout_ms=1.5",
        "retries=-1",
        "shape",
        "=tei",
        "shape=tei,shape=tei",
    ):
        with pytest.raises(SettingsError):
            rerank.load(f"endpoint:http://localhost/rerank#{option}")
    with pytest.raises(UnknownOption, match="Did you mean 'model'"):
        rerank.load("endpoint:http://localhost/rerank#modell=x")
