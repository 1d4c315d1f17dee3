"""Which files are read, as what, and that one bad file or line never costs the rest."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from pgbraid.errors import SettingsError
from pgbraid.read import read
from pgbraid.values import Document, Rejected


def write(folder: Path, **files: str | bytes) -> None:
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def documents(found: Iterable[Document | Rejected]) -> list[Document]:
    found = list(found)
    assert all(isinstance(item, Document) for item in found), found
    return [item for item in found if isinstance(item, Document)]


def only_rejected(found: Iterable[Document | Rejected]) -> Rejected:
    (item,) = found
    assert isinstance(item, Rejected)
    return item


# ── which files ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_folder_is_read_recursively_and_sorted_with_known_suffixes_only(tmp_path: Path) -> None:
    write(tmp_path, b_DOT_md="b", a_DOT_txt="a", sub__c_DOT_html="<p>c", x_DOT_pdf="x", sub__deep__d_DOT_MARKDOWN="d")
    write(tmp_path, _DOT_git__e_DOT_txt="e", _DOT_f_DOT_txt="f")
    found = documents(read([tmp_path]))
    assert [doc.external_id for doc in found] == ["a.txt", "b.md", "sub/c.html", "sub/deep/d.MARKDOWN"]
    assert [doc.text for doc in found] == ["a", "b", "c", "d"]


def test_a_format_given_for_a_folder_reads_only_its_files(tmp_path: Path) -> None:
    write(tmp_path, a_DOT_md="a", b_DOT_txt="b")
    assert [doc.external_id for doc in documents(read([tmp_path], "text"))] == ["b.txt"]


def test_a_format_given_for_a_file_overrides_its_suffix(tmp_path: Path) -> None:
    write(tmp_path, notes_DOT_log="# A", data_DOT_ndjson='{"id": 1, "text": "x"}')
    (doc,) = documents(read([tmp_path / "notes.log"], "markdown"))
    assert (doc.external_id, doc.title, doc.format) == ("notes.log", "A", "markdown")
    assert documents(read([tmp_path / "data.ndjson"], "jsonl"))[0].external_id == "1"


def test_what_is_asked_wrongly_is_an_error_before_anything_is_read(tmp_path: Path) -> None:
    write(tmp_path, x_DOT_pdf="x", a_DOT_txt="a")
    with pytest.raises(SettingsError, match="does not exist"):
        read([tmp_path / "a.txt", tmp_path / "gone.txt"])
    with pytest.raises(SettingsError, match=r"\.pdf.*jsonl, beir, markdown, html, text"):
        read([tmp_path / "x.pdf"])
    with pytest.raises(SettingsError, match="format 'pdf' does not exist"):
        read([tmp_path], "pdf")
    with pytest.raises(SettingsError, match=r"corpus\.jsonl"):
        read([tmp_path], "beir")
    with pytest.raises(SettingsError, match="standard input"):
        read([Path("-")], "html")


def test_two_files_with_the_same_name_are_not_mixed_up(tmp_path: Path) -> None:
    write(tmp_path, a__x_DOT_md="one", b__x_DOT_md="two")
    first, second = read([tmp_path / "a", tmp_path / "b"])
    assert isinstance(first, Document) and first.text == "one"
    assert isinstance(second, Rejected) and second.external_id == "x.md"


def test_standard_input_is_json_lines_or_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def given(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    given(b'{"id": "a", "text": "x"}\n')
    assert documents(read([Path("-")])) == [Document("a", "x", metadata={})]
    given("héllo".encode())
    assert documents(read([Path("-")], "text")) == [Document("stdin", "héllo", "stdin")]


def test_a_link_to_a_folder_above_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path, a_DOT_txt="a")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert len(documents(read([tmp_path]))) == 1


# ── text ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_is_read_in_utf_8_and_marked_utf_16(tmp_path: Path, encoding: str) -> None:
    write(tmp_path, a_DOT_txt="今天\n".encode(encoding))
    assert documents(read([tmp_path])) == [Document("a.txt", "今天\n", "a")]


def test_bytes_that_are_no_text_are_rejected_with_their_place_and_the_rest_goes_on(tmp_path: Path) -> None:
    write(tmp_path, a_DOT_txt=b"abc\xffdef", b_DOT_txt="b", c_DOT_txt=b"\xff\xfea\x00\x00")
    first, second, third = read([tmp_path])
    assert isinstance(first, Rejected) and "at byte 3" in first.reason and first.external_id == "a.txt"
    assert isinstance(second, Document)
    assert isinstance(third, Rejected) and "at byte 4" in third.reason


# ── JSON lines ─────────────────────────────────────────────────────────────────────────────────────────────


def jsonl(tmp_path: Path, *rows: object) -> list[Document | Rejected]:
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    (tmp_path / "d.jsonl").write_bytes(b"\n".join(lines))
    return list(read([tmp_path / "d.jsonl"]))


def test_every_line_is_a_document_and_other_keys_are_metadata(tmp_path: Path) -> None:
    rows = (
        {"id": "a", "text": "x", "title": "T", "tenant": 7, "metadata": {"k": [1]}, "lang": "en"},
        {"_id": 5, "text": ""},
    )
    assert jsonl(tmp_path, *rows, {"external_id": "e", "id": "i", "text": "y", "title": None}) == [
        Document("a", "x", "T", {"k": [1], "lang": "en"}, "7"),
        Document("5", "", "", {}),
        Document("e", "y", "", {"id": "i"}),
    ]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (b"{nope", "not JSON"),
        (b'{"id": "a", "text": "\xff"}', "UTF-8 at byte 21"),
        (b'{"id": "a", "text": "x", "n": NaN}', "NaN"),
        (b'{"id": ' + b"1" * 5000 + b', "text": "x"}', "not JSON"),
        (b"[" * 100_000, "too deeply"),
        ([1], "object is needed, not list"),
        ({"text": "x"}, "no id"),
        ({"id": True, "text": "x"}, "'id' is bool"),
        ({"id": "a"}, "'text'"),
        ({"id": "a", "text": 3}, "'text' is int"),
        ({"id": "a", "text": "x", "title": []}, "'title' is list"),
        ({"id": "a", "text": "x", "metadata": "m"}, "'metadata' is str"),
        ({"id": "a", "text": "x", "metadata": {"k": 1}, "k": 2}, "'k' is given twice"),
    ],
)
def test_a_bad_line_is_rejected_with_its_place_and_the_rest_goes_on(tmp_path: Path, row: object, said: str) -> None:
    first, bad, last = jsonl(tmp_path, {"id": "1", "text": "x"}, row, {"id": "3", "text": "x"})
    assert isinstance(first, Document) and isinstance(last, Document)
    assert isinstance(bad, Rejected)
    assert bad.reason.startswith(f"{tmp_path / 'd.jsonl'}:2: ") and said in bad.reason
    assert bad.external_id == ("a" if isinstance(row, dict) and row.get("id") == "a" else f"{tmp_path / 'd.jsonl'}:2")


def test_blank_lines_and_a_byte_order_mark_are_no_lines(tmp_path: Path) -> None:
    (doc,) = jsonl(tmp_path, b'\xef\xbb\xbf{"id": "a", "text": "x"}\r', b"  ", b"")
    assert doc == Document("a", "x", metadata={})


def test_json_lines_in_utf_16_are_rejected_once(tmp_path: Path) -> None:
    assert "UTF-16" in only_rejected(jsonl(tmp_path, '{"id": 1}\n{"id": 2}'.encode("utf-16"))).reason


def test_json_lines_are_not_read_before_they_are_asked_for() -> None:
    from pgbraid.read.lines import jsonl_documents

    def lines() -> Iterable[bytes]:
        yield b'{"id": "a", "text": "x"}'
        raise AssertionError("read too far")

    assert isinstance(next(jsonl_documents(lines(), "x")), Document)


# ── BEIR ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_folder_with_a_corpus_is_beir_and_its_other_files_are_left_alone(tmp_path: Path) -> None:
    write(
        tmp_path,
        set__corpus_DOT_jsonl='{"_id": "1", "title": "T", "text": "x", "tenant": "t", "metadata": {"url": "u"}}',
    )
    write(tmp_path, set__queries_DOT_jsonl='{"_id": "q", "text": "question"}', note_DOT_txt="n")
    for path in (tmp_path / "set", tmp_path):
        assert Document("1", "x", "T", {"tenant": "t", "url": "u"}) in documents(read([path]))
    assert len(documents(read([tmp_path]))) == 2


def test_beir_rows_keep_their_parent_as_metadata(tmp_path: Path) -> None:
    write(tmp_path, corpus_DOT_jsonl='{"_id": "1", "text": "x"}\n{"_id": "2", "text": "y"}')
    write(tmp_path, parents_DOT_tsv="parent-id\tcorpus-id\np\t1\n")
    assert documents(read([tmp_path])) == [
        Document("1", "x", metadata={"parent": "p"}),
        Document("2", "y", metadata={}),
    ]


@pytest.mark.parametrize(
    "content", ["corpus-id\tparent-id\n", "parent-id\tcorpus-id\np\n", "parent-id\tcorpus-id\np\t1\nq\t1\n"]
)
def test_a_parents_file_that_cannot_be_understood_is_an_error(tmp_path: Path, content: str) -> None:
    write(tmp_path, corpus_DOT_jsonl='{"_id": "1", "text": "x"}', parents_DOT_tsv=content)
    with pytest.raises(SettingsError, match=r"parents\.tsv:\d"):
        list(read([tmp_path]))


def test_a_beir_row_without_text_has_its_title_as_text(tmp_path: Path) -> None:
    write(tmp_path, corpus_DOT_jsonl='{"_id": "1", "title": "T", "text": ""}\n{"id": "2", "text": "x"}')
    first, second = read([tmp_path], "beir")
    assert first == Document("1", "T", "T", {})
    assert isinstance(second, Rejected) and "_id" in second.reason


# ── Markdown ───────────────────────────────────────────────────────────────────────────────────────────────


def markdown(tmp_path: Path, text: str) -> Document | Rejected:
    (tmp_path / "stem.md").write_text(text, newline="")
    (found,) = read([tmp_path])
    return found


def test_front_matter_is_metadata_and_no_text(tmp_path: Path) -> None:
    text = "---\r\ntitle: T\r\ntags: [a, b]\r\n---\r\n# H\r\n\r\nbody"
    assert markdown(tmp_path, text) == Document("stem.md", "# H\n\nbody", "T", {"tags": ["a", "b"]}, format="markdown")


def test_the_title_is_the_first_highest_heading_and_else_the_stem(tmp_path: Path) -> None:
    for text, title in (("## a\n\n```\n# no\n```\n\nT *t*\n===\n\n# b", "T t"), ("## a", "stem"), ("", "stem")):
        doc = markdown(tmp_path, text)
        assert isinstance(doc, Document) and doc.title == title and doc.text == text


def test_a_rule_is_no_front_matter(tmp_path: Path) -> None:
    doc = markdown(tmp_path, "---\n\nbody")
    assert isinstance(doc, Document) and doc.text == "---\n\nbody"


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ("a: [", "line"),
        ("a: 2026-13-01", "month"),
        ("just words", "not a mapping"),
        ("a: !!python/name:os.system", "tag"),
    ],
)
def test_bad_front_matter_is_rejected(tmp_path: Path, front: str, said: str) -> None:
    found = markdown(tmp_path, f"---\n{front}\n---\nbody")
    assert isinstance(found, Rejected) and found.external_id == "stem.md" and said in found.reason


def test_empty_front_matter_is_none(tmp_path: Path) -> None:
    assert markdown(tmp_path, "---\n---\nbody") == Document("stem.md", "body", "stem", {}, format="markdown")
