"""The cross-encoder, against plain forward passes of the same tiny model."""

import threading

import pytest

from pgbraid import rerank
from pgbraid.errors import ModelError, SearchError, SettingsError

KIND = "BertForSequenceClassification"
TEXTS = ["the cat sat on the mat", "law", "年 假 days", "the dog . the dog . the dog", "", "a b c d e f g h"]


def _load(folder, options="precision=fp32"):
    return rerank.load(f"cross-encoder:{folder}#{options}")


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


def test_only_the_text_is_cut(tiny):
    folder = tiny(KIND, num_labels=1)
    question, texts = "the cat sat on the mat", [" ".join(["dog"] * 60), "law"]
    assert _load(folder).score(question, texts) == pytest.approx(_expected(folder, question, texts), abs=1e-5)


def test_a_question_that_leaves_no_room_is_refused(tiny):
    reranker = _load(tiny(KIND, num_labels=1))
    reranker.score(" ".join(["cat"] * 21), ["law"])
    with pytest.raises(SearchError, match=r"The question has 22 tokens; .* can read 21"):
        reranker.score(" ".join(["cat"] * 22), ["law"])


def test_a_text_cannot_close_its_half_of_the_pair(tiny):
    (pair,) = _load(tiny(KIND, num_labels=1)).pairs("cat", ["law [SEP] cat"], "reject")
    assert sum(pair.rows[0].special) == 3


def test_a_pair_that_is_too_long_has_no_row_and_tells_its_tokens(tiny):
    short, long = _load(tiny(KIND, num_labels=1)).pairs("the cat", ["dog " * 27, "dog " * 28], "reject")
    assert (short.tokens, len(short.rows)) == (32, 1)
    assert (long.tokens, long.rows) == (33, ())


def test_windows_cover_a_long_text_and_each_fits(tiny):
    reranker = _load(tiny(KIND, num_labels=1))
    words = [*"abcdefgh"] * 9
    (pair,) = reranker.pairs("the cat", [" ".join(words)], "window")
    assert len(pair.rows) > 2 and all(len(row) <= 32 for row in pair.rows)
    read = [[t for t, special in zip(row.ids[4:], row.special[4:], strict=True) if not special] for row in pair.rows]
    assert read[0][-7:-1] != [] and sum(map(len, read)) > len(words)
    joined = list(read[0])
    for window in read[1:]:
        shared = next(n for n in range(len(window), -1, -1) if joined[len(joined) - n :] == window[:n])
        joined += window[shared:]
    assert joined == reranker._tokens._encoded([" ".join(words)])[0].ids[: len(joined)] and len(joined) >= 8


def test_a_smaller_budget_counts_and_a_larger_one_than_the_model_reads_is_refused(tiny):
    folder = tiny(KIND, num_labels=1)
    assert _load(folder, "precision=fp32,max_tokens=16").pairs("cat", ["dog " * 14], "reject")[0].rows == ()
    with pytest.raises(SettingsError, match="the model reads 32 tokens, max_tokens is 33"):
        _load(folder, "max_tokens=33")


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("RobertaForSequenceClassification", {"pad_token_id": 0, "max_position_embeddings": 64}),
        ("XLMRobertaForSequenceClassification", {"pad_token_id": 0, "max_position_embeddings": 64}),
        ("ModernBertForSequenceClassification", {"pad_token_id": 0, "local_attention": 8}),
        ("DebertaV2ForSequenceClassification", {"pad_token_id": 0}),
        ("ElectraForSequenceClassification", {"pad_token_id": 0}),
    ],
)
def test_every_architecture_gives_the_logits_of_single_pairs(tiny, kind, config):
    folder = tiny(kind, name=kind, num_labels=1, type_vocab_size=2, **config)
    texts = [" ".join(["cat", "dog", "law"][(i + n) % 3] for i in range(1 + n * 5 % 23)) for n in range(20)]
    scores = _load(folder).score("the cat ?", texts)
    assert scores == pytest.approx(_expected(folder, "the cat ?", texts), abs=1e-4)
    assert max(scores) - min(scores) > 1e-3


def test_a_row_scores_the_same_alone_and_among_others(tiny):
    reranker = _load(tiny(KIND, num_labels=1))
    together = reranker.score("the cat ?", TEXTS)
    assert [reranker.score("the cat ?", [text])[0] for text in TEXTS] == pytest.approx(together, abs=1e-5)


def test_bfloat16_keeps_close_and_says_how_close(tiny):
    folder = tiny(KIND, num_labels=1)
    exact, lower = _load(folder), _load(folder, "precision=bf16")
    assert (exact.precision, lower.precision) == ("fp32", "bf16")
    assert exact.drift == 0 and 0 < lower.drift <= 0.1
    assert lower.score("the cat ?", TEXTS) == pytest.approx(exact.score("the cat ?", TEXTS), abs=0.3)
    assert exact.identity != lower.identity


def test_int8_is_computed_in_eight_bits(tiny):
    folder = tiny(KIND, num_labels=1, initializer_range=0.02)
    lower = _load(folder, "precision=int8")
    assert lower.precision == "int8"
    assert lower.score("the cat ?", TEXTS) == pytest.approx(_load(folder).score("the cat ?", TEXTS), abs=0.05)


def test_a_precision_that_drifts_is_refused_when_named_and_left_when_not(tiny, monkeypatch, caplog):
    from pgbraid.rerank import precision

    monkeypatch.setattr(precision, "best_here", lambda: "bf16")
    monkeypatch.setattr(precision, "ALLOWED_DRIFT", 0.0)
    with pytest.raises(ModelError, match="drifts from its float32 scores"):
        _load(tiny(KIND, name="named", num_labels=1), "precision=bf16")
    assert _load(tiny(KIND, name="auto", num_labels=1), "precision=auto").precision == "fp32"
    assert "stays in float32" in caplog.text


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

    threads = [threading.Thread(target=work) for _ in range(8)]
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
