"""Encoders with trained exits, against a plain reference; and folders that are not laid out so."""

import json

import pytest

from pgbraid import rerank
from pgbraid.errors import ModelError, SettingsError, UnknownOption

LAYERS, WIDTHS, WIDTH = [1, 2, 4], [8, 16], 16
TEXTS = ["the cat sat on the mat", "law", "年 假 days", "the dog . the dog . the dog", "a b c d e f g h"]
KINDS = {
    "ModernBertModel": {"pad_token_id": 0, "local_attention": 8},
    "BertModel": {},
    "XLMRobertaModel": {"pad_token_id": 0, "max_position_embeddings": 64, "type_vocab_size": 2},
}


def _made(tiny, kind="ModernBertModel", said=(), leave_out=(), change=(), name="exits"):
    """A folder of an encoder with heads of random weights."""
    import torch
    from safetensors.torch import save_file

    folder = tiny(kind, name=name, num_hidden_layers=4, **KINDS[kind])
    config = {"layer_indices": LAYERS, "dim_indices": WIDTHS, "hidden_size": WIDTH, "num_layers": 4}
    config |= {"pooling_strategy": "cls", "has_final_norm": kind == "ModernBertModel"} | dict(said)
    (folder / "matryoshka_config.json").write_text(json.dumps(config))
    heads = {}
    for layer in LAYERS:
        for width in WIDTHS:
            shapes = {
                "0.weight": (width // 2, width),
                "0.bias": (width // 2,),
                "3.weight": (1, width // 2),
                "3.bias": (1,),
            }
            heads |= {f"{layer}.{width}.{part}": torch.randn(shape) for part, shape in shapes.items()}
    heads = {key: value for key, value in heads.items() if key not in leave_out} | dict(change)
    save_file(heads, folder / "classification_heads.safetensors")
    return folder


def _reference(folder, layer, width, question, texts):
    """Every layer is run; the hidden state of the one asked for, normed, is read by its head."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    head = load_file(folder / "classification_heads.safetensors")
    first, second = (torch.nn.Linear(width, width // 2), torch.nn.Linear(width // 2, 1))
    for part, module in (("0", first), ("3", second)):
        names = {name: head[f"{layer}.{width}.{part}.{name}"] for name in ("weight", "bias")}
        module.load_state_dict(names)
    found = []
    with torch.inference_mode():
        for text in texts:
            states = model(**tokenizer(question, text, return_tensors="pt"), output_hidden_states=True).hidden_states
            hidden = states[layer][:, 0]
            if hasattr(model, "final_norm") and layer < len(states) - 1:
                hidden = model.final_norm(hidden)
            found.append(float(second(torch.nn.functional.gelu(first(hidden[:, :width])))))
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("layer", "width"), [(1, 8), (2, 16), (4, 16)])
def test_an_exit_gives_the_numbers_of_the_reference(tiny, kind, layer, width):
    folder = _made(tiny, kind)
    reranker = rerank.load(f"exits:{folder}#layer={layer},dimensions={width},precision=fp32")
    assert reranker.score("the cat ?", TEXTS) == pytest.approx(
        _reference(folder, layer, width, "the cat ?", TEXTS), abs=1e-5
    )
    assert f"layer={layer},dimensions={width}" in reranker.identity


def test_the_forward_pass_stops_at_the_exit(tiny):
    folder = _made(tiny)
    for layer in LAYERS:
        model = rerank.load(f"exits:{folder}#layer={layer},precision=fp32")._model
        ran = []
        for at, one in enumerate(model.layers):
            one.register_forward_hook(lambda *_, at=at, ran=ran: ran.append(at))
        rerank.load(f"exits:{folder}#layer={layer},precision=fp32").score("cat", ["law"])
        assert ran == list(range(layer))


def test_without_a_choice_the_last_layer_is_read_at_full_width(tiny):
    assert "layer=4,dimensions=16" in rerank.load(f"exits:{_made(tiny)}#precision=fp32").identity


def test_an_exit_that_was_not_trained_is_refused_with_those_that_were(tiny):
    folder = _made(tiny)
    with pytest.raises(SettingsError, match="layer=1,dimensions=8, layer=1,dimensions=16, layer=2"):
        rerank.load(f"exits:{folder}#layer=3")
    with pytest.raises(SettingsError, match="not trained"):
        rerank.load(f"exits:{folder}#dimensions=12")


def test_an_exit_without_any_tensor_is_not_served_and_one_with_some_is_an_error(tiny):
    gone = [f"1.8.{part}" for part in ("0.weight", "0.bias", "3.weight", "3.bias")]
    folder = _made(tiny, leave_out=gone)
    with pytest.raises(SettingsError, match=r"There are: layer=1,dimensions=16"):
        rerank.load(f"exits:{folder}#layer=1,dimensions=8")
    with pytest.raises(ModelError, match=r"lacks 1\.8\.3\.bias"):
        rerank.load(f"exits:{_made(tiny, leave_out=gone[3:], name='part')}")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"hidden_size": 32}, "hidden_size is 32, the encoder has 16"),
        ({"num_layers": 6}, "num_layers is 6, the encoder has 4"),
        ({"pooling_strategy": "mean"}, "pooling_strategy is 'mean'"),
        ({"has_final_norm": False}, "has_final_norm is False"),
        ({"layer_indices": [1, 5]}, "layer_indices is a list of whole numbers from 1 to 4"),
        ({"layer_indices": []}, "layer_indices"),
        ({"dim_indices": [True]}, "dim_indices"),
        ({"dim_indices": "8"}, "dim_indices"),
        ({"representation_contract": "1"}, "representation_contract must be an object"),
        ({"representation_contract": {"pooling": "mean"}}, "representation_contract has pooling 'mean'"),
        ({"representation_contract": {"intermediate_normalization": "none"}}, "only 'final_norm' can be read"),
    ],
)
def test_a_configuration_that_does_not_fit_the_encoder_is_refused_before_it_is_loaded(tiny, said, told):
    with pytest.raises(ModelError, match=told.replace("(", r"\(")):
        rerank.load(f"exits:{_made(tiny, said=said)}")


def test_every_trained_exit_is_measured_where_none_is_named(tiny):
    from pgbraid.rerank.bench import expanded

    folder = _made(tiny)
    every = expanded([f"exits:{folder}"], [], True)
    assert len(every) == 6 and every[0] == f"exits:{folder}#layer=1,dimensions=8"
    assert expanded([f"exits:{folder}#layer=2"], ["fp32"], True) == [f"exits:{folder}#layer=2,precision=fp32"]


def test_a_head_of_another_shape_or_type_is_refused(tiny):
    import torch

    for name, tensor in (("shape", torch.zeros(1, 5)), ("type", torch.zeros(1, 4, dtype=torch.float16))):
        with pytest.raises(ModelError, match=r"1\.8\.3\.weight is"):
            rerank.load(f"exits:{_made(tiny, change={'1.8.3.weight': tensor}, name=name)}")


def test_another_architecture_or_a_missing_file_is_refused(tiny):
    folder = tiny("ElectraModel", name="electra", pad_token_id=0)
    (folder / "matryoshka_config.json").write_text("{}")
    with pytest.raises(ModelError, match="is a electra; trained exits are read of"):
        rerank.load(f"exits:{folder}")
    with pytest.raises(ModelError, match=r"matryoshka_config\.json"):
        rerank.load(f"exits:{tiny('BertModel', name='plain')}")
    headless = _made(tiny, name="headless")
    (headless / "classification_heads.safetensors").unlink()
    with pytest.raises(ModelError, match=r"classification_heads\.safetensors cannot be read"):
        rerank.load(f"exits:{headless}")


def test_an_option_that_does_not_exist_is_refused(tiny):
    with pytest.raises(UnknownOption, match="no option 'dim'"):
        rerank.load(f"exits:{_made(tiny)}#dim=8")
