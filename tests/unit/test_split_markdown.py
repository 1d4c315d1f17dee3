"""Finding headings and blocks in Markdown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgbraid.split.markdown import find_blocks, find_headings, find_tables


def found(text: str) -> list[tuple[int, str]]:
    headings = find_headings(text)
    assert all(text[heading.start - 1 : heading.start] in ("", "\n") for heading in headings)
    return [(heading.level, heading.title) for heading in headings]


def blocks(text: str) -> list[str]:
    return [text[block.start : block.end] for block in find_blocks(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\n## B\n###### F", [(1, "A"), (2, "B"), (6, "F")]),
        ("   ## B ##  \n", [(2, "B")]),
        ("# C#\n# D #\n#\tE", [(1, "C#"), (1, "D"), (1, "E")]),
        ("#no\n####### no\n    # no\n\\# no\n> # no\n#\n# #\n\t# no", []),
        ("# **Bold** `code` [link](http://x) snake_case 2 * 3 {#id}", [(1, "Bold code link snake_case 2 * 3")]),
        ("A\n===\n\nB c\n---\ntext", [(1, "A"), (2, "B c")]),
        ("text\nmore\n---\n", []),
        ("- item\n---\n| a |\n---\n\n---\n***\n---\n", []),
        ("# A\n---\n", [(1, "A")]),
        ("```\n# no\n```\n# yes", [(1, "yes")]),
        ("````\n```\n# no\n````\n# yes", [(1, "yes")]),
        ("~~~ py\n# no\n```\n# no\n~~~~\n# yes", [(1, "yes")]),
        ("``` not `a fence\n# yes", [(1, "yes")]),
        ("```\n# no: never closed", []),
        ("- a\n\n      ```\n  # no\n      ```\n# yes", [(1, "yes")]),
        ("    ```\n# yes", [(1, "yes")]),
        ("A\n```\n---\n```\n", []),
    ],
)
def test_headings_are_found_and_nothing_else(text: str, expected: list[tuple[int, str]]) -> None:
    assert found(text) == expected


def test_fences_tables_and_lists_are_blocks() -> None:
    fence, table = "```\n# x\n\ny\n```", "| a |\n|---|\n| 1 |"
    items = "- a\n  more\n\n- b\nlazy\n\n  ```\n  code\n  ```"
    text = f"para | graph\n\n{fence}\n\n{table}\ntext\n\n{items}\n\ntext\n# H\n1. one\n2. two\n# I\n* * *\n"
    assert blocks(text) == [fence, table, items, "1. one\n2. two"]


def test_fences_that_follow_each_other_are_two_blocks() -> None:
    assert blocks("```\na\n```\n```\nb\n```") == ["```\na\n```", "```\nb\n```"]


def test_a_list_knows_its_outermost_items() -> None:
    text = "- a\n  - a1\n  - a2\n- b\n\n  para\n- c"
    (block,) = find_blocks(text)
    assert [text[start:end] for start, end in block.parts] == ["- a\n  - a1\n  - a2\n", "- b\n\n  para\n", "- c"]


def test_rows_with_bars_are_a_table_in_any_text() -> None:
    text = "a | b\nc | d\n\nx | y\n# z | z\n1 | 2"
    assert [text[b.start : b.end] for b in find_tables(text)] == ["a | b\nc | d", "x | y\n# z | z\n1 | 2"]


@given(st.text(st.sampled_from("#=-*`~|>1. \n\tab[](){}_"), max_size=200))
def test_headings_and_blocks_are_in_order_whatever_the_text(text: str) -> None:
    found(text)
    starts = [heading.start for heading in find_headings(text)]
    assert starts == sorted(set(starts))
    end = 0
    for block in find_blocks(text):
        assert end <= block.start < block.end <= len(text)
        assert all(block.start <= start < stop <= block.end for start, stop in block.parts)
        end = block.end
