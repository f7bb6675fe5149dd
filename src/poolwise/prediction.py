"""Prediction: responses and their intervals, of rows that may lack optional columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from poolwise.answer import answered
from poolwise.boosting.candidates import widened
from poolwise.boosting.derived_column import DerivedColumn
from poolwise.boosting.stack import Stack
from poolwise.double_double import Array
from poolwise.errors import MissingHere, NotFinite, PredictionsBounded, TransferWarning
from poolwise.fit import LinearFit, regress
from poolwise.fitted_model import FittedModel
from poolwise.intervals import prediction_deviation, quantile
from poolwise.methods import ROW_METHODS, name_of_method
from poolwise.methods.bayes_pooling import BayesPooling
from poolwise.problem import JointMethod
from poolwise.tables import Table
from poolwise.tables.columns import Column, encoded
from poolwise.wording import listed


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predicted responses, and what to tell about them.

    Parameters
    ----------
    values : array of shape (n,)
        The predictions.
    deviation : array of shape (n,) or None
        Standard deviation of a new response about each, if asked for.
    cautions : tuple of TransferWarning
        Says how many were held between the bounds of the model.
    """

    values: Array
    deviation: Array | None
    cautions: tuple[TransferWarning, ...]


def predictions(
    model: FittedModel, table: Table, columns: Sequence[Column], *, with_deviation: bool = False
) -> Predictions:
    """Predict the response of each row of a table.

    Parameters
    ----------
    model : FittedModel
        The model.
    table : Table
        The rows.
    columns : sequence of Column
        Those columns of the model that the table has.
    with_deviation : bool, default=False
        Whether standard deviations are wanted too.
    """
    predicted, beyond = np.empty(table.rows), 0
    deviation = np.empty(table.rows) if with_deviation else None
    for rows, fit, values in _parts(model, table, columns):
        if isinstance(fit, Stack):
            predicted[rows] = fit.predict(values)
            if deviation is not None:
                deviation[rows] = fit.spread.deviation
            continue
        line = fit.line(values)
        predicted[rows] = fit.bounded(line)
        beyond += int(np.count_nonzero(predicted[rows] != line))
        if deviation is not None:
            deviation[rows] = prediction_deviation(fit, values, name_of_method(model.method))
    bounds = model.fit.bounds
    told = (PredictionsBounded(beyond, table.rows, bounds),) if beyond and bounds else ()
    return Predictions(predicted, deviation, told)


def intervals(
    model: FittedModel, table: Table, columns: Sequence[Column], coverage: float
) -> Array:
    """Return the interval that holds the response of each row with a given probability.

    Parameters
    ----------
    model, table, columns
        As in :func:`predictions`.
    coverage : float
        The probability, according to the model.

    Returns
    -------
    array of shape (n, 2)
        Lower and upper ends.
    """
    ends = np.empty((table.rows, 2))
    for rows, fit, values in _parts(model, table, columns):
        if isinstance(fit, Stack):
            width = np.full(len(rows), fit.spread.width(coverage))
            ends[rows] = fit.predict(values)[:, None] + np.outer(width, [-1.0, 1.0])
            continue
        deviation = prediction_deviation(fit, values, name_of_method(model.method))
        width = quantile(fit.tails, coverage) * deviation
        ends[rows] = fit.predict(values)[:, None] + np.outer(width, [-1.0, 1.0])
    return ends


def fits_on(model: FittedModel, patterns: Sequence[Sequence[Column]]) -> list[LinearFit]:
    """Return the fits for rows that have these columns and no others.

    Parameters
    ----------
    model : FittedModel
        The model.
    patterns : sequence of sequences of Column
        Columns of the model: all, or all but some optional ones.
    """
    names = model.fit.names
    known = [{*encoded(has), *(c.name for c in _derived_columns(model, has))} for has in patterns]
    lacking = [sorted(set(names) - there) for there in known]
    wanted = [tuple(lacks) for lacks in lacking if lacks]
    fits = dict(zip(wanted, _fits_without(model, wanted), strict=True)) if wanted else {}
    return [fits[tuple(lacks)] if lacks else model.fit for lacks in lacking]


def _parts(
    model: FittedModel, table: Table, columns: Sequence[Column]
) -> Iterator[tuple[NDArray[np.intp], LinearFit | Stack, Array]]:
    """Yield the rows that have the same columns, what predicts them, and their values."""
    names = [c.name for c in columns]
    missing = table.missing(names)
    counts = zip(names, missing.sum(axis=0), strict=True)
    wrong = {n: int(k) for n, k in counts if k and n not in model.optional}
    if wrong:
        raise MissingHere(wrong, table.rows, list(model.optional))
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
            raise NotFinite(found, table.rows, "X")
        if len(there) == len(model.columns) and model.stack is not None:
            yield rows, model.stack, values
        else:
            yield rows, fit, widened(values, encoded(there), _derived_columns(model, there))


def _derived_columns(model: FittedModel, has: Sequence[Column]) -> list[DerivedColumn]:
    """Return the derived columns that can be computed from some columns."""
    if model.derived is None:
        return []
    there = set(encoded(has))
    return [c for c in model.derived.columns if there.issuperset(c.inputs)]


def _fits_without(model: FittedModel, patterns: Sequence[Sequence[str]]) -> list[LinearFit]:
    """Return the fits for rows that lack these features."""
    problem = model.known_problem(f"a row without {listed(patterns[0])}")
    method, fit = model.method, model.fit
    if name_of_method(method) in ROW_METHODS:  # their linear part is that of Bayes pooling
        method = BayesPooling()
        if model.derived is not None and model.derived.problem is not None:
            problem = model.derived.problem
    if isinstance(method, JointMethod):
        found = list(method.solve_without(problem, patterns))
    elif fit.pool is not None:
        left = [[n for n in fit.names if n not in lacking] for lacking in patterns]
        found = [
            regress(fit.pool, problem.response, has, intercept=problem.intercept) for has in left
        ]
        if fit.covariance is None:  # imputed rows are not as sure as they look
            found = [replace(one, covariance=None) for one in found]
    else:
        found = [answered(method, problem.without(lacking)).fit for lacking in patterns]
    return [problem.restored(one) for one in found]
