"""Bytes to text: UTF-8, UTF-16 with a byte order mark, and for HTML the encoding that the page declares."""

from __future__ import annotations

import codecs
import re

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_DECLARED = re.compile(rb"""<meta[^<>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_DECLARED_WITHIN = 1024  # bytes, as HTML demands


def decoded(data: bytes) -> str:
    """The text of a file without its byte order mark. Raises `ValueError` naming the first byte that fits nothing."""
    mark, encoding = next(((m, e) for m, e in _MARKS if data.startswith(m)), (b"", "utf-8"))
    try:
        return data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        at = len(mark) + error.start
        raise ValueError(f"not {encoding.upper()} at byte {at} ({error.reason}); convert the file to UTF-8") from error


def decoded_html(data: bytes) -> str:
    """As `decoded`, but a page that is not UTF-8 is read in the encoding that its `<meta>` declares."""
    try:
        return decoded(data)
    except ValueError:
        declared = _DECLARED.search(data[:_DECLARED_WITHIN])
        if declared is None:
            raise
        return _in_declared(data, declared.group(1).decode("ascii"))


def _in_declared(data: bytes, name: str) -> str:
    try:
        # Pages that say GB2312 mean its superset: browsers read them so.
        return data.decode("gb18030" if name.lower() in ("gb2312", "gbk") else name)
    except UnicodeDecodeError as error:
        raise ValueError(f"not {name} at byte {error.start} ({error.reason}); convert the file to UTF-8") from error
    except LookupError as error:
        raise ValueError(f"declares the unknown encoding {name!r}; convert the file to UTF-8") from error
