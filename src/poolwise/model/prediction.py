"""Predicted responses and intervals of rows that may lack optional columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.errors import (
    BadOption,
    DataWarning,
    NotAvailable,
    NotFinite,
    PoolwiseWarning,
    PredictionsBounded,
)
from poolwise.linear.fit import Fit
from poolwise.linear.gaps import FilledFit
from poolwise.linear.joint import Joint, joint_of
from poolwise.linear.response_transform import Statistic
from poolwise.methods import solved_without
from poolwise.model.fitted_model import FittedModel, fitted
from poolwise.tables.checked_tables import open_rows
from poolwise.tables.encoding import Column, encoded
from poolwise.tables.frames import FrameTable
from poolwise.tables.memory import Table
from poolwise.tables.rows_to_predict import notes_on
from poolwise.wording import listed

MOST_NAMED = 5  # rows that were moved to a bound
FEW = 5  # optional columns, so that each set of them has a fit of its own
FAR = 0.25  # moves by more than this share of the bounds' width give a warning


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predicted responses, and warnings."""

    values: Array
    deviation: Array | None  # standard deviation of a new response about each, if asked for
    cautions: tuple[PoolwiseWarning, ...]  # of gaps, new levels, and moves to a bound

    @property
    def warnings(self) -> tuple[PoolwiseWarning, ...]:
        """All cautions but those about moves by less than a quarter of the bounds' width."""
        return tuple(c for c in self.cautions if c.about.get("is_far", True))


def predictions(
    estimator: Any, X: Any, *, with_deviation: bool = False, statistic: Statistic = "mean"
) -> Predictions:
    """Predict the response of each row, with standard deviations if asked for."""
    if statistic not in ("mean", "median"):
        raise BadOption.of("statistic", statistic, "'mean' or 'median'")
    model = fitted(estimator)
    transform = model.transform
    table, columns = open_rows(estimator, X, model.columns, model.left_out, model.optional_columns)
    predicted, beyond, columns_led = np.empty(table.rows), [], list[str]()
    bounds, is_far = model.fit.parts().linear.bounds or (0.0, 0.0), False
    ends = transform.brought_back(bounds)
    margin, range_ = FAR * (bounds[1] - bounds[0]), ends[1] - ends[0]
    deviation = np.empty(table.rows) if with_deviation else None
    for rows, fit, values in _groups(model, table, columns):
        found = fit.predict(values)
        predicted[rows], moved = transform.predicted(fit, values, found, statistic)
        at = np.union1d(fit.beyond(values, found), np.flatnonzero(moved))
        beyond += rows[at].tolist()
        is_far |= len(fit.beyond(values, found, margin)) > 0 or bool((moved > FAR * range_).any())
        if len(at) and (line := fit.parts().line) is not None:
            raw = {name: c.name for c in model.columns for name in encoded([c])}
            columns_led += [raw[n] for n in line.leading(values[at]) if raw[n] not in columns_led]
        if deviation is not None:
            deviation[rows] = transform.deviation(found, _known(fit.deviation(values), model))
    cautions: list[PoolwiseWarning] = [*_notes(model, table, columns)]
    if beyond:
        cautions.append(_bounded(sorted(beyond), table.rows, ends, columns_led, is_far=is_far))
    return Predictions(predicted, deviation, tuple(cautions))


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


def intervals(estimator: Any, X: Any, coverage: float) -> tuple[Array, Sequence[PoolwiseWarning]]:
    """Return both ends of each row's interval, and warnings."""
    model = fitted(estimator)
    table, columns = open_rows(estimator, X, model.columns, model.left_out, model.optional_columns)
    ends = np.empty((table.rows, 2))
    for rows, fit, values in _groups(model, table, columns):
        width = _known(fit.half_width(values, coverage), model)
        ends[rows] = model.transform.ends(fit.predict(values), width)
    return ends, _notes(model, table, columns)


def _notes(model: FittedModel, table: Table, columns: Sequence[Column]) -> list[DataWarning]:
    """Return notes on rows, except on values that history among the rows of the fit lacked.

    An array has no other way to lack an optional column than NaN.
    """
    is_frame = isinstance(table, FrameTable)
    return notes_on(table, columns, model.lacked_by_stacked if is_frame else model.optional_columns)


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
    """Yield the rows that lack the same block of columns, their fit and their values.

    Their other gaps are NaN, and the fit fills them.
    """
    missing = table.missing([c.name for c in columns])
    found = _by_block(model, columns, missing)
    has = [[c for j, c in enumerate(columns) if j not in block] for block in found]
    fits = fits_on(model, has)
    joint = None
    for there, rows, fit in zip(has, found.values(), fits, strict=True):
        part = table if len(rows) == table.rows else table.take(rows)
        values = part.read(there, 0, part.rows)
        if not np.isfinite(values).all():
            bad = np.count_nonzero(np.isinf(values), axis=0)
            if bad.any():
                counts = {n: int(b) for n, b in zip(encoded(there), bad, strict=True) if b}
                raise NotFinite.of(counts, table.rows, "the table to predict")
            joint = joint or _joint(model)
            fit = FilledFit(fit, joint.select(encoded(there)))
        yield rows, fit, values


def _by_block(
    model: FittedModel, columns: Sequence[Column], missing: NDArray[np.bool_]
) -> dict[tuple[int, ...], NDArray[np.intp]]:
    """Return rows by the columns for whose lack the model is solved again.

    With few optional columns these are all optional columns that a row lacks; with many, those of
    the table of the fit that lacks the most columns among those that lack none but the row's.
    """
    optional = [j for j, c in enumerate(columns) if c.name in model.optional_columns]
    everything = np.zeros_like(missing)
    if len(optional) <= FEW and optional:
        everything[:, optional] = missing[:, optional]
        everything[missing.all(axis=1)] = False
    elif optional and model.problem is not None:
        tables = model.problem.sources.values()
        lacks = {tuple(not set(c.outputs) <= {*t.names} for c in columns) for t in tables}
        for block in sorted(map(np.array, lacks), key=np.count_nonzero):
            if block.any() and not block.all():
                everything[~(block & ~missing).any(axis=1)] = block
    patterns, which = np.unique(everything, axis=0, return_inverse=True)
    return {
        tuple(np.flatnonzero(pattern).tolist()): np.flatnonzero(which.reshape(-1) == k)
        for k, pattern in enumerate(patterns)
    }


def _joint(model: FittedModel) -> Joint:
    """Return the joint distribution of the features, from the moments of the fit."""
    problem = model.known_problem("a row with missing values")
    sources = [s.select(problem.shared(s)) for s in problem.sources.values()]
    return joint_of(problem.features, [problem.target], sources)
