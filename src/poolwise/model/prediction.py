"""Predicted responses and intervals of rows that may lack optional columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.errors import BadOption, NotAvailable, NotFinite, PoolwiseWarning, PredictionsBounded
from poolwise.linear.fit import Fit
from poolwise.linear.response_transform import Statistic
from poolwise.methods import solved_without
from poolwise.model.fitted_model import FittedModel, fitted
from poolwise.tables.encoding import Column, encoded
from poolwise.tables.intake import open_rows
from poolwise.tables.memory import Table
from poolwise.wording import counted, listed

MOST_NAMED = 5  # rows that were moved to a bound
FAR = 0.25  # moves by more than this share of the bounds' width give a warning


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predicted responses, and warnings."""

    values: Array
    deviation: Array | None  # standard deviation of a new response about each, if asked for
    cautions: tuple[PoolwiseWarning, ...]  # of predictions that a bound held back

    @property
    def warnings(self) -> tuple[PoolwiseWarning, ...]:
        """Cautions about moves by more than a quarter of the bounds' width."""
        return tuple(c for c in self.cautions if c.about["is_far"])


def predictions(
    estimator: Any, X: Any, *, with_deviation: bool = False, statistic: Statistic = "mean"
) -> Predictions:
    """Predict the response of each row, with standard deviations if asked for."""
    if statistic not in ("mean", "median"):
        raise BadOption.of("statistic", statistic, "'mean' or 'median'")
    model = fitted(estimator)
    transform = model.transform
    table, columns = open_rows(estimator, X, model.columns, model.optional_columns)
    predicted, beyond, columns_led = np.empty(table.rows), [], list[str]()
    bounds, is_far = model.fit.parts().linear.bounds or (0.0, 0.0), False
    margin = FAR * (bounds[1] - bounds[0])
    deviation = np.empty(table.rows) if with_deviation else None
    for rows, fit, values in _groups(model, table, columns):
        found = fit.predict(values)
        predicted[rows] = transform.predicted(fit, found, statistic)
        at = fit.beyond(values, found)
        beyond += rows[at].tolist()
        is_far |= len(fit.beyond(values, found, margin)) > 0
        if len(at) and (line := fit.parts().line) is not None:
            raw = {name: c.name for c in model.columns for name in encoded([c])}
            columns_led += [raw[n] for n in line.leading(values[at]) if raw[n] not in columns_led]
        if deviation is not None:
            deviation[rows] = transform.deviation(found, _known(fit.deviation(values), model))
    if not beyond:
        return Predictions(predicted, deviation, ())
    low, high = transform.inverse(np.array(bounds)).tolist()
    ends = min(low, high), max(low, high)
    return Predictions(
        predicted,
        deviation,
        (_bounded(sorted(beyond), table.rows, ends, columns_led, is_far=is_far),),
    )


def _bounded(
    at: Sequence[int],
    rows: int,
    bounds: tuple[float, float],
    columns: Sequence[str],
    *,
    is_far: bool,
) -> PredictionsBounded:
    (low, high), count = bounds, len(at)
    shown = ", ".join(map(str, at[:MOST_NAMED])) + (", ..." if count > MOST_NAMED else "")
    which = f"{'row' if count == 1 else 'rows'} {shown}, counted from zero"
    why = f" Their predictions are mostly due to {listed(columns, 3)}." if columns else ""
    return PredictionsBounded(
        f"{count:,} of {rows:,} predictions ({which}) fell outside of the bounds, {low:.5g} to "
        f"{high:.5g}, and were set to the nearest bound: a linear model is unreliable far from its "
        f"data.{why}",
        "Check the features of these rows, or switch the bounds off with "
        "method=BayesPooling(bounds=None).",
        bounds=bounds,
        count=count,
        positions=list(at),
        columns=list(columns),
        rows=rows,
        is_far=is_far,
    )


def intervals(estimator: Any, X: Any, coverage: float) -> Array:
    """Return both ends of the interval that holds each response with this probability."""
    model = fitted(estimator)
    table, columns = open_rows(estimator, X, model.columns, model.optional_columns)
    ends = np.empty((table.rows, 2))
    for rows, fit, values in _groups(model, table, columns):
        width = _known(fit.half_width(values, coverage), model)
        ends[rows] = model.transform.ends(fit.predict(values), width)
    return ends


def fits_on(model: FittedModel, patterns: Sequence[Sequence[Column]]) -> list[Fit]:
    """Return the fits for rows that have these columns: all, or all but some optional ones."""
    names = set(encoded(model.columns))
    lacking = [tuple(sorted(names.difference(encoded(has)))) for has in patterns]
    wanted = [lacks for lacks in lacking if lacks]
    fits: dict[tuple[str, ...], Fit] = {}
    if wanted:
        problem = model.known_problem(f"a row without {listed(wanted[0])}")
        found = solved_without(model.method, problem, wanted, model.fit)
        fits = dict(zip(wanted, found, strict=True))
    return [fits[lacks] if lacks else model.fit for lacks in lacking]


def _known(values: Array | None, model: FittedModel) -> Array:
    if values is None:
        raise NotAvailable(
            f"This fit of {model.name} has no standard deviation of its predictions: its theory "
            "gives no covariance, or the noise could not be estimated.",
            "bayes_pooling has one wherever the response varies; target_only and data_pooling have "
            "one if there are more recent rows than coefficients.",
        )
    return values


def _groups(
    model: FittedModel, table: Table, columns: Sequence[Column]
) -> Iterator[tuple[NDArray[np.intp], Fit, Array]]:
    """Yield the rows that have the same columns, their fit and their values."""
    names = [c.name for c in columns]
    missing = table.missing(names)
    counts = zip(names, missing.sum(axis=0), strict=True)
    optional = model.optional_columns
    wrong = {n: int(k) for n, k in counts if k and n not in optional}
    if wrong:
        may = (
            f"Only columns that some table lacks may be missing: {listed(optional)}."
            if optional
            else "No table lacked a column when this model was fitted, so none may be missing."
        )
        raise NotFinite(
            "Rows to predict have NaN in columns that all data had at fit: "
            f"{counted(wrong)} of {table.rows:,} rows. {may}",
            "Impute the others or drop these rows.",
            counts=wrong,
            rows=table.rows,
        )
    patterns, which = np.unique(missing, axis=0, return_inverse=True)
    has = [[c for c, gone in zip(columns, p, strict=True) if not gone] for p in patterns]
    fits = fits_on(model, has)
    for k, (there, fit) in enumerate(zip(has, fits, strict=True)):
        rows = np.flatnonzero(which.reshape(-1) == k)
        part = table if len(patterns) == 1 else table.take(rows)
        values = part.read(there, 0, part.rows)
        bad = np.count_nonzero(~np.isfinite(values), axis=0)
        if bad.any():
            found = {n: int(b) for n, b in zip(encoded(there), bad, strict=True) if b}
            raise NotFinite.of(found, table.rows, "the table to predict")
        yield rows, fit, values
