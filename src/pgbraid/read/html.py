"""HTML files: the text a reader sees, with headings and where they start.

Blocks are parted by blank lines, rows of tables are lines with ` | ` between cells, `<pre>` stays as it is; scripts,
styles, navigation and form controls are left out. Nothing recurses, and markup that is never closed loses no text:
a page that
never closes its navigation is read again with everything but scripts and styles as text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import unescape
from html.parser import HTMLParser
from pathlib import PurePosixPath
from types import MappingProxyType

from pgbraid.read.decoding import decoded_html
from pgbraid.read.page import Page
from pgbraid.values import Document

_CODE = frozenset({"script", "style"})
_HIDDEN = frozenset({"template", "noscript", "svg", "iframe", "canvas", "object", "audio", "video"})
_NOISE = frozenset({"nav", "button", "select", "datalist", "dialog"})
_NOISE_ROLES = frozenset({"navigation", "search", "menu", "menubar", "toolbar"})
_ROLE_CARRIERS = frozenset({"div", "ul", "ol", "section", "header", "footer", "aside", "form"})
_BLOCKS = frozenset({"p", "div", "section", "article", "main", "header", "footer", "aside", "body", "center", "search"})
_BLOCKS |= {"ul", "ol", "dl", "blockquote", "figure", "figcaption", "form", "fieldset", "hr", "address", "hgroup"}
_BLOCKS |= {"details", "summary", "nav", "dialog"}
_LINES = frozenset({"li", "dt", "dd", "caption", "legend", "option"})
_HEADINGS: Mapping[str, int] = MappingProxyType({f"h{level}": level for level in range(1, 7)})
_CELLS = frozenset({"td", "th"})
_AFTER_TITLE = _BLOCKS | _LINES | _HEADINGS.keys() | _CODE | {"head", "meta", "link"}
_STARTS: Mapping[str, Callable[[Page], None]] = MappingProxyType(
    {"br": Page.newline, "pre": Page.open_pre, "table": Page.open_table, "tr": Page.open_row}
)
_ENDS: Mapping[str, Callable[[Page], None]] = MappingProxyType(
    {"pre": Page.close_pre, "table": Page.close_table, "tr": Page.close_row}
)


def html_document(data: bytes, name: str) -> Document:
    """An HTML file as one document; its title from `<title>`, else the first `<h1>`, else the file's stem.

    Raises `ValueError` when the file cannot be decoded.
    """
    source = decoded_html(data).replace("\r\n", "\n").replace("\r", "\n")
    parser = _parsed(source, _CODE | _HIDDEN | _NOISE)
    if parser.skipped not in _CODE | {""}:
        parser = _parsed(source, _CODE)
    page = parser.page
    first = next((heading.title for heading in page.headings if heading.level == 1), PurePosixPath(name).stem)
    title = " ".join("".join(parser.title).split()) or first
    return Document(name, page.text, title, headings=tuple(page.headings))


def _parsed(source: str, left_out: frozenset[str]) -> _Parser:
    parser = _Parser(left_out)
    # The parser looks for the end of a comment or tag anew at every beginning: where none can follow, none is begun.
    last = source.rfind("-->") + 1
    source = source[:last] + source[last:].replace("<!--", "")
    last = source.rfind(">") + 1
    parser.feed(source[:last])
    parser.close()
    parser.handle_data(unescape(source[last:]))
    parser.page.finish()
    return parser


class _Parser(HTMLParser):
    """Turns tags into words for the page: what each tag means, and nothing of how text is laid out."""

    def __init__(self, left_out: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self.title: list[str] = []
        self.skipped = ""  # the tag whose content is being left out
        self._left_out = left_out
        self._depth = 0  # how often the skipped tag is open
        self._in_title = False
        self._titled = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._in_title and tag in _AFTER_TITLE:
            self.handle_endtag("title")
        if self.skipped:
            self._depth += tag == self.skipped
        elif tag in self._left_out or self._is_noise(tag, attrs):
            self.skipped, self._depth = tag, 1
        elif tag == "title":
            self._in_title = not self._titled
        else:
            self._start(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.skipped:
            self._depth -= tag == self.skipped
            self.skipped = self.skipped if self._depth else ""
        elif tag == "title":
            self._titled = self._titled or self._in_title
            self._in_title = False
        else:
            self._end(tag)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self.skipped:
            self.page.add(data)

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """`<![…]>` is a comment in HTML; the standard library raises AssertionError for names it does not know."""
        return self.parse_bogus_comment(i)

    def _is_noise(self, tag: str, attrs: list[tuple[str, str | None]]) -> bool:
        if tag not in _ROLE_CARRIERS or "nav" not in self._left_out:
            return False
        return any(name == "role" and value in _NOISE_ROLES for name, value in attrs)

    def _start(self, tag: str) -> None:
        if tag in _HEADINGS:
            self.page.open_heading(_HEADINGS[tag])
        elif tag in _BLOCKS:
            self.page.block()
        elif tag in _LINES:
            self.page.line("- " if tag == "li" else "")
        elif tag in _CELLS:
            self.page.cell()
        elif tag in _STARTS:
            _STARTS[tag](self.page)

    def _end(self, tag: str) -> None:
        if tag in _HEADINGS:
            self.page.close_heading()
        elif tag in _BLOCKS:
            self.page.block()
        elif tag in _LINES:
            self.page.line()
        elif tag in _ENDS:
            _ENDS[tag](self.page)
