"""Verdicts: which answer follows from what, and that sentences say what the data say."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

import poolwise
from poolwise import PooledRegressor, diagnose
from poolwise.report.verdict import ANSWERS, verdict
from poolwise.report.words import change, change_range
from tests.report.conftest import FEW
from tests.report.stories import bearings, diabetes

NO_PLAN = {"unavailable": "too few rows"}


@pytest.fixture(scope="module")
def found():
    """A diagnosis in which no source is in conflict."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(330, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=330)
    diagnosis = diagnose(PooledRegressor().fit(X[300:], y[300:], sources=(X[:300, :2], y[:300])))
    assert not diagnosis.conflict.likely
    return diagnosis


def planes(rows, seed):
    """Rows of one plane, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    return X, X @ [1.0, 2.0, 3.0] + rng.normal(size=rows)


def gain_of(of_noise, probability, share=None, low=None, high=None):
    expected = {
        "how": "expected",
        "fit": "history",
        "against": "without_history",
        "share": -of_noise / 2.0,
        "low": -0.2,
        "high": 0.1,
        "probability": probability,
        "of_noise": of_noise,
    }
    lines = [expected]
    if share is not None:
        seen = {"how": "measured", "fit": "model", "against": "without_history"}
        lines.append({**seen, "share": share, "low": low, "high": high})
    return {"lines": lines, "text": ""}


def measured_of(gain):
    if len(gain["lines"]) == 1:
        return {"unavailable": "There are too few rows."}
    return {"lines": [], "harmful": [], "target_rows": 40, "folds": 25}


@pytest.mark.parametrize(
    ("gain", "answer"),
    [
        (gain_of(0.2, 0.99, -0.1, -0.2, 0.0), "helps"),
        (gain_of(0.2, 0.99), "helps"),
        (gain_of(0.2, 0.80, -0.1, -0.2, -0.01), "helps"),  # measured, surely
        (gain_of(0.2, 0.80, -0.1, -0.2, 0.1), "probably_helps"),
        (gain_of(0.2, 0.80), "probably_helps"),
        (gain_of(0.2, 0.99, 0.05, -0.1, 0.2), "unclear"),  # the witnesses disagree
        (gain_of(0.2, 0.99, 0.1, 0.02, 0.2), "hurts"),  # what was measured counts
        (gain_of(0.001, 0.6, 0.0, -0.01, 0.01), "matters_little"),
        (gain_of(0.001, 0.6, -0.1, -0.2, -0.01), "probably_helps"),
        (gain_of(0.001, 0.6, 0.002, 0.001, 0.003), "matters_little"),  # sure, but nothing
        (gain_of(-0.3, 0.01, None), "hurts"),  # of another method
        (gain_of(-0.3, 0.30, 0.1, -0.1, 0.3), "unclear"),
    ],
)
def test_the_answer_follows_from_both_witnesses(found, gain, answer):
    told = verdict(found, gain, measured_of(gain), NO_PLAN)
    assert told["answer"] == answer
    assert told["headline"].startswith(f"{ANSWERS[answer]}: ")
    assert told["text"] == " ".join([told["headline"], *told["sentences"]])


def test_history_in_conflict_that_brings_nothing_does_not_help(found):
    line = replace(found.conflict.lines[0], probability=0.98, of_intercept=0.0, of_slopes=0.98)
    at_odds = replace(found, conflict=replace(found.conflict, lines=(line,)))
    gain = gain_of(0.001, 0.6, 0.0, -0.01, 0.01)
    told = verdict(at_odds, gain, measured_of(gain), NO_PLAN)
    assert told["answer"] == "does_not_help"
    assert "“source” contradicts the target and counts for less" in told["text"]


def test_the_sentences_have_the_numbers_of_the_data(helping):
    expected, _, alone, base = helping.data["gain"]["lines"]
    told = helping.data["verdict"]
    assert told["answer"] == "probably_helps"
    assert f"{change(expected['share'])} than without it" in told["headline"]
    assert f"(95% interval: {change_range(expected['low'], expected['high'])})" in told["headline"]
    for x in (alone, base):
        assert change(x["share"]) in told["sentences"][1]
        assert change_range(x["low"], x["high"]) in told["sentences"][1]
    assert helping.verdict == told["text"]
    assert str(helping).split() == told["text"].split()


def test_the_clinics_past_helps(helping):
    assert helping.data["verdict"]["answer"] in ("helps", "probably_helps")
    assert helping.data["plan"]["verdict"] in helping.verdict


def test_old_bearings_do_not_help_and_the_reason_is_told(useless):
    told = useless.data["verdict"]
    assert told["answer"] == "does_not_help"
    assert "“old bearings” contradicts the target" in told["text"]
    assert "Old columns predict “vibration”" in told["text"]
    assert set(useless.data["methods"]["harmful"]) == {"data_pooling", "mean_fill"}
    worst = max(x["rmse"] for x in useless.data["methods"]["lines"])
    assert f"errors up to {worst:.4g}" in told["text"]


def test_a_method_that_trusts_history_blindly_is_told_to_do_harm():
    X, y, sources = bearings()
    made = poolwise.report(X, y, sources=sources, method="mean_fill", **FEW)
    told = made.data["verdict"]
    assert told["answer"] == "hurts"
    assert told["headline"].startswith("History as mean_fill uses it does harm: ")
    assert "times as high as without it" in told["headline"]
    assert told["sentences"][-1].startswith("Leave the history out")


def test_a_method_that_drops_history_is_told_to_drop_it():
    X, y, sources = bearings()
    made = poolwise.report(X, y, sources=sources, method="target_only", **FEW)
    assert "its method, target_only, drops history" in made.verdict
    assert [x["how"] for x in made.data["gain"]["lines"] if x["how"] == "measured"] == []


@pytest.mark.parametrize(("rows", "seed"), [(3, 4), (4, 1)])
def test_a_few_rows_that_fell_well_do_not_raise_the_verdict(rows, seed):
    (X_old, y_old), (X, y) = planes(1000, 0), planes(rows, seed)
    with pytest.warns(poolwise.errors.FewRows):
        made = poolwise.report(X, y, sources=(X_old[:, :2], y_old), methods=["mean_fill"])
    seen = [x for x in made.data["gain"]["lines"] if x["how"] == "measured"]
    assert seen[0]["share"] < -0.5
    assert {x["low"] for x in seen} == {None}
    assert made.data["verdict"]["answer"] == "probably_helps"
    folds = made.data["methods"]["folds"]
    assert f"on the {rows} target rows ({folds} folds) the" in made.verdict
    assert "so few rows tell little" in made.verdict


def test_where_the_rows_prove_what_the_model_only_expects_the_headline_has_their_numbers(found):
    gain = gain_of(0.2, 0.80, -0.1, -0.2, -0.01)
    told = verdict(found, gain, measured_of(gain), NO_PLAN)
    assert told["headline"] == (
        "History helps: on the target rows, the error of predictions was 10% lower than without it "
        "(95% interval: 1.0% to 20% lower)."
    )


def test_no_error_falls_by_more_than_all_of_it():
    X, y, sources = diabetes(11)
    with pytest.warns(poolwise.errors.TransferWarning):
        made = poolwise.report(X, y, sources=sources, methods=["mean_fill"])
    lines = made.data["methods"]["lines"]
    base = next(x["rmse"] for x in lines if x["is_baseline"])
    assert min(x["low"] / base for x in lines) < -1.0  # what the test says by itself
    assert min(x["rmse_low"] for x in lines) == 0.0
    assert min(x["low"] for x in made.data["gain"]["lines"]) == -1.0
    assert "100% lower" in made.verdict


def test_that_it_could_not_be_measured_is_told(found):
    gain = gain_of(0.2, 0.8)
    told = verdict(found, gain, measured_of(gain), NO_PLAN)
    assert "It could not be measured on target rows. There are too few rows." in told["text"]


def test_trees_that_did_better_beyond_chance_are_told():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, size=(600, 3))
    y = 5.0 * np.abs(X[:, 0]) + X[:, 2] + 0.3 * rng.normal(size=600)
    few = {**FEW, "methods": {"trees_on_nan": HistGradientBoostingRegressor(max_iter=30)}}
    made = poolwise.report(X[400:], y[400:], sources=(X[:400, :2], y[:400]), **few)
    rmse = {x["method"]: x["rmse"] for x in made.data["methods"]["lines"]}
    share = rmse["trees_on_nan"] / rmse["bayes_pooling"] - 1.0
    assert share < -0.3
    (told,) = [s for s in made.data["verdict"]["sentences"] if "trees" in s]
    assert f"had an error {change(share)} than this model's" in told
    assert "boosted_pooling" in told

    line = X @ [1.0, 2.0, 3.0] + 0.3 * rng.normal(size=600)
    plain = poolwise.report(X[400:], line[400:], sources=(X[:400, :2], line[:400]), **few)
    assert "trees" not in plain.verdict
