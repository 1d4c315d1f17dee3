"""Tiny transformers, made with transformers' own classes and saved as folders: real loading code, random weights."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["the", "cat", "sat", "on", "mat", "dog", "law", "leave", "days", "query", "passage", "##s", "##ing"]
VOCABULARY = [*SPECIAL, *WORDS, *"abcdefgh年假天!?.:[]"]
LONGEST = 32
WIDTH = 16


def _save_tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    own = Tokenizer(models.WordPiece({word: at for at, word in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    own.normalizer = normalizers.BertNormalizer(lowercase=False)
    own.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    own.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    own.decoder = decoders.WordPiece()
    PreTrainedTokenizerFast(
        tokenizer_object=own,
        model_max_length=LONGEST,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    ).save_pretrained(folder)


@pytest.fixture
def tiny(tmp_path) -> Callable[..., Path]:
    """Save a tiny model of a class into a folder, with more JSON files beside it; give the folder."""
    torch = pytest.importorskip("torch", reason="needs the extra models")
    transformers = pytest.importorskip("transformers", reason="needs the extra models")

    def make(kind: str = "BertModel", name: str = "tiny", files: dict | None = None, **config) -> Path:
        torch.manual_seed(5)
        folder = tmp_path / name
        sizes = {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
        every = {"vocab_size": len(VOCABULARY), "max_position_embeddings": LONGEST, "initializer_range": 0.5} | sizes
        configured = getattr(transformers, kind.partition("For")[0].removesuffix("Model") + "Config")
        model = getattr(transformers, kind)(configured(**(every | config)))
        model.save_pretrained(folder)
        _save_tokenizer(folder)
        for file, content in (files or {}).items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(json.dumps(content))
        return folder

    return make
