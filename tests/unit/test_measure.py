"""Judgements, scores, comparisons, fusing again and fitting: values in, values out."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgbraid.errors import SettingsError
from pgbraid.measure.compare import compare
from pgbraid.measure.fit import fit
from pgbraid.measure.judgements import read_judgements, write_folder
from pgbraid.measure.kept import load, percentile, save, scores_of
from pgbraid.measure.replay import replay
from pgbraid.measure.scores import per_question
from pgbraid.measure.values import Answered, BranchHit, Judged, Kept, Observed
from pgbraid.values import Profile


def _observed(dense: str, lexical: str) -> Observed:
    """Branches that give one-letter documents, best first, with falling scores."""
    hits = [
        BranchHit(method, ord(name), name, 0, rank, 1 / rank)  # type: ignore[arg-type]
        for method, names in (("dense", dense), ("lexical", lexical))
        for rank, name in enumerate(names, 1)
    ]
    return Observed("q", tuple(hits))


def test_judgements_survive_a_folder(tmp_path: Path) -> None:
    judged = [Judged("1", "how long", {"a": 2, "b": 0}, {"kb": "hr"}), Judged("2", "多久", {"c": 1})]
    write_folder(judged, tmp_path / "out")
    assert read_judgements(tmp_path / "out") == judged


def test_a_filter_that_a_folder_cannot_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="year"):
        write_folder([Judged("1", "q", {"a": 1}, {"year": 2024})], tmp_path)


def test_trec_qrels_need_their_questions(tmp_path: Path) -> None:
    qrels, texts = tmp_path / "qrels.txt", tmp_path / "queries.jsonl"
    qrels.write_text("1 0 a 1\n1 0 b 0\n", encoding="utf-8")
    texts.write_text('{"_id": "1", "text": "how long"}\n', encoding="utf-8")
    with pytest.raises(SettingsError, match="--questions"):
        read_judgements(qrels)
    assert read_judgements(qrels, texts) == [Judged("1", "how long", {"a": 1, "b": 0})]


def test_csv_is_read_and_a_wrong_grade_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "j.csv"
    path.write_text('question,external_id,grade\n"how long, really",a,1\n', encoding="utf-8")
    assert read_judgements(path) == [Judged("how long, really", "how long, really", {"a": 1})]
    path.write_text("question,external_id,grade\nq,a,good\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"j\.csv:2"):
        read_judgements(path)


def test_an_empty_answer_scores_nothing_and_still_counts() -> None:
    assert per_question({"1": {"a": 1}, "2": {"a": 1}}, {"1": ["a"], "2": []}) == {"1": 1.0, "2": 0.0}


def test_equal_scores_are_no_difference_and_a_clear_one_is_told() -> None:
    a = {str(i): 0.5 for i in range(60)}
    assert compare(a, a).p_value == 1.0
    better = compare(a, {key: 0.6 + 0.001 * int(key) for key in a})
    assert (better.wins, better.losses, better.small) == (60, 0, False)
    assert better.p_value < 0.001


def test_runs_with_other_questions_are_not_compared() -> None:
    with pytest.raises(SettingsError, match="other questions"):
        compare({"1": 0.0}, {"2": 0.0})


def test_a_run_survives_its_file(tmp_path: Path) -> None:
    run = Kept("notes", "dense", {}, {"1": Answered(("b", "a"), {"retrieve": 2.0})}, {"1": {"a": 1}}, {"1": "q"})
    save([run], tmp_path / "r.json")
    assert load(tmp_path / "r.json") == [run]
    assert scores_of(run, "RR@10") == {"1": 0.5}
    assert percentile(run, "retrieve", 0.95) == 2.0


@pytest.mark.parametrize("fusion", ["zscore", "minmax", "rrf"])
def test_a_weight_of_zero_leaves_the_other_branch_alone(fusion: str) -> None:
    profile = Profile(fusion=fusion, dense_weight=0.0, top_k=9)  # type: ignore[arg-type]
    assert replay(_observed("abc", "cde"), profile) == ["c", "d", "e"]


def test_thresholds_and_candidates_apply_before_fusing() -> None:
    observed = _observed("abc", "cde")
    assert replay(observed, Profile(candidates=1, top_k=9)) == ["a", "c"]
    assert set(replay(observed, Profile(dense_threshold=0.9, lexical_threshold=0.9, top_k=9))) == {"a", "c"}


def test_fitting_leans_on_the_branch_that_is_right() -> None:
    observed = {str(i): _observed("xyzvwa", "abcdef") for i in range(20)}
    fitted = fit(observed, {key: {"a": 1} for key in observed})
    assert fitted.held_out == fitted.lexical == 1.0
    assert fitted.profile.lexical_weight > fitted.profile.dense_weight


def test_the_guard_proposes_one_branch_where_fusing_only_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgbraid.measure.fit.WEIGHTS", (0.1,))  # so that the wrong branch always wins
    observed = {str(i): _observed("ab", "cb") for i in range(20)}
    fitted = fit(observed, {key: {"a": 1} for key in observed})
    assert fitted.guarded and fitted.held_out < fitted.dense == 1.0
    assert (fitted.profile.dense_weight, fitted.profile.lexical_weight) == (1.0, 0.0)
    assert fitted.gain.difference >= 0


def test_too_few_questions_are_not_fitted_on() -> None:
    with pytest.raises(SettingsError, match="too few"):
        fit({"1": _observed("a", "b")}, {"1": {"a": 1}})
