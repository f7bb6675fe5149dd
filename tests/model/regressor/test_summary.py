"""The summary of a fit: coefficients, their errors, and what they come from."""

import numpy as np
import pandas as pd
import pytest

from poolwise import PooledRegressor
from poolwise.errors import NoiseNotEstimable


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
    with pytest.warns(NoiseNotEstimable):
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
    assert notes == ["1.5 in every row of the target", "", ""]
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


def test_levels_of_one_column_stand_below_its_name():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"site": list("nsw") * 20, "kind": list("ab") * 30, "x": rng.normal(size=60)})
    model = PooledRegressor().fit(X, rng.normal(size=60))
    head, rows = model.summary().coefficient_cells()
    names = ["(intercept)", "site", "  s", "  w", "kind=b", "x"]  # of two levels, one has a row
    assert [row[0] for row in rows] == names
    assert rows[1][1:] == ["", "", "", "", "against n"]
    assert [c.name for c in model.summary().coefficients] == ["site=s", "site=w", "kind=b", "x"]
    assert {len(row) for row in rows} == {len(head)}
    assert "<td>&emsp;s</td>" in model.summary()._repr_html_()
