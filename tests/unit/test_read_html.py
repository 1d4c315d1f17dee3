"""HTML: what a reader sees, in blocks, with headings where they stand, however broken the page is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgbraid.clean import clean_document
from pgbraid.read.html import html_document
from pgbraid.values import Document


def page(source: str | bytes) -> Document:
    return html_document(source if isinstance(source, bytes) else source.encode(), "folder/stem.html")


def text(source: str) -> str:
    return page(source).text


def headings(doc: Document) -> list[tuple[int, str, str]]:
    return [(h.level, h.title, doc.text[h.start :].split("\n")[0]) for h in doc.headings or ()]


def test_a_page_becomes_text_with_title_and_headings() -> None:
    doc = page(
        "<!doctype html><html><head><title>T &amp; t\n</title><style>p{}</style></head><body><h1>Big <b>one</b></h1>\n"
        "<p>Some   <i>words</i>.\n More.</p><h2>Two</h2>text<script>var a = '<p>no</p>'</script></body></html>"
    )
    assert (doc.external_id, doc.title, doc.format) == ("folder/stem.html", "T & t", "text")
    assert doc.text == "Big one\n\nSome words. More.\n\nTwo\n\ntext"
    assert headings(doc) == [(1, "Big one", "Big one"), (2, "Two", "Two")]


def test_without_a_title_the_first_h1_and_then_the_stem_is_the_title() -> None:
    assert page("<h2>a</h2><h1>b</h1>").title == "b"
    assert page("<p>x").title == "stem"


def test_navigation_and_controls_are_left_out() -> None:
    source = "<nav>a<nav>b</nav>c</nav><div role=navigation><div>d</div>e</div><select><option>f</select><p>g</p>"
    assert text(source + "<button>h</button><svg><title>i</title></svg>") == "g"


@pytest.mark.parametrize("tag", ["nav", "svg", "noscript", "div role=navigation"])
def test_an_element_left_out_that_is_never_closed_loses_no_text(tag: str) -> None:
    assert text(f"<p>before</p><{tag}><p>after</p><script>no</script>") == "before\n\nafter"


def test_a_title_that_is_never_closed_loses_no_text() -> None:
    doc = page("<title>T<body><p>text</p>")
    assert (doc.title, doc.text) == ("T", "text")


def test_entities_are_resolved_once() -> None:
    assert text("<p>&lt;b&gt; &eacute;&#20013; &amp;lt; a&nbsp;b &unknown; AT&T") == "<b> é中 &lt; a b &unknown; AT&T"


def test_lists_and_line_breaks_are_lines() -> None:
    assert text("<ul><li>a<li> <b>b</b> c</li></ul>d<br>e<br><br>f") == "- a\n- b c\n\nd\ne\n\nf"


def test_rows_of_a_table_are_lines_with_bars() -> None:
    source = "x<table><thead><tr><th>A<th>B</tr></thead><tr><td>1</td><td><p>2</p> <p>3</p></td></tr><tr><td></td><td>4"
    assert text(source + "</table>y") == "x\n\nA | B\n1 | 2 3\n| 4\n\ny"


def test_a_table_for_layout_is_running_text() -> None:
    source = "<table><tr><td>menu<td><h1>H</h1><p>para</p><table><tr><td>a<td>b</table><td>side</table>"
    doc = page(source)
    assert doc.text == "menu\n\nH\n\npara\n\na | b\n\nside"
    assert headings(doc) == [(1, "H", "H")]


def test_preformatted_text_stays_as_it_is() -> None:
    assert text("<p>a</p><pre>\n  x  =  1\n\n    y\n</pre><p>b") == "a\n\n  x  =  1\n\n    y\n\nb"


def test_a_heading_is_one_line_however_it_is_written() -> None:
    doc = page("<h2><div>One</div></h2><h2>Two<p>text</p><h3>Three<br>lines</h3><h4> </h4><li><h5>Five</h5><h6><li>Six")
    assert headings(doc) == [
        (2, "One", "One"),
        (2, "Two", "Two"),
        (3, "Three lines", "Three lines"),
        (5, "Five", "Five"),
        (6, "Six", "Six"),
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a <b", "a <b"),
        ("a < b & c", "a < b & c"),
        ("<p>a<!-- b", "a b"),
        ("a<![foo[x]]>b", "ab"),
        ("a<![endif]-->b", "ab"),
        ("a<!>b</>c", "abc"),
        ("</p></div>a</b>", "a"),
        ("<table>a<td>b</table>c", "a\n\nb\n\nc"),
        ("<p", "<p"),
        ("", ""),
    ],
)
def test_broken_markup_gives_its_text(source: str, expected: str) -> None:
    assert text(source) == expected


def test_deep_markup_does_not_recurse() -> None:
    assert text("<div><b>" * 50_000 + "deep") == "deep"


def test_a_declared_encoding_is_used_when_the_page_is_not_utf_8() -> None:
    assert page('<meta charset="gb2312"><p>今天'.encode("gb18030")).text == "今天"
    assert page("<meta content='text/html; charset=iso-8859-1'>é".encode("latin-1")).text == "é"
    assert page("今天".encode("utf-16")).text == "今天"
    with pytest.raises(ValueError, match="at byte 0"):
        page(b"\xff\xff")
    with pytest.raises(ValueError, match="unknown encoding 'x-none'"):
        page(b"<meta charset=x-none>\xff")


TAGS = (
    "p",
    "div",
    "b",
    "h1",
    "h2",
    "li",
    "ul",
    "table",
    "tr",
    "td",
    "pre",
    "br",
    "nav",
    "script",
    "title",
    "svg",
    "body",
)
MARKUP = st.sampled_from(
    [f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS] + ["<!--", "-->", "<![", "<", "&"]
)


@given(st.lists(MARKUP | st.text(max_size=5), max_size=40).map("".join))
@settings(max_examples=300, deadline=None)
def test_no_page_crashes_and_headings_stand_where_they_say(source: str) -> None:
    doc = html_document(source.encode("utf-8", "replace"), "x.html")
    for heading in doc.headings or ():
        seen = " ".join(doc.text[heading.start :].split())
        assert seen.startswith(heading.title)
        assert heading.start == 0 or doc.text[heading.start - 1] == "\n"
    if doc.text.strip("\x00 \n\t\r\f\v\x1c\x1d\x1e\x1f\x85\xa0\u2028\u2029\u3000").strip():
        clean_document(doc)
