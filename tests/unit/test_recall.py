"""What counts as found, and which setting is enough."""

from __future__ import annotations

import pytest

from pgbraid.measure.recall import Line, Point, found


def rows(*scored: tuple[int, float]) -> list[dict[str, object]]:
    return [{"document_id": document, "ordinal": 0, "score": score} for document, score in scored]


def line(*recalls: float) -> Line:
    return Line("", 1.0, 1.0, tuple(Point(10 * i, r, r, r, 1.0, 1.0) for i, r in enumerate(recalls, 1)))


def test_the_share_of_the_exact_rows_that_came_is_counted() -> None:
    exact = rows((1, 0.9), (2, 0.8), (3, 0.7), (4, 0.6))
    assert found(exact, rows((1, 0.9), (4, 0.6), (9, 0.5)), 3) == pytest.approx(1 / 3)
    assert found(exact, exact, 3) == 1.0 and found([], [], 3) == 1.0 and found(exact, [], 3) == 0.0


def test_a_row_as_near_as_the_last_one_is_as_right() -> None:
    exact = rows((1, 0.9), (2, 0.8), (3, 0.8), (4, 0.6))
    assert found(exact, rows((1, 0.9), (3, 0.8)), 2) == 1.0
    assert found(exact, rows((1, 0.9), (4, 0.6)), 2) == 0.5


def test_only_as_many_rows_as_were_wanted_are_looked_at() -> None:
    assert found(rows((1, 0.9), (2, 0.8)), rows((8, 0.9), (9, 0.9), (1, 0.9), (2, 0.8)), 2) == 0.0


def test_the_smallest_setting_is_one_from_which_all_are_enough() -> None:
    assert line(0.5, 0.9, 0.99).smallest(0.9) == line(0.5, 0.9, 0.99).points[1]
    assert line(0.95, 0.8, 0.99).smallest(0.9) == line(0.95, 0.8, 0.99).points[2]
    assert line(0.5, 0.6).smallest(0.9) is None
