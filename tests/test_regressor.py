"""PooledRegressor: two doors, one room, and rows that lack columns."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError

from poolwise import METHODS, Moments, PooledRegressor
from poolwise.errors import (
    BadOption,
    DroppedColumns,
    EmptyTarget,
    FewRows,
    FilledColumn,
    FragmentsLeftOut,
    MissingHere,
    NeedsRows,
    NoiseNotEstimable,
    NotFinite,
    NotNumeric,
    OtherColumns,
    OtherUnits,
    RankDeficient,
    RowsWithoutFeatures,
    TransferWarning,
    UnknownMethod,
    UnseenLevel,
    VarianceLeftOut,
)
from poolwise.methods.feature_transfer import FeatureTransfer


@pytest.fixture
def frames():
    """A target of 60 rows with two new columns, one of them text; a history of 300 rows."""
    rng = np.random.default_rng(3)
    n = 360
    X = pd.DataFrame(
        {
            "age": rng.normal(50, 10, n),
            "region": rng.choice(["north", "south", "west"], n),
            "smokes": rng.random(n) < 0.3,
            "größe": rng.normal(170, 9, n),
            "scanner": rng.choice(["A", "B"], n),
        }
    )
    y = (
        0.2 * X["age"]
        + X["region"].map({"north": 0.0, "south": 1.0, "west": -1.0})
        + 2.0 * X["smokes"]
        + 0.1 * X["größe"]
        + 1.5 * (X["scanner"] == "B")
        + rng.normal(size=n)
    ).rename("score")
    old = ["region", "smokes", "age"]  # another order
    return X[300:], y[300:], X[:300][old], y[:300]


def test_the_columns_are_matched_by_name_and_levels_become_indicators(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor().fit(X, y, sources=(X_old, y_old))
    assert list(model.coef_names_) == [
        "age",
        "region=south",
        "region=west",
        "smokes",
        "größe",
        "scanner=B",
    ]
    truth = np.array([0.2, 1.0, -1.0, 2.0, 0.1, 1.5])
    errors = np.sqrt(np.diag(model.coef_cov_))
    assert (np.abs(model.coef_ - truth) < 4 * errors).all()
    assert list(model.feature_names_in_) == list(X.columns)


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "arrow"])
def test_other_tables_give_the_same_model(frames, convert):
    X, y, X_old, y_old = frames
    expected = PooledRegressor().fit(X, y, sources=(X_old, y_old))
    X, X_old = (convert(t.reset_index(drop=True)) for t in (X, X_old))
    model = PooledRegressor().fit(X, y.to_numpy(), sources=(X_old, y_old.to_numpy()))
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
    np.testing.assert_allclose(model.predict(X), expected.predict(frames[0]), rtol=1e-12)


def test_moments_and_rows_give_the_same_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=150)
    by_rows = PooledRegressor().fit(X[100:], y[100:], sources=(X[:100, :2], y[:100]))
    target = Moments.of_rows(["x0", "x1", "x2", "y"], np.column_stack((X, y))[100:])
    source = Moments.of_rows(["x0", "x1", "y"], np.column_stack((X[:, :2], y))[:100])
    by_moments = PooledRegressor().fit_moments(target, {"old": source})
    np.testing.assert_allclose(by_moments.coef_, by_rows.coef_, rtol=1e-13)
    mixed = PooledRegressor().fit(X[100:], y[100:], sources=source)
    np.testing.assert_allclose(mixed.coef_, by_rows.coef_, rtol=1e-13)
    table = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    np.testing.assert_allclose(by_moments.predict(table), by_rows.predict(X), rtol=1e-12)


def test_kernel_transfer_says_that_it_needs_rows():
    rng = np.random.default_rng(0)
    target = Moments.of_rows(["a", "b", "y"], rng.normal(size=(20, 3)))
    source = Moments.of_rows(["a", "y"], rng.normal(size=(50, 2)))
    with pytest.raises(NeedsRows, match="feature_transfer"):
        PooledRegressor(method="kernel_transfer").fit_moments(target, {"old": source})


@pytest.mark.parametrize("name", METHODS)
def test_stacked_rows_and_sources_give_the_same_model(frames, name):
    X, y, X_old, y_old = frames
    apart = PooledRegressor(method=name).fit(X, y, sources=(X_old, y_old))
    rows = pd.concat([X_old, X])[list(X.columns)]
    together = PooledRegressor(method=name).fit(rows, pd.concat([y_old, y]))
    np.testing.assert_allclose(together.coef_, apart.coef_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", METHODS)
def test_rows_without_the_new_columns_are_predicted(frames, name):
    X, y, X_old, y_old = frames
    model = PooledRegressor(method=name).fit(X, y, sources=(X_old, y_old))
    without = X[["age", "region", "smokes"]]
    as_missing = X.assign(größe=np.nan, scanner=None)
    predicted = model.predict(without)
    np.testing.assert_allclose(predicted, model.predict(as_missing), rtol=1e-12)
    mixed = pd.concat([as_missing[:10], X[10:]])
    np.testing.assert_allclose(
        model.predict(mixed), np.concatenate((predicted[:10], model.predict(X[10:]))), rtol=1e-12
    )
    assert np.std(predicted - y) < np.std(y)


def test_rows_without_the_new_columns_get_the_pooled_reduced_model():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 2))
    X[:, 1] += X[:, 0]  # the new feature is correlated with the old one
    y = X @ [1.0, 1.0] + rng.normal(size=500)
    model = PooledRegressor("mean_fill").fit(X[400:], y[400:], sources=(X[:400, :1], y[:400]))
    reduced = np.polyfit(X[:, 0], y, 1)
    lacking = np.column_stack((X[:5, 0], np.full(5, np.nan)))
    np.testing.assert_allclose(model.predict(lacking), np.polyval(reduced, X[:5, 0]), rtol=1e-10)


def test_a_column_that_all_tables_had_may_not_be_missing(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor().fit(X, y, sources=(X_old, y_old))
    with pytest.raises(MissingHere, match=r"'age' in 60.*größe.*scanner"):
        model.predict(X.assign(age=np.nan))
    with pytest.raises(ValueError, match="yet now missing:\n- age"):
        model.predict(X.drop(columns="age"))
    with pytest.raises(MissingHere, match="none may be missing"):
        PooledRegressor().fit(X, y).predict(X.assign(größe=np.nan))


def test_other_columns_in_another_order_are_named(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor().fit(X, y, sources=(X_old, y_old))
    with pytest.raises(OtherColumns, match=r"in this order.*'smokes', 'region', 'age'"):
        model.predict(X[["smokes", "region", "age"]])
    with pytest.raises(OtherColumns, match=r"'pulse', not there at fit"):
        model.predict(X[["age", "region", "smokes"]].assign(pulse=1.0))


def test_the_reference_level_is_one_that_a_complete_row_has(frames):
    X, y, *_ = frames
    stacked = X.assign(größe=X["größe"].where(X["region"] != "north"))
    model = PooledRegressor().fit(stacked, y)  # all rows of north lack a column
    assert list(model.coef_names_)[1:3] == ["region=north", "region=west"]
    assert model.coef_cov_ is not None


def test_a_level_that_a_source_never_has_is_no_filled_column(frames):
    X, y, X_old, y_old = frames
    north = X_old["region"] == "north"
    model = PooledRegressor().fit(X, y, sources=(X_old[north], y_old[north]))
    assert model.cautions_ == ()


def test_a_warning_turned_into_an_error_leaves_no_fit_behind(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor()
    with pytest.raises(DroppedColumns):  # warnings are errors in these tests
        model.fit(X, y, sources=(X_old.assign(pulse=1.0), y_old))
    assert not hasattr(model, "fit_")


def test_infinity_is_refused_everywhere(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor().fit(X, y, sources=(X_old, y_old))
    with pytest.raises(NotFinite, match=r"'größe' in 60"):
        model.predict(X.assign(größe=np.inf))
    with pytest.raises(NotFinite, match=r"'größe' in 60"):
        PooledRegressor().fit(X.assign(größe=np.inf), y)
    with pytest.raises(NotFinite, match=r"Source 'source'.*'age' in 300"):
        PooledRegressor().fit(X, y, sources=(X_old.assign(age=-np.inf), y_old))


def test_an_unseen_level_is_an_error_or_the_reference(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor().fit(X, y, sources=(X_old, y_old))
    east = X.assign(region="east")
    with pytest.raises(UnseenLevel, match=r"'region' holds 'east'.*unseen_level"):
        model.predict(east)
    lenient = PooledRegressor(unseen_level="ignore").fit(X, y, sources=(X_old, y_old))
    np.testing.assert_allclose(lenient.predict(east), model.predict(X.assign(region="north")))


def test_dates_are_refused_by_name(frames):
    X, y, *_ = frames
    with pytest.raises(NotNumeric, match="'visit'"):
        PooledRegressor().fit(X.assign(visit=pd.Timestamp("2026-01-01")), y)


def test_a_failed_fit_leaves_the_model_as_it_was(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor()
    with pytest.raises(EmptyTarget):
        model.fit(X.assign(age=np.nan), y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert not hasattr(model, "n_features_in_")
    model.fit(X, y, sources=(X_old, y_old))
    before = model.predict(X)
    with pytest.raises(NotFinite):
        model.fit(X[["age"]], y * np.nan)
    np.testing.assert_array_equal(model.predict(X), before)
    assert model.n_features_in_ == 5


def test_fewer_rows_than_columns_work_with_a_warning():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(104, 6))
    y = X @ np.arange(1.0, 7.0) + rng.normal(size=104)
    with pytest.warns(TransferWarning) as caught:
        model = PooledRegressor("data_pooling").fit(
            X[100:], y[100:], sources=(X[:100, :4], y[:100])
        )
    kinds = {type(w.message) for w in caught}
    assert kinds == {FewRows, NoiseNotEstimable}
    assert np.isfinite(model.coef_).all()
    assert model.transfer_gain_ is None


def test_a_single_row_is_predicted_by_itself():
    with pytest.warns(FewRows):
        model = PooledRegressor("target_only").fit([[1.0, 2.0]], [3.0])
    np.testing.assert_array_equal(model.predict([[5.0, -2.0]]), [3.0])


def test_dependent_columns_are_named():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 40))
    X = pd.DataFrame({"a": a, "b": b, "sum": a + b, "free": rng.normal(size=40)})
    with pytest.warns(RankDeficient, match=r"'a', 'b', 'sum' are linearly dependent"):
        model = PooledRegressor("target_only").fit(X, 3 * a + b + rng.normal(size=40))
    reduced = PooledRegressor("target_only").fit(X[["a", "b", "free"]], model.predict(X))
    np.testing.assert_allclose(reduced.predict(X[["a", "b", "free"]]), model.predict(X))


def test_a_source_in_other_units_and_a_filled_column_are_pointed_out(frames):
    X, y, X_old, y_old = frames
    with pytest.warns(OtherUnits, match="'age' of source 'source'"):
        PooledRegressor().fit(X, y, sources=(X_old.assign(age=X_old["age"] * 365.25), y_old))
    with pytest.warns(FilledColumn, match="'größe' is 0 in every row"):
        PooledRegressor().fit(X, y, sources=(X_old.assign(größe=0.0), y_old))


def test_a_column_that_the_target_lacks_is_dropped_with_a_warning(frames):
    X, y, X_old, y_old = frames
    expected = PooledRegressor().fit(X, y, sources=(X_old, y_old)).coef_
    with pytest.warns(DroppedColumns, match="'pulse'"):
        model = PooledRegressor().fit(X, y, sources=(X_old.assign(pulse=1.0), y_old))
    np.testing.assert_array_equal(model.coef_, expected)


def test_options_that_do_not_exist_are_refused(frames):
    X, y, *_ = frames
    with pytest.raises(UnknownMethod, match="Did you mean 'data_pooling'"):
        PooledRegressor(method="datapooling").fit(X, y)
    with pytest.raises(UnknownMethod):
        PooledRegressor(method=FeatureTransfer).fit(X, y)
    with pytest.raises(BadOption, match="unseen_level"):
        PooledRegressor(unseen_level="drop").fit(X, y)


def test_a_model_without_intercept_goes_through_the_origin(frames):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3)) + 2.0
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=80)
    model = PooledRegressor("target_only", fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, np.linalg.lstsq(X, y)[0], rtol=1e-12)
    np.testing.assert_array_equal(model.predict(np.zeros((1, 3))), [0.0])
    _, __, X_old, y_old = frames
    texts = PooledRegressor("target_only", fit_intercept=False).fit(X_old[["region"]], y_old)
    assert list(texts.coef_names_) == ["region=north", "region=south", "region=west"]
    np.testing.assert_allclose(texts.coef_, y_old.groupby(X_old["region"]).mean())


def test_the_summary_says_what_was_fitted_from_what(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor().fit(X, y, sources={"clinic <b>": (X_old, y_old)})
    summary = model.summary()
    assert [c.coef for c in summary.coefficients] == list(model.coef_)
    assert [(t.name, t.rows, t.lacks) for t in summary.tables] == [
        ("target", 60, ()),
        ("clinic <b>", 300, ("größe", "scanner=B")),
    ]
    assert summary.transfer_gain == model.transfer_gain_ > 0
    assert "scanner=B" in str(summary)
    assert "clinic &lt;b&gt;" in summary._repr_html_()
    assert "clinic <b>" not in summary._repr_html_()
    assert summary.to_dict()["coefficients"][0]["name"] == "age"


def test_the_summary_shows_no_terminal_control_characters(frames):
    X, y, *_ = frames
    named = X.rename(columns={"age": "a\x1b[31mge"})
    assert "\x1b" not in str(PooledRegressor().fit(named, y).summary())


def test_a_coefficient_that_was_dropped_is_not_told_as_certain(frames):
    X, y, X_old, y_old = frames
    with pytest.warns(FewRows):
        summary = PooledRegressor().fit(X[:1], y[:1], sources=(X_old, y_old)).summary()
    dropped = [c for c in summary.coefficients if c.note]
    assert dropped
    assert {(c.coef, c.std_error, c.low, c.high) for c in dropped} == {(0.0, None, None, None)}
    cells = {row[0]: row for row in summary.coefficient_cells()[1]}
    assert cells[dropped[0].name][2:4] == ["-", "-"]


def test_a_column_that_has_one_value_in_the_target_is_told():
    rng = np.random.default_rng(0)
    X_old, X = rng.normal(size=(200, 2)), rng.normal(size=(30, 3))
    X[:, 0] = 1.5
    model = PooledRegressor().fit(X, X.sum(axis=1), sources=(X_old, X_old.sum(axis=1)))
    notes = [c.note for c in model.summary().coefficients]
    assert notes == ["one value in the target", "", ""]
    assert model.coef_[0] == pytest.approx(1.0, abs=0.2)  # as history says


def test_the_standard_errors_are_those_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, 3)) + 5.0
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=50)
    summary = PooledRegressor("target_only").fit(X, y).summary()
    expected = sm.OLS(y, sm.add_constant(X)).fit()
    ours = [summary.intercept_std_error, *(c.std_error for c in summary.coefficients)]
    np.testing.assert_allclose(ours, expected.bse, rtol=1e-10)


def test_a_fitted_model_survives_pickling(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor().fit(X, y, sources=(X_old, y_old))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert len(pickle.dumps(model)) < 20_000  # moments, not rows


def test_source_weights_count_as_repetitions(frames):
    X, y, X_old, y_old = frames
    twice = pd.concat([X_old, X_old]), pd.concat([y_old, y_old])
    weighted = PooledRegressor().fit(X, y, sources=(X_old, y_old, np.full(300, 2.0)))
    repeated = PooledRegressor().fit(X, y, sources=twice)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-10)


def test_what_a_masked_array_hides_is_missing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=80)
    hidden = np.zeros(X.shape, dtype=bool)
    hidden[:50, 1] = True
    masked = PooledRegressor().fit(np.ma.array(X, mask=hidden), y)
    stacked = PooledRegressor().fit(np.where(hidden, np.nan, X), y)
    np.testing.assert_array_equal(masked.coef_, stacked.coef_)
    in_source = PooledRegressor().fit(
        X[50:], y[50:], sources=(np.ma.array(X[:50], mask=hidden[:50]), y[:50])
    )
    np.testing.assert_allclose(in_source.coef_, stacked.coef_, rtol=1e-12)


def test_rows_without_any_feature_are_refused():
    X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [np.nan, np.nan]])
    with pytest.raises(RowsWithoutFeatures, match="has 1 rows in which every feature is missing"):
        PooledRegressor().fit(X, [1.0, 2.0, 3.0, 4.0])


def test_a_row_of_weight_zero_may_hold_anything():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=20)
    expected = PooledRegressor().fit(X[1:], y[1:]).coef_
    y[0] = np.nan
    weights = np.r_[0.0, np.ones(19)]
    np.testing.assert_allclose(
        PooledRegressor().fit(X, y, sample_weight=weights).coef_, expected, rtol=1e-12
    )


def test_a_min_max_scaled_target_beside_raw_history_is_pointed_out():
    rng = np.random.default_rng(0)
    X = rng.normal(50, 10, size=(200, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=200)
    scaled = (X[150:] - X[150:].min(axis=0)) / np.ptp(X[150:], axis=0)
    with pytest.warns(OtherUnits, match="'x0'"):
        PooledRegressor().fit(scaled, y[150:], sources=(X[:150, :1], y[:150]))


@pytest.mark.parametrize("exponent", [-525, -565, -997])
def test_a_column_whose_squares_vanish_is_fitted_like_any_other(exponent):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=30)
    usual = PooledRegressor().fit(X, y)
    with pytest.warns(VarianceLeftOut, match=r"'x1'"):  # no double holds their variance
        tiny = PooledRegressor().fit(X * [1.0, 2.0**exponent], y)
    np.testing.assert_allclose(tiny.coef_, usual.coef_ * [1.0, 2.0**-exponent], rtol=1e-14)


def test_one_missing_value_in_the_history_changes_little(frames):
    X, y, X_old, y_old = frames
    holed = X_old.assign(age=X_old["age"].where(np.arange(len(X_old)) != 7))
    for name in ("data_pooling", "source_columns_only", "offset"):
        whole = PooledRegressor(name).fit(X, y, sources=(X_old.drop(index=7), y_old.drop(index=7)))
        with pytest.warns(FragmentsLeftOut, match="1 rows of source 'source'"):
            model = PooledRegressor(name).fit(X, y, sources=(holed, y_old))
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-10)
        assert (model.coef_cov_ is None) == (whole.coef_cov_ is None)


def test_few_rows_of_large_weight_do_not_push_history_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(103, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=103)
    with pytest.warns(TransferWarning):
        model = PooledRegressor("data_pooling").fit(
            X[100:], y[100:], sources=(X[:100, :2], y[:100]), sample_weight=[5.0, 5.0, 5.0]
        )
    assert model.fit_.weights["source"] > 0.0
