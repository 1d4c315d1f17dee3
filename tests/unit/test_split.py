"""Splitting: nothing is lost, nothing is too large, and cuts fall where a reader would put them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pgbraid.errors import BadDocument, SettingsError
from pgbraid.split import WordTokenizer, split
from pgbraid.split.pieces import PIECE, may_cut
from pgbraid.values import Chunk, Chunking, Document, Heading, Tokenizer

WORDS = WordTokenizer()


class Silent:
    """Sees no token anywhere."""

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        return []


class Bytes:
    """A token per UTF-8 byte, several of them at the same place, white space included."""

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        return [(i, i + 1) for i, char in enumerate(text) for _ in char.encode("utf-8", "surrogatepass")]


class Greedy:
    """Tokens reach over the white space before them; alone, the end of a word has more tokens than inside it."""

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        whole = [match.span() for match in re.finditer(r"\s*\w+|\s*\S|\s+", text)]
        if whole and len(text) % 3 == 0:
            return [*[(i, i + 1) for i in range(*whole[0])], *whole[1:]]
        return whole


class Unknown:
    """A word of more than 100 characters is one unknown token, as in WordPiece."""

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for match in re.finditer(r"\S+", text):
            start, end = match.span()
            found += [(start, end)] if end - start > 100 else [(i, min(i + 3, end)) for i in range(start, end, 3)]
        return found


def texts(chunks: Sequence[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


def check(doc: Document, tokenizer: Tokenizer, chunking: Chunking) -> tuple[Chunk, ...]:
    """Splits, and asserts what must hold for every document."""
    chunks = split(doc, tokenizer, chunking)
    covered = 0
    for ordinal, chunk in enumerate(chunks):
        assert chunk.ordinal == ordinal
        assert doc.text[chunk.start : chunk.end] == chunk.text
        assert chunk.text and chunk.text == chunk.text.strip()
        assert len(chunk.text) == 1 or len(tokenizer.spans(chunk.text)) <= chunking.tokens
        assert not doc.text[covered : chunk.start].strip(), "text between chunks is lost"
        assert "\n" not in chunk.context
        covered = max(covered, chunk.end)
    assert not doc.text[covered:].strip(), "the end of the text is lost"
    for one, two in pairwise(chunks):
        assert one.start < two.start and one.end < two.end
    assert chunks == split(doc, tokenizer, chunking)
    return chunks


ALPHABET = st.sampled_from(
    "ab cd\n\n\t .!?,;#-=|`*~>1。！？；，、「」中文字かなカ한글é\u0301\u0308\u200d😀👍🏽🇩🇪🇫नि\x01\u200b\xa0\u2028"
)
PHRASES = st.sampled_from(
    ["# A\n", "## B b\n", "\n\n", "- item one\n", "1. item\n", "```\n# x\n", "```\n", "| a | b |\n", "One two. Three. ",
     "今天天气很好。", "A\n===\n", "B\n---\n", "👩‍👩‍👧‍👦", "x" * 70, "e" + "\u0301" * 70, " " * 40, "word "]
)  # fmt: skip
TEXTS = st.lists(st.text(ALPHABET, max_size=12) | PHRASES | st.text(max_size=5), max_size=40).map("".join)
SIZES = st.integers(1, 30).flatmap(lambda n: st.builds(Chunking, st.just(n), st.integers(0, n - 1)))


@given(
    TEXTS,
    SIZES,
    st.sampled_from(["text", "markdown"]),
    st.sampled_from([WORDS, Silent(), Bytes(), Greedy(), Unknown()]),
)
@settings(max_examples=400, deadline=None)
@example("x" * 100_000, Chunking(20, 5), "text", WORDS)
@example("x" * 3_000, Chunking(20, 5), "markdown", Unknown())
@example("\x01" * 20_000, Chunking(20, 5), "text", Silent())
@example("e" + "\u0301" * 20_000, Chunking(20, 5), "text", WORDS)
@example("\n" * 20_000 + "a" + " " * 20_000, Chunking(20, 5), "markdown", WORDS)
@example("🇩🇪" * 500, Chunking(3, 2), "text", Bytes())
def test_every_document_is_split_without_loss(text: str, chunking: Chunking, form: str, tokenizer: Tokenizer) -> None:
    check(Document("d", text, "A", format=form), tokenizer, chunking)  # type: ignore[arg-type]


@given(TEXTS, SIZES)
@settings(max_examples=100, deadline=None)
def test_no_chunk_starts_or_ends_inside_a_visible_character(text: str, chunking: Chunking) -> None:
    visible = [0, *(i for i in range(1, len(text)) if may_cut(text, i)), len(text)]
    if max(two - one for one, two in pairwise(visible)) <= 32:  # a longer run of marks is noise, which is cut
        for chunk in check(Document("d", text), WORDS, Chunking(32 + chunking.tokens, chunking.overlap)):
            assert may_cut(text, chunk.start) or text[chunk.start - 1].isspace()


@given(st.lists(st.text(ALPHABET, min_size=1, max_size=30), min_size=1, max_size=12), SIZES)
@settings(max_examples=100, deadline=None)
def test_given_headings_are_used_and_every_section_starts_a_run(bodies: list[str], chunking: Chunking) -> None:
    starts = [sum(map(len, bodies[:i])) for i in range(len(bodies))]
    headings = tuple(Heading(1 + i % 3, f"h{i}", start) for i, start in enumerate(starts))
    check(Document("d", "".join(bodies), headings=headings), WORDS, chunking)


def test_blank_text_has_no_chunks() -> None:
    assert split(Document("d", " \n\t "), WORDS, Chunking()) == ()


@pytest.mark.parametrize("chunking", [Chunking(0, 0), Chunking(10, 10), Chunking(10, -1)])
def test_sizes_that_do_not_fit_are_refused(chunking: Chunking) -> None:
    with pytest.raises(SettingsError):
        split(Document("d", "x"), WORDS, chunking)


def test_headings_outside_the_text_are_refused() -> None:
    with pytest.raises(BadDocument):
        split(Document("d", "x", headings=(Heading(1, "h", 9),)), WORDS, Chunking())


# ── where cuts fall ────────────────────────────────────────────────────────────────────────────────────────


def test_paragraphs_are_preferred_to_lines_lines_to_sentences_and_sentences_to_words() -> None:
    def cut(text: str) -> str:
        return split(Document("d", text), WORDS, Chunking(10, 0))[0].text

    assert cut("a b c d e f\n\ng h\ni. J k l m n o") == "a b c d e f"
    assert cut("a b c d e f\ng h. I j k l m n o") == "a b c d e f"
    assert cut("a b c d e. F g h i j k l m n o") == "a b c d e."
    assert cut("a b c d-e-f-g h-i-j-k-l-m") == "a b c d-e-f-g"


def test_chinese_is_cut_after_sentences_and_closing_quotes() -> None:
    chunks = split(Document("d", "他说：「今天好。」明天再来吧，我等你。后天也行"), WORDS, Chunking(12, 0))
    assert texts(chunks) == ["他说：「今天好。」", "明天再来吧，我等你。", "后天也行"]


def test_a_small_letter_after_a_full_stop_is_no_new_sentence() -> None:
    chunks = split(Document("d", "One two three four. Five e.g. six seven eight nine ten"), WORDS, Chunking(11, 0))
    assert chunks[0].text == "One two three four."


def test_the_overlap_starts_at_a_sentence_and_is_not_larger_than_asked() -> None:
    text = " ".join(f"S{i} has five words." for i in range(40))
    chunks = check(Document("d", text), WORDS, Chunking(30, 8))
    for one, two in pairwise(chunks):
        repeated = text[two.start : one.end]
        assert re.fullmatch(r"S\d+ has five words\.", repeated)


def test_without_a_sentence_the_overlap_starts_at_a_word() -> None:
    text = " ".join(f"word-{i}" for i in range(200))
    chunks = check(Document("d", text), WORDS, Chunking(30, 8))
    assert all(two.start < one.end and text[two.start - 1] == " " for one, two in pairwise(chunks))
    assert all(len(WORDS.spans(text[two.start : one.end])) <= 8 for one, two in pairwise(chunks))


def test_sections_do_not_overlap() -> None:
    text = "# A\n\n" + "one two three. " * 20 + "\n\n# B\n\n" + "four five six. " * 20
    chunks = check(Document("d", text, format="markdown"), WORDS, Chunking(30, 10))
    first_of_b = next(chunk for chunk in chunks if chunk.headings == ("B",))
    assert first_of_b.text.startswith("# B\n\nfour")


def test_a_grapheme_is_not_cut() -> None:
    for sign in ("👩‍👩‍👧‍👦", "🇩🇪", "e\u0301\u0323", "👍🏽", "नि"):
        for chunk in check(Document("d", sign * 40), WORDS, Chunking(9, 0)):
            assert set(chunk.text.split(sign)) == {""}


def test_a_word_of_a_hundred_thousand_characters_is_cut() -> None:
    chunks = check(Document("d", "start " + "x" * 100_000 + " end"), WORDS, Chunking(50, 5))
    assert max(len(chunk.text) for chunk in chunks) <= 50 * 8 + 6
    chunks = check(Document("d", "x" * 100_000), Unknown(), Chunking(50, 5))
    assert max(len(chunk.text) for chunk in chunks) <= 50 * 8


# ── Markdown ───────────────────────────────────────────────────────────────────────────────────────────────

BODY = "Some words that fill this section. " * 6


def markdown(text: str, tokens: int = 40, title: str = "") -> tuple[Chunk, ...]:
    return check(Document("d", text, title, format="markdown"), WORDS, Chunking(tokens, 0))


def test_chunks_carry_their_heading_path_and_context() -> None:
    chunks = markdown(f"# Guide\n\n{BODY}\n## Install\n\n{BODY}\n### Linux\n\n{BODY}\n## Use\n\n{BODY}", 60, "Guide")
    assert [chunk.headings for chunk in chunks] == [(), ("Install",), ("Install", "Linux"), ("Use",)]
    assert [c.context for c in chunks] == ["Guide", "Guide > Install", "Guide > Install > Linux", "Guide > Use"]
    assert chunks[1].text.startswith("## Install\n\nSome words")


def test_a_highest_heading_that_is_not_the_title_stays_in_the_path() -> None:
    (chunk,) = markdown(f"# Guide\n\n{BODY}", 60, "Other")
    assert (chunk.headings, chunk.context) == (("Guide",), "Other > Guide")


def test_a_title_over_several_lines_makes_a_context_of_one() -> None:
    assert markdown(f"# A\n\n{BODY}", 60, "One\n two")[0].context == "One two > A"


def test_a_very_long_heading_is_shortened_in_the_context() -> None:
    (chunk,) = markdown("# " + "long " * 100 + "\n\nbody", 200)
    assert len(chunk.context) <= 200 and chunk.text.endswith("body")


def test_small_sections_are_joined_under_their_common_heading() -> None:
    text = "# FAQ\n\n" + "\n\n".join(f"## Question {i}?\n\nAnswer {i}." for i in range(30))
    chunks = markdown(text, 100)
    assert len(chunks) < 12
    assert {chunk.headings for chunk in chunks} == {("FAQ",)}
    assert all(chunk.text.startswith("#") for chunk in chunks)


def test_a_small_section_is_not_joined_with_another_chapter() -> None:
    chunks = markdown(f"# One\n\n{BODY}\n## Tail\n\nshort\n\n# Two\n\nshort too", 60)
    assert [chunk.headings for chunk in chunks] == [("One",), ("One", "Tail"), ("Two",)]


def test_a_heading_without_a_body_is_joined_with_what_follows() -> None:
    chunks = markdown(f"# One\n\n## Two\n\n{BODY * 3}", 60)
    assert chunks[0].text.startswith("# One\n\n## Two\n\nSome words")
    assert [chunk.headings for chunk in chunks] == [("One",), *[("One", "Two")] * (len(chunks) - 1)]


def test_a_fitting_table_list_or_fence_is_kept_together() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    items = "- one two three\n- four five six\n\n- seven eight nine"
    fence = "```\nx = 1\n\ny = 2\n\nz = 3\n```"
    for block in (table, items, fence):
        for words in range(1, 60):
            chunks = markdown("word " * words + f"\n\n{block}\n\nThe end of it all, at last.")
            assert any(block in chunk.text for chunk in chunks), (words, texts(chunks))


def test_a_list_that_does_not_fit_is_cut_between_items() -> None:
    text = "\n".join(f"- item {i} has\n  a second line" for i in range(30))
    assert all(re.fullmatch(r"(- item \d+ has\n  a second line\n?)+", c.text) for c in markdown(text))


def test_a_table_that_does_not_fit_is_cut_between_rows() -> None:
    text = "\n".join(f"| row {i} | value |" for i in range(30))
    assert all(re.fullmatch(r"(\| row \d+ \| value \|\n?)+", c.text) for c in markdown(text))


def test_an_overlap_does_not_push_a_table_out_of_its_chunk() -> None:
    table = "\n".join("| a | b |" for _ in range(7))
    text = "One two three four. " * 9 + f"\n\n{table}\n\nEnd."
    chunks = check(Document("d", text, format="markdown"), WORDS, Chunking(40, 15))
    assert any(table in chunk.text for chunk in chunks)


# ── the tokenizer ──────────────────────────────────────────────────────────────────────────────────────────


def test_the_word_tokenizer_gives_words_cjk_characters_and_marks() -> None:
    def tokens(text: str) -> list[str]:
        return [text[start:end] for start, end in WORDS.spans(text)]

    assert tokens("Don't use v2_x, 今天かな한글!") == ["Don", "'", "t", "use", "v2_x", ",", *"今天かな", "한글", "!"]
    assert tokens("नमस्ते cafe\u0301") == ["नमस्ते", "cafe\u0301"]
    assert tokens("abc中def") == ["abc", "中", "def"]
    assert tokens(" \n\t") == []


@given(st.text())
def test_the_word_tokenizer_sees_everything_but_white_space(text: str) -> None:
    spans = WORDS.spans(text)
    assert all(one[1] <= two[0] for one, two in pairwise(spans))
    seen = "".join(text[start:end] for start, end in spans)
    assert [c for c in seen if not c.isspace()] == [c for c in text if not c.isspace()]


def test_the_tokenizer_is_asked_for_pieces_of_bounded_size_and_bounded_total() -> None:
    asked: list[int] = []

    class Counting:
        def spans(self, text: str) -> Sequence[tuple[int, int]]:
            asked.append(len(text))
            return WORDS.spans(text)

    text = "The quick brown fox jumps. 敏捷的狐狸。\n" * 5_000
    split(Document("d", text), Counting(), Chunking(100, 20))
    assert max(asked) <= PIECE
    assert sum(asked) < 3 * len(text)
