"""The transformer embedder, against plain forward passes of the same tiny model."""

import json
import logging
import threading

import numpy as np
import pytest

from pgbraid import embed, rerank
from pgbraid.errors import EmbedderMismatch, ModelError, SettingsError
from pgbraid.values import EmbedderRecord

TEXTS = ["the cat sat", "law", "the dog sat on the mat . the cat leave s", "年 假 days ?", ""]
POOLING = {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}
MODULES = [{"path": "", "type": "sentence_transformers.models.Transformer"}, POOLING]
NORMALIZE = {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}


def _record(folder, **changes) -> EmbedderRecord:
    return EmbedderRecord(**({"name": "t", "kind": "transformers", "model": str(folder), "dimensions": 0} | changes))


def _layout(mode, *more, **files):
    return {"modules.json": [*MODULES, *more], "1_Pooling/config.json": {"pooling_mode": mode}} | files


def _hidden(folder, text, limit=32):
    """Token vectors of one text alone, the special tokens with it, by transformers as its manual has it."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    inputs = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt", truncation=True, max_length=limit)
    with torch.inference_mode():
        return AutoModel.from_pretrained(folder).eval()(**inputs).last_hidden_state[0].numpy()


def _expected(mode, hidden):
    places = np.arange(1, len(hidden) + 1)[:, None]
    return {
        "cls": hidden[0],
        "lasttoken": hidden[-1],
        "max": hidden.max(axis=0),
        "mean": hidden.mean(axis=0),
        "mean_sqrt_len_tokens": hidden.sum(axis=0) / len(hidden) ** 0.5,
        "weightedmean": (hidden * places).sum(axis=0) / places.sum(),
    }[mode]


@pytest.mark.parametrize("mode", ["cls", "lasttoken", "max", "mean", "mean_sqrt_len_tokens", "weightedmean"])
def test_each_way_of_pooling_in_a_batch_is_that_of_the_text_alone(tiny, mode):
    folder = tiny(files=_layout(mode))
    vectors = embed.load(_record(folder)).embed_documents(TEXTS)
    assert vectors.dtype == np.float32 and vectors.shape == (len(TEXTS), 16)
    for text, vector in zip(TEXTS, vectors, strict=True):
        assert vector == pytest.approx(_expected(mode, _hidden(folder, text)), abs=1e-5)


def test_several_ways_of_pooling_are_joined(tiny):
    folder = tiny(files=_layout(["cls", "mean"]))
    vector = embed.load(_record(folder)).embed_documents(["the cat"])[0]
    hidden = _hidden(folder, "the cat")
    assert vector == pytest.approx(np.concatenate([hidden[0], hidden.mean(axis=0)]), abs=1e-5)


def test_a_plain_folder_is_mean_pooling_normalised_with_a_note(tiny, caplog):
    folder = tiny()
    with caplog.at_level(logging.INFO, "pgbraid.embed"):
        vector = embed.load(_record(folder)).embed_documents(["the cat"])[0]
    mean = _hidden(folder, "the cat").mean(axis=0)
    assert vector == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)
    assert "does not say how to pool" in caplog.text


def test_a_dense_layer_is_applied_before_normalising(tiny):
    import torch
    from safetensors.torch import save_file

    config = {"in_features": 16, "out_features": 4, "activation_function": "torch.nn.modules.activation.Tanh"}
    dense = {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    folder = tiny(files=_layout("mean", dense, NORMALIZE, **{"2_Dense/config.json": config}))
    weight, bias = torch.randn(4, 16), torch.randn(4)
    save_file({"linear.weight": weight, "linear.bias": bias}, folder / "2_Dense" / "model.safetensors")
    vector = embed.load(_record(folder)).embed_documents(["the cat"])[0]
    projected = np.tanh(weight.numpy() @ _hidden(folder, "the cat").mean(axis=0) + bias.numpy())
    assert vector == pytest.approx(projected / np.linalg.norm(projected), abs=1e-5)


@pytest.mark.parametrize("size", [8, 17])
def test_a_dense_layer_that_does_not_fit_is_refused(tiny, size):
    import torch
    from safetensors.torch import save_file

    dense = {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    config = {"in_features": size, "out_features": 4}
    folder = tiny(files=_layout("mean", dense, **{"2_Dense/config.json": config}))
    save_file({"linear.weight": torch.ones(4, 8), "linear.bias": torch.ones(4)}, folder / "2_Dense/model.safetensors")
    with pytest.raises(ModelError, match="Dense"):
        embed.load(_record(folder))


def test_many_texts_of_many_lengths_come_back_in_their_order(tiny):
    embedder = embed.load(_record(tiny()))
    texts = [" ".join(["cat", "dog", "law"][at % 3] for at in range(1 + number * 7 % 29)) for number in range(150)]
    together = embedder.embed_documents(texts)
    for at in range(0, 150, 11):
        assert together[at] == pytest.approx(embedder.embed_documents([texts[at]])[0], abs=1e-5)


def test_text_that_looks_like_a_special_token_is_text(tiny):
    tokens = embed.load(_record(tiny())).tokenizer
    assert tokens.spans("a [SEP] b") == [(0, 1), (2, 3), (3, 6), (6, 7), (8, 9)]


def test_what_is_longer_is_cut_counted_and_logged(tiny, caplog):
    folder = tiny(files=_layout("mean"))
    embedder = embed.load(_record(folder))
    long = " ".join(["cat"] * 40)
    with caplog.at_level(logging.WARNING, "pgbraid.embed"):
        vectors = embedder.embed_documents([long, "cat"])
    assert embedder.max_tokens == 30
    assert embedder.truncated == 1 and "cut 1 of 2 texts" in caplog.text
    assert vectors[0] == pytest.approx(_hidden(folder, long).mean(axis=0), abs=1e-5)


def test_the_record_may_read_less_but_not_more_than_the_model(tiny):
    folder = tiny(files=_layout("mean"))
    embedder = embed.load(_record(folder, max_tokens=5))
    assert embedder.max_tokens == 5
    vector = embedder.embed_documents([" ".join(["cat"] * 9)])[0]
    assert vector == pytest.approx(_hidden(folder, "cat cat cat cat cat").mean(axis=0), abs=1e-5)
    with pytest.raises(SettingsError, match="at most 30 tokens"):
        embed.load(_record(folder, max_tokens=31))


def test_the_length_and_prefixes_that_the_model_declares_are_used(tiny):
    prompts = {"prompts": {"query": "query : ", "document": "passage : "}}
    files = _layout("mean") | {"sentence_bert_config.json": {"max_seq_length": 10}}
    folder = tiny(files=files | {"config_sentence_transformers.json": prompts})
    embedder = embed.load(_record(folder))
    assert embedder.max_tokens == 10 - 2 - 2
    assert embedder.embed_queries(["cat"])[0] == pytest.approx(_hidden(folder, "query : cat").mean(axis=0), abs=1e-5)
    expected = _hidden(folder, "passage : cat").mean(axis=0)
    assert embedder.embed_documents(["cat"])[0] == pytest.approx(expected, abs=1e-5)


def test_prefixes_of_the_record_come_before_those_of_the_model(tiny):
    prompts = {"prompts": {"query": "query : ", "document": "passage : "}}
    folder = tiny(files=_layout("mean") | {"config_sentence_transformers.json": prompts})
    embedder = embed.load(_record(folder, query_prefix="the "))
    assert (embedder.query_prefix, embedder.document_prefix) == ("the ", "")


def test_a_prompt_that_is_left_out_of_pooling_is_refused(tiny):
    files = _layout("mean") | {"1_Pooling/config.json": {"pooling_mode": "mean", "include_prompt": False}}
    folder = tiny(files=files)
    embed.load(_record(folder))
    with pytest.raises(ModelError, match="include_prompt"):
        embed.load(_record(folder, query_prefix="query : "))


def test_lower_case_is_honoured_and_places_stay_true(tiny):
    folder = tiny(files=_layout("mean") | {"sentence_bert_config.json": {"do_lower_case": True}})
    embedder = embed.load(_record(folder))
    assert np.array_equal(embedder.embed_documents(["The CAT"]), embedder.embed_documents(["the cat"]))
    assert embedder.tokenizer.spans("İ CAT") == [(0, 1), (2, 5)]


def test_spans_are_the_places_of_the_tokens(tiny):
    text = "  the cats\n年假!"
    spans = embed.load(_record(tiny())).tokenizer.spans(text)
    assert [text[start:end] for start, end in spans] == ["the", "cat", "s", "年", "假", "!"]


def test_describing_is_stable_and_loads_once(tiny):
    record = _record(tiny())
    described = embed.describe(record)
    assert (described.dimensions, described.max_tokens) == (16, 30)
    assert embed.describe(described) == described
    assert embed.load(described) is embed.load(record)


def test_the_fingerprint_changes_with_weights_pooling_prefixes_and_length(tiny):
    records = [
        _record(tiny(name="a", files=_layout("mean"))),
        _record(tiny(name="b", files=_layout("cls"))),
        _record(tiny(name="c", files=_layout("mean", NORMALIZE))),
        _record(tiny(name="d", files=_layout("mean"), initializer_range=0.4)),
        _record(tiny(name="e", files=_layout("mean"), hidden_act="relu")),
        _record(tiny(name="a", files=_layout("mean")), query_prefix="query : "),
        _record(tiny(name="a", files=_layout("mean")), max_tokens=9),
    ]
    assert len({embed.load(record).fingerprint for record in records}) == len(records)
    copy = _record(tiny(name="elsewhere", files=_layout("mean")))
    assert embed.load(copy).fingerprint == embed.load(records[0]).fingerprint


def test_another_model_than_the_catalogue_has_is_a_mismatch(tiny):
    described = embed.describe(_record(tiny(name="before")))
    other = tiny(name="after", initializer_range=0.4)
    with pytest.raises(EmbedderMismatch, match="another than the one"):
        embed.load(EmbedderRecord("t", "transformers", str(other), 16, fingerprint=described.fingerprint))
    with pytest.raises(EmbedderMismatch, match="8 dimensions"):
        embed.load(_record(other, dimensions=8))


def test_threads_share_an_embedder(tiny):
    embedder = embed.load(_record(tiny()))
    expected = embedder.embed_documents(TEXTS)
    wrong, together = [], threading.Barrier(4)

    def work():
        together.wait()
        for _ in range(10):
            if not np.allclose(embedder.embed_documents(TEXTS), expected, atol=1e-5):
                wrong.append("vectors")
            if embedder.tokenizer.spans("the cat") != [(0, 3), (4, 7)]:
                wrong.append("spans")

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert wrong == []


def test_token_vectors_are_those_of_the_texts_tokens_alone(tiny):
    folder = tiny()
    found = embed.load(_record(folder, query_prefix="query : ")).token_vectors(["the cats sat", "", "law"])
    assert [one.shape for one in found] == [(4, 16), (0, 16), (1, 16)]
    hidden = _hidden(folder, "the cats sat")[1:-1]
    assert found[0] == pytest.approx(hidden / np.linalg.norm(hidden, axis=1, keepdims=True), abs=1e-5)


def test_maxsim_by_its_spec_prefers_the_text_with_the_same_words(tiny):
    reranker = rerank.load(f"maxsim:{tiny()}")
    scores = reranker.score("the cat", ["law . days", "the cat"])
    assert scores[1] > scores[0] and scores[1] <= 1.0 + 1e-5
    assert reranker.identity.startswith("maxsim:transformers:")


def test_maxsim_reads_a_long_text_in_windows_of_what_its_embedder_reads(tiny, caplog):
    folder = tiny()
    reranker = rerank.maxsim(embed.load(_record(folder, max_tokens=8)))
    text = "law . " * 20 + "the cats sat"
    scores = {}
    for overflow in ("reject", "truncate", "window"):
        found = rerank.score(reranker, "the cats sat", [[text]], rerank.Wanted(overflow), rerank.ScoreCache(9))
        scores[overflow] = found.scores[0]
        assert (found.over or found.refused).keys() == {text}
    assert scores["reject"] is None and scores["window"] >= scores["truncate"]
    assert found.over[text] == 44 and "cut" not in caplog.text  # the embedder was never given more than it reads


def test_no_texts_give_no_rows(tiny):
    assert embed.load(_record(tiny())).embed_documents([]).shape == (0, 16)


def test_a_hub_name_is_read_from_the_hubs_cache(tiny, tmp_path, monkeypatch):
    from huggingface_hub import constants

    commit = "0" * 40
    cached = tmp_path / "hub" / "models--some--embedder"
    (cached / "refs").mkdir(parents=True)
    (cached / "refs" / "main").write_text(commit)
    (cached / "snapshots").mkdir()
    folder = tiny(files=_layout("mean"))
    expected = embed.load(_record(folder)).embed_documents(["the cat"])
    folder.rename(cached / "snapshots" / commit)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)
    assert np.array_equal(embed.load(_record("some/embedder")).embed_documents(["the cat"]), expected)
    with pytest.raises(ModelError, match="cannot be had from the hub"):
        embed.load(_record("some/other"))


def test_a_model_without_its_weights_is_refused(tiny):
    folder = tiny()
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="safetensors"):
        embed.load(_record(folder))


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_broken_file_is_an_error_that_names_the_folder(tiny, name):
    folder = tiny()
    (folder / name).write_text("{broken")
    with pytest.raises(ModelError, match="tiny"):
        embed.load(_record(folder))


def test_weights_that_are_missing_are_not_made_up(tiny):
    from safetensors.torch import load_file, save_file

    folder = tiny()
    weights = load_file(folder / "model.safetensors")
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"encoder\.layer\.1\.output\.dense\.weight"):
        embed.load(_record(folder))


def test_a_text_without_any_token_gives_a_vector_that_is_rejected_alone(tiny):
    folder = tiny()
    saved = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps(saved | {"post_processor": None}))
    vectors = embed.load(_record(folder)).embed_documents(["", "the cat"])
    assert list(embed.check_vectors(vectors, 16, "it")) == [0]


def test_batches_hold_like_lengths_within_the_budget_and_every_row_once(tiny):
    tiny()  # skips where torch is missing
    from pgbraid.embed.batches import plan

    lengths = [5, 1, 9, 100, 3, 9, 2, 40]
    batches = list(plan(lengths, budget=20, most=3))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    assert batches[:3] == [[3], [7], [2, 5]]
    assert all(len(batch) == 1 or len(batch) * max(lengths[at] for at in batch) <= 20 for batch in batches)
    assert max(map(len, batches)) <= 3
