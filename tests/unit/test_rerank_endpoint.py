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
    assert server.bodies == [{"query": "q", "texts": ["four", "a"], "raw_scores": True, "truncate": False}]


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


def _too_long(body: dict) -> Answer:
    """A server that reads five characters of a text."""
    return (413, "input too long") if any(len(text) > 5 for text in body["documents"]) else cohere(body)


def test_a_text_that_the_server_does_not_take_fails_alone():
    texts = [["four"], ["far too long"], ["a"], ["three"], ["also too long"]]
    with serving(_too_long) as server:
        found = rerank.score(_at(server), "q", texts, rerank.Wanted(), rerank.ScoreCache(9))
    assert found.scores == (4.0, None, 1.0, 5.0, None)
    assert found.refused.keys() == {"far too long", "also too long"}
    assert all("status 413" in reason and "input too long" in reason for reason in found.refused.values())


@pytest.mark.parametrize(("overflow", "score"), [("truncate", 5.0), ("window", 5.0)])
def test_with_a_limit_in_characters_the_text_is_cut_before_it_is_sent(overflow, score):
    with serving(_too_long) as server:
        wanted = rerank.Wanted(overflow)
        found = rerank.score(_at(server, "max_chars=5"), "q", [["far too long"]], wanted, rerank.ScoreCache(9))
    sent = [text for body in server.bodies for text in body["documents"]]
    assert found.scores == (score,) and found.over == {"far too long": 12} and found.unit == "characters"
    assert sent == (["far t"] if overflow == "truncate" else ["far t", "too l", "long"])


def test_a_text_above_the_limit_is_not_sent_at_all_when_it_may_not_be_cut():
    with serving(_too_long) as server:
        found = rerank.score(
            _at(server, "max_chars=5"), "q", [["far too long"], ["a"]], rerank.Wanted(), rerank.ScoreCache(9)
        )
    assert found.refused == {"far too long": "a text has 12 characters, the reranker reads 5"}
    assert [body["documents"] for body in server.bodies] == [["a"]]
