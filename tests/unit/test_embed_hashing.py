"""The embedder without a model."""

import logging

import numpy as np
import pytest

from pgbraid import embed
from pgbraid.errors import EmbeddingFailed, UnknownOption
from pgbraid.values import EmbedderRecord


def _hashing(**changes) -> EmbedderRecord:
    return EmbedderRecord(**({"name": "h", "kind": "hashing", "model": "hashing", "dimensions": 0} | changes))


def _nearest(question: str, texts: list[str]) -> str:
    embedder = embed.load(_hashing())
    cosines = embedder.embed_documents(texts) @ embedder.embed_queries([question])[0]
    return texts[int(cosines.argmax())]


def test_vectors_are_float32_of_length_one():
    vectors = embed.load(_hashing()).embed_documents(["The cat sat.", "猫坐着", "!?", ""])
    assert vectors.dtype == np.float32 and vectors.shape == (4, 256)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)


def test_the_same_text_has_the_same_vector_on_every_machine():
    found = embed.load(_hashing(dimensions=8)).embed_documents(["Leave is 30 days."])[0]
    assert found.tolist() == pytest.approx(
        [
            -0.3779999911785126,
            -0.1889999955892563,
            0.3779999911785126,
            -0.5669999718666077,
            0.0,
            -0.1889999955892563,
            -0.5669999718666077,
            0.0,
        ],
        abs=1e-3,
    )


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        ("how many vacation days", "Vacation: 30 days a year.", "The printer is on the second floor."),
        ("printing", "The printer is on the second floor.", "Vacation: 30 days a year."),
        ("年假多少天", "员工每年有三十天年假。", "打印机在二楼。"),
        ("ＶＡＣＡＴＩＯＮ", "vacation", "printer"),
    ],
)
def test_a_text_that_shares_words_stems_or_pairs_is_nearer(question, near, far):
    assert _nearest(question, [far, near]) == near


def test_different_punctuation_gives_different_vectors_and_none_is_zero():
    vectors = embed.load(_hashing()).embed_documents(["!!!", "???", "…"])
    assert embed.check_vectors(vectors, 256, "it") == {}
    assert not np.allclose(vectors[0], vectors[1])


def test_a_repeated_word_counts_less_than_proportionally():
    once, often, pure = embed.load(_hashing()).embed_documents(["tax law", "tax tax tax tax law", "tax"])
    assert once @ pure < often @ pure < 0.99


def test_a_text_over_max_tokens_is_cut_and_a_warning_says_so(caplog):
    embedder = embed.load(_hashing(max_tokens=3))
    with caplog.at_level(logging.WARNING, "pgbraid.embed"):
        vectors = embedder.embed_documents(["one two three four five", "one two three", "one"])
    assert np.array_equal(vectors[0], vectors[1])
    assert [record.getMessage() for record in caplog.records] == [
        "The hashing embedder cut 1 of 3 texts, which were longer than 3 tokens"
    ]


def test_prefixes_of_the_record_are_embedded():
    plain, prefixed = embed.load(_hashing()), embed.load(_hashing(query_prefix="query: ", document_prefix="passage: "))
    assert np.array_equal(prefixed.embed_queries(["x y"]), plain.embed_documents(["query: x y"]))
    assert np.array_equal(prefixed.embed_documents(["x y"]), plain.embed_documents(["passage: x y"]))


def test_no_texts_give_no_rows():
    assert embed.load(_hashing()).embed_documents([]).shape == (0, 256)


def test_one_text_instead_of_a_list_is_refused():
    with pytest.raises(EmbeddingFailed, match="list of texts"):
        embed.load(_hashing()).embed_documents("text")


def test_an_option_is_refused_since_there_are_none():
    with pytest.raises(UnknownOption, match="'ngram'"):
        embed.load(_hashing(options={"ngram": 4}))
