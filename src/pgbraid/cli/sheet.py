"""A sheet that stands alone: headings, notes, tables and charts in one HTML file that needs no network. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from pgbraid.errors import SettingsError

STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
figure { margin: 1rem 0; } svg { max-width: 100%; height: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #8884; text-align: left; vertical-align: top; }
td { overflow-wrap: anywhere; }
th { white-space: nowrap; } .number { text-align: right; white-space: nowrap; }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(title: str, parts: Sequence[str]) -> str:
    """A whole page; `parts` are what the functions here and `chart` give."""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            f"<title>{escape(title)}</title><style>{STYLE}</style></head>",
            f"<body><h1>{escape(title)}</h1>",
            *parts,
            "</body></html>\n",
        ]
    )


def heading(text: str) -> str:
    return f"<h2>{escape(text)}</h2>"


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def figure(svg: str) -> str:
    """A drawing of `chart`."""
    return f"<figure>{svg}</figure>"


def grid(columns: Sequence[str], rows: Sequence[Sequence[object]], numbers: Sequence[str] = ()) -> str:
    """A table; the columns in `numbers` are set to the right."""
    kinds = [' class="number"' if column in numbers else "" for column in columns]
    head = "".join(f"<th{kind}>{escape(column)}</th>" for column, kind in zip(columns, kinds, strict=True))
    body = [
        "<tr>" + "".join(f"<td{k}>{escape(str(v))}</td>" for v, k in zip(row, kinds, strict=True)) + "</tr>"
        for row in rows
    ]
    return "\n".join(
        [f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>', *body, "</tbody></table></div>"]
    )


def write(path: Path, text: str, option: str) -> None:
    """Write a file that was asked for with `option`. Raises SettingsError."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{option} {path} cannot be written: {error.strerror}") from error
