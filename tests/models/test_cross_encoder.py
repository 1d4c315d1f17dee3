"""The cross-encoder, against plain forward passes of the same tiny model."""

import logging
import threading

import pytest

from pgbraid import rerank
from pgbraid.errors import ModelError, SearchError

KIND = "BertForSequenceClassification"
TEXTS = ["the cat sat on the mat", "law", "年 假 days", "the dog . the dog . the dog", "", "a b c d e f g h"]


def _load(folder):
    return rerank.load(f"cross-encoder:{folder}")


def _expected(folder, question, texts):
    """Each pair alone, by transformers as its manual has it."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        pairs = [
            tokenizer([question], [text], return_tensors="pt", truncation="only_second", max_length=32)
            for text in texts
        ]
        return [float(model(**pair).logits[0, 0]) for pair in pairs]


def test_scores_are_the_raw_logits_of_each_pair(tiny):
    folder = tiny(KIND, num_labels=1)
    scores = _load(folder).score("the cat ?", TEXTS)
    assert scores == pytest.approx(_expected(folder, "the cat ?", TEXTS), abs=1e-5)
    assert max(scores) - min(scores) > 0.01


def test_many_texts_of_many_lengths_keep_their_order(tiny):
    folder = tiny(KIND, num_labels=1)
    texts = [
        " ".join(["cat", "dog", "law"][(at + number) % 3] for at in range(1 + number * 7 % 23)) for number in range(90)
    ]
    scores = _load(folder).score("dog", texts)
    assert scores[::11] == pytest.approx(_expected(folder, "dog", texts[::11]), abs=1e-5)


def test_only_the_text_is_cut_and_it_is_counted(tiny, caplog):
    folder = tiny(KIND, num_labels=1)
    reranker, question, texts = _load(folder), "the cat sat on the mat", [" ".join(["dog"] * 60), "law"]
    with caplog.at_level(logging.WARNING, "pgbraid.embed"):
        scores = reranker.score(question, texts)
    assert scores == pytest.approx(_expected(folder, question, texts), abs=1e-5)
    assert reranker.truncated == 1 and "cut 1 of 2 texts" in caplog.text


def test_a_question_that_leaves_no_room_is_refused(tiny):
    reranker = _load(tiny(KIND, num_labels=1))
    reranker.score(" ".join(["cat"] * 21), ["law"])
    with pytest.raises(SearchError, match=r"The question has 22 tokens; .* can read 21"):
        reranker.score(" ".join(["cat"] * 22), ["law"])


def test_equal_texts_are_read_once(tiny, monkeypatch):
    from pgbraid.embed.tokens import ModelTokens

    reranker, read = _load(tiny(KIND, num_labels=1)), []
    pairs = ModelTokens.pairs
    monkeypatch.setattr(ModelTokens, "pairs", lambda self, *given: read.append(given[1]) or pairs(self, *given))
    scores = reranker.score("cat", ["law", "dog", "law"])
    assert read == [["law", "dog"]] and scores[0] == scores[2] != scores[1]


def test_a_text_cannot_close_its_half_of_the_pair(tiny):
    reranker = _load(tiny(KIND, num_labels=1))
    tokens = reranker._tokens.pairs("cat", ["law [SEP] cat"], 32)[0]
    assert sum(tokens.special) == 3


def test_a_reranker_is_loaded_once_and_named_by_its_content(tiny):
    folder = tiny(KIND, num_labels=1)
    assert _load(folder) is _load(folder)
    assert _load(folder).blend == 1.0
    other = _load(tiny(KIND, name="other", num_labels=1, initializer_range=0.4))
    assert _load(folder).identity.partition("@")[2] != other.identity.partition("@")[2]
    assert _load(folder).identity.startswith("cross-encoder:tiny@")


def test_threads_share_a_reranker(tiny):
    reranker = _load(tiny(KIND, num_labels=1))
    expected, wrong = reranker.score("cat", TEXTS), []

    def work():
        for _ in range(10):
            if reranker.score("cat", TEXTS) != pytest.approx(expected, abs=1e-5):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert wrong == []


def test_no_texts_give_no_scores(tiny):
    assert _load(tiny(KIND, num_labels=1)).score("cat", []) == []


def test_a_classifier_of_several_labels_is_refused(tiny):
    with pytest.raises(ModelError, match="num_labels 3"):
        _load(tiny(KIND, num_labels=3))


def test_an_embedder_is_not_taken_for_a_reranker(tiny):
    with pytest.raises(ModelError, match=r"lacks .* weights .* classifier"):
        _load(tiny("BertModel", num_labels=1))


def test_a_score_that_is_not_finite_is_an_error(tiny):
    import torch
    from safetensors.torch import load_file, save_file

    folder = tiny(KIND, num_labels=1)
    weights = load_file(folder / "model.safetensors")
    weights["classifier.bias"] = torch.tensor([float("nan")])
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match="score nan"):
        _load(folder).score("cat", ["law"])
