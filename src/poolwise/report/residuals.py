"""Residuals of target rows against predictions made without them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poolwise.errors import NeedsRows, TooFewRows
from poolwise.evaluation.splitting import Splitting
from poolwise.evaluation.target_folds import TargetRows
from poolwise.linear.problem import Method
from poolwise.moments.progress import tracked
from poolwise.tables.intake import Intake
from poolwise.wording import plural

DRAWN = 300  # points of a figure, at most
LISTED = 12  # outliers that are named
LEVEL = 0.05  # probability of calling any row an outlier where none is


def residuals(
    intake: Intake,
    method: Method,
    *,
    splitting: Splitting,
    random_state: int = 0,
    progress: bool | None = None,
) -> dict[str, Any]:
    """Predict held-out target rows in the folds of the comparison, once; return the residuals.

    A row is an outlier if its residual is beyond the interval that holds all rows with a
    probability of 95 %, according to the model.
    """
    data, rows = TargetRows.of(intake), intake.rows.count
    predicted, left, inside, beyond = (np.full(rows, np.nan) for _ in range(4))
    is_known = True
    try:
        folds = data.folds(replace(splitting, repeats=1), 1, random_state)
        for train, test in tracked(folds, len(folds), "Residuals", show=progress):
            X, fit = data.X[test], data.fit_method(method, train, intake.problem.intercept)
            predicted[test] = fit.predict(X)
            left[test] = data.y[test] - predicted[test]
            width, limit = fit.half_width(X, 0.95), fit.half_width(X, 1.0 - LEVEL / rows)
            if width is None or limit is None:
                is_known = False
                continue
            inside[test] = np.abs(left[test]) <= width
            beyond[test] = np.abs(left[test]) - limit
    except (TooFewRows, NeedsRows) as error:
        return {"unavailable": str(error)}
    out = np.flatnonzero(beyond > 0.0) if is_known else np.zeros(0, dtype=np.intp)
    out = out[np.argsort(-np.abs(left[out]), kind="stable")]
    weights = np.ones(rows) if intake.rows.weights is None else intake.rows.weights
    far, tested = set(out.tolist()), np.flatnonzero(~np.isnan(predicted))

    def point(k: int) -> dict[str, Any]:
        return {
            "row": int(intake.positions[k]) + 1,
            "predicted": float(predicted[k]),
            "observed": float(predicted[k] + left[k]),
            "residual": float(left[k]),
            "is_outlier": k in far,
        }

    found = {
        "folds": len(folds),
        "rows": len(tested),
        "share_inside": (
            float(np.average(inside[tested], weights=weights[tested])) if is_known else None
        ),
        "points": [point(k) for k in _drawn(tested, out, random_state)],
        "outliers": [point(k) for k in out[:LISTED].tolist()],
        "outlier_count": len(out),
    }
    named = intake.problem.response
    scale = f" Predictions and residuals are of {named}." if intake.transform.name else ""
    return {**found, "text": f"{_text(found)}{scale}"}


def _drawn(rows: NDArray[np.intp], out: NDArray[np.intp], random_state: int) -> list[int]:
    if len(rows) <= DRAWN:
        return list(rows.tolist())
    some = np.random.default_rng(random_state).choice(rows, DRAWN, replace=False)
    return sorted({*some.tolist(), *out[:LISTED].tolist()})


def _text(found: dict[str, Any]) -> str:
    if found["share_inside"] is None:
        return "The method gives no prediction intervals, so outliers cannot be found."
    inside = f"{found['share_inside']:.0%} of them are inside their 95% prediction interval."
    if not found["outlier_count"]:
        return f"{inside} No row is further off than chance explains."
    count = plural(found["outlier_count"], "row")
    return (
        f"{inside} {count} {'is' if found['outlier_count'] == 1 else 'are'} further off than "
        "chance explains: check how they were measured before you leave any out."
    )
