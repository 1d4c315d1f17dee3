"""The arithmetic of reranking."""

import math
import random

import pytest

from pgbraid import rerank
from pgbraid.errors import ModelError, SettingsError


def test_blend_one_is_the_order_of_the_reranker():
    assert rerank.order([3.0, 2.0, 1.0], [-5.0, 8.0, 0.5], 1.0) == [1, 2, 0]


def test_blend_zero_is_the_fused_order():
    assert rerank.order([3.0, 2.0, 1.0], [-5.0, 8.0, 0.5], 0.0) == [0, 1, 2]


def test_both_scores_are_scaled_before_they_are_mixed():
    # scaled: fused 1, .75, 0; reranked 0, .25, 1. Mixed by .4: .6, .55, .4; by .6: .4, .45, .6
    fused, reranked = [10.0, 9.0, 6.0], [100.0, 200.0, 500.0]
    assert rerank.order(fused, reranked, 0.4) == [0, 1, 2]
    assert rerank.order(fused, reranked, 0.6) == [2, 1, 0]


def test_equal_scores_keep_their_order():
    assert rerank.order([1.0, 1.0, 1.0], [2.0, 3.0, 2.0], 1.0) == [1, 0, 2]
    assert rerank.order([1.0, 1.0], [0.0, 0.0], 0.5) == [0, 1]


def test_a_constant_list_leaves_the_order_to_the_other():
    assert rerank.order([0.5, 0.5, 0.5], [1.0, 3.0, 2.0], 0.1) == [1, 2, 0]
    assert rerank.order([0.3, 0.2, 0.1], [7.0, 7.0, 7.0], 0.9) == [0, 1, 2]


def test_those_without_a_score_come_last_in_their_order():
    assert rerank.order([5.0, 4.0, 3.0, 2.0], [None, 1.0, None, 2.0], 1.0) == [3, 1, 0, 2]
    assert rerank.order([5.0, 4.0], [None, None], 1.0) == [0, 1]


def test_zero_is_a_score_and_not_a_missing_one():
    assert rerank.order([2.0, 1.0], [-1.0, 0.0], 1.0) == [1, 0]


def test_no_candidates_are_no_error():
    assert rerank.order([], [], 0.5) == []


def test_every_candidate_comes_back_once_whatever_the_scores():
    chance = random.Random(7)
    for _ in range(200):
        count = chance.randrange(12)
        reranked = [chance.choice([None, 0.0, 1.0, chance.gauss(0, 9)]) for _ in range(count)]
        order = rerank.order([chance.choice([0.0, 1.0, chance.random()]) for _ in range(count)], reranked, 0.5)
        assert sorted(order) == list(range(count))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_not_finite_is_refused(bad):
    with pytest.raises(ModelError, match="not finite"):
        rerank.order([1.0, 2.0], [bad, 1.0], 1.0)
    with pytest.raises(ModelError, match="not finite"):
        rerank.order([bad, 2.0], [1.0, 1.0], 1.0)


def test_another_count_of_scores_is_refused():
    with pytest.raises(ModelError, match="1 rerank scores for 2 candidates"):
        rerank.order([1.0, 2.0], [1.0], 1.0)


@pytest.mark.parametrize("blend", [-0.1, 1.1, math.nan])
def test_a_blend_outside_zero_to_one_is_refused(blend):
    with pytest.raises(SettingsError, match="blend"):
        rerank.order([1.0], [1.0], blend)
