"""What was measured, and that the verdict says what the data say."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

import poolwise
from poolwise.report.measured import _contenders
from poolwise.tables.intake import gather
from poolwise.wording import change_range, change_words
from tests.report.conftest import FEW
from tests.report.stories import bearings, diabetes


def planes(rows, seed):
    """Rows of one plane, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    return X, X @ [1.0, 2.0, 3.0] + rng.normal(size=rows)


def test_the_sentences_have_the_numbers_of_the_data(helping):
    expected, _, alone, base = helping.data["gain"]["lines"]
    told = helping.data["verdict"]
    assert told["level"] == "probably_helps"
    assert alone["against"] == "without_history"
    assert base["change"] < 0.0
    assert f"{change_words(alone['change'])} than without history" in told["headline"]
    assert f"95% interval: {change_range(alone['low'], alone['high'])}" in told["headline"]
    assert change_words(expected["change"]) in told["sentences"][0]
    assert change_range(expected["low"], expected["high"]) in told["sentences"][0]
    assert helping.verdict.to_dict() == told
    assert str(helping).split() == told["text"].split()


def test_the_expectation_agrees_at_the_clinic(helping):
    assert helping.verdict.sentences[0].startswith(
        "Expected with bayes_pooling: history probably helps (error 1.7% lower"
    )
    assert helping.verdict.sentences[0].endswith("inside the measured interval.")
    assert helping.data["plan"]["text"] in helping.verdict.sentences


def test_old_bearings_do_not_help_and_the_reason_is_told(useless):
    told = useless.data["verdict"]
    assert told["level"] == "no_clear_difference"
    assert "“old bearings” contradicts the recent rows" in told["text"]
    assert "Old columns predict “vibration”" in told["text"]
    assert set(useless.data["methods"]["harmful"]) == {"data_pooling", "mean_fill"}
    for x in useless.data["methods"]["lines"]:
        is_named = f"{x['method']} ({x['rmse']:.4g})" in told["text"]
        assert is_named == (x["method"] in useless.data["methods"]["harmful"])


def test_a_method_that_trusts_history_blindly_is_told_to_do_harm():
    X, y, sources = bearings()
    made = poolwise.report(X, y, sources=sources, method="mean_fill", **FEW)
    told = made.data["verdict"]
    assert told["level"] == "hurts"
    assert told["headline"].startswith("Measured with mean_fill: history hurts; ")
    assert "times as high as without history" in told["headline"]
    assert told["sentences"][-1].startswith("Leave the history out")


def test_methods_have_the_p_values_that_compare_gives_them(helping):
    X, y, sources = diabetes()
    names = [*FEW["methods"], "bayes_pooling"]
    found = poolwise.compare(X, y, sources=sources, methods=names, cv=FEW["cv"])
    shown = {x["method"]: x["p_holm"] for x in helping.data["methods"]["lines"]}
    assert {x["method"]: x["p_holm"] for x in found.table()}.items() <= shown.items()


def test_a_method_that_drops_history_is_told_to_drop_it():
    X, y, sources = bearings()
    made = poolwise.report(X, y, sources=sources, method="target_only", **FEW)
    assert "its method, target_only, drops history" in made.verdict.text
    assert made.verdict.basis == "expected"
    assert {x["basis"] for x in made.data["gain"]["lines"]} == {"expected"}


@pytest.mark.parametrize("rows", [9_999, 10_000])
def test_a_long_history_leaves_the_kernel_out(rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows + 30, 2))
    y = X.sum(axis=1) + rng.normal(size=len(X))
    intake = gather(X[:30], y[:30], sources=(X[30:, :1], y[30:]))
    contenders, left_out = _contenders(intake, None, 0)
    is_left_out = rows == 10_000
    assert ("kernel_transfer" in contenders) is not is_left_out
    assert ("kernel_transfer" in left_out) is is_left_out
    assert all("10,000 rows of history" in why for why in left_out.values())


@pytest.mark.parametrize(("rows", "seed"), [(3, 4), (4, 2)])
def test_a_few_rows_that_fell_well_do_not_raise_the_verdict(rows, seed):
    (X_old, y_old), (X, y) = planes(1000, 0), planes(rows, seed)
    with pytest.warns(poolwise.errors.NoiseNotEstimable):
        made = poolwise.report(X, y, sources=(X_old[:, :2], y_old), methods=["mean_fill"])
    seen = [x for x in made.data["gain"]["lines"] if x["basis"] == "measured"]
    assert seen[0]["change"] < -0.15
    assert {x["low"] for x in seen} == {None}
    assert (made.verdict.level, made.verdict.basis) == ("no_clear_difference", "expected")
    folds = made.data["methods"]["folds"]
    assert f"on {rows} recent rows, held out in {folds} folds, the" in made.verdict.text
    assert "There is no test of the measurement" in made.verdict.text


def test_no_error_falls_by_more_than_all_of_it():
    X, y, sources = diabetes(15)
    made = poolwise.report(X, y, sources=sources, methods=["mean_fill"])
    lines = made.data["methods"]["lines"]
    base = next(x["rmse"] for x in lines if x["is_baseline"])
    assert min(x["low"] / base for x in lines) < -1.0  # what the test says by itself
    assert min(x["rmse_low"] for x in lines) == 0.0
    assert min(x["low"] for x in made.data["gain"]["lines"]) == -1.0
    assert min(x["high"] for x in made.data["gain"]["lines"]) > -1.0


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
    assert f"had an error {change_words(share)} than this model's" in told
    assert "boosted_pooling" in told

    line = X @ [1.0, 2.0, 3.0] + 0.3 * rng.normal(size=600)
    plain = poolwise.report(X[400:], line[400:], sources=(X[:400, :2], line[:400]), **few)
    assert "Boosted trees" not in plain.verdict.text
