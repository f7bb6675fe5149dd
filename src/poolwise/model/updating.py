"""Updates of a fitted model: more rows or fewer, from moments, without the rows of the fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from poolwise.errors import (
    BadColumns,
    BadOption,
    BadSource,
    CannotSubtract,
    NeedsRows,
    PoolwiseWarning,
)
from poolwise.linear.problem import Problem
from poolwise.linear.response_transform import ResponseTransform
from poolwise.methods import needs_rows
from poolwise.model.fitted_model import all_or_nothing, check_options, fitted, solved, warn
from poolwise.moments.moments import Moments
from poolwise.moments.moments_json import is_moments_path
from poolwise.numerics.options import PRECISIONS, Precision, checked_jobs
from poolwise.tables.checked_tables import checked_response, open_rows
from poolwise.tables.column_account import Account, TableAccount
from poolwise.tables.encoding import Levels
from poolwise.tables.intake import MomentsIntake
from poolwise.tables.memory import ArrayTable, Table, name_of
from poolwise.tables.moments_intake import as_moments, gather_moments
from poolwise.tables.moments_table import MomentsTable, kinds_of
from poolwise.tables.response import Response, says_yes_or_no
from poolwise.tables.sources import Sources
from poolwise.tables.table_reader import AtFit, TableReader
from poolwise.wording import listed, plural

Verb: TypeAlias = Literal["add", "subtract"]


class Updating(BaseEstimator):
    """Methods of a regressor that work on moments, without the rows of the fit."""

    def fit_moments(self, target: Moments | str | PathLike[str], sources: Any = None) -> Self:
        """Fit without rows, from moments taken elsewhere.

        Parameters
        ----------
        target : Moments, or the path of a ``.moments.json`` file
            Of all features and of the response, which is named by the parameter ``response``.
            With an indicator for every level of a text column (``site=coast``, ``site=inland``,
            ...) they count as moments of a table with that column, which rows to predict then have.
        sources : Moments or path, or list or mapping of these
            Of some of the features and of the response.

        Returns
        -------
        Self
            The model itself.
        """
        own: Any = self
        with all_or_nothing(self):
            check_options(self)
            intake = gather_moments(
                target,
                sources,
                own.response,
                intercept=own.fit_intercept,
                max_levels=own.max_levels,
                strict=own.strict,
                transform=ResponseTransform.of(own.response_transform),
            )
            own.feature_names_in_ = np.array([c.name for c in intake.columns], dtype=object)
            own.n_features_in_ = len(intake.columns)
            own._fitted, told = solved(own.method, intake, None)
            warn(told)
        return self

    def update(
        self, X: Any = None, y: Any = None, *, sources: Any = None, sample_weight: Any = None
    ) -> Self:
        """Add rows to a fitted model, without the rows it was fitted on.

        The result equals a fit on all rows: to the last bit with ``precision="exact"``, otherwise
        up to rounding; rows with gaps are filled from what the model knows. The columns, their
        levels and the reference level do not change. Methods that read rows, such as
        kernel_transfer, cannot be updated.

        Parameters
        ----------
        X : array-like, data frame, Moments, or path of a ``.moments.json`` file, optional
            Features of further rows of the target. A gap is NaN. Moments
            have the encoded columns and the response, as in ``problem_.target.names``; they may
            have indicators of the other levels too.
        y : array-like of shape (n,), optional
            Their response; not with moments.
        sources : object, optional
            Rows or moments of sources, as in ``fit``. They are added to the source of the same
            name; a new name is a new source.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows of ``X``.

        Returns
        -------
        Self
            The model itself, unchanged if an error is raised.
        """
        with all_or_nothing(self):
            warn(_change(self, X, y, sources, sample_weight, forget=False))
        return self

    def forget(
        self, X: Any = None, y: Any = None, *, sources: Any = None, sample_weight: Any = None
    ) -> Self:
        """Remove rows from a fitted model: the reverse of :meth:`update`.

        The coefficients equal those of a fit on the remaining rows, as after an update. Ranges are
        not narrowed: the bounds of predictions still cover all responses that were ever added.

        Parameters
        ----------
        X, y, sources, sample_weight
            As in :meth:`update`: rows that were in the fit or in an update, under the same source
            and with the same weights.

        Returns
        -------
        Self
            The model itself, unchanged if an error is raised.

        Raises
        ------
        CannotSubtract
            These rows cannot have been part of the fit.
        """
        with all_or_nothing(self):
            warn(_change(self, X, y, sources, sample_weight, forget=True))
        return self


def _change(
    estimator: Any, X: Any, y: Any, sources: Any, weights: Any, *, forget: bool
) -> tuple[PoolwiseWarning, ...]:
    """Add or remove rows, and solve again; return warnings."""
    model = fitted(estimator)
    check_options(estimator)
    if needs_rows(model.method):  # method="auto", which chose it, would solve without rows
        raise NeedsRows(
            f"{model.name} learns from rows, which a model does not keep, so it cannot be updated.",
            "Fit it to all rows again, or use bayes_pooling, which needs only moments.",
        )
    problem = model.known_problem("forget" if forget else "update")
    verb: Verb = "subtract" if forget else "add"
    by_moments = X is None or isinstance(X, Moments) or is_moments_path(X)
    names = tuple(column.name for column in model.columns)
    target: Table = ArrayTable(np.zeros((0, len(names))), names)
    response: Any = np.zeros(0)
    if not by_moments:
        if y is None:
            raise BadOption.of("y", None, "the response of each row of X")
        target = open_rows(estimator, X, model.columns, model.left_out)[0]
        response = y = checked_response(y)
    elif y is not None or weights is not None:
        raise BadOption.of("y" if y is not None else "sample_weight", "given", "None without rows")
    if model.own_name and (name := name_of(y)) not in (None, model.own_name):
        raise BadSource(
            f"The response of these rows is named {name!r}, the model's is {model.own_name!r}.",
            "If they are the same quantity, give them the same name.",
        )
    precision: Precision = estimator.precision
    if precision == "auto":  # as many digits as any table has
        tables = (problem.target, *problem.sources.values())
        precision = max((table.precision for table in tables), key=PRECISIONS.index)
    account = model.account or Account(model.response, (), ())
    reader = TableReader(
        response=Response(
            model.response,
            model.transform,
            "truth" if says_yes_or_no(response) else "number",
            estimator.strict,
            model.own_name,
        ),
        intercept=problem.intercept,
        precision=precision,
        jobs=checked_jobs(estimator.n_jobs),
        at_fit=AtFit(
            columns=model.columns,
            levels=model.levels,
            problem=problem,
            blocks=[table.name for table in account.tables if table.lacks],
        ),
    )
    # scikit-learn, which may cut sources, calls fit alone
    read = reader.read(target, response, weights, Sources(sources))
    if forget and read.filled:
        count = sum(sum(gaps.values()) for gaps in read.filled.values())
        raise CannotSubtract(
            f"Rows with gaps cannot be forgotten: {listed(list(read.filled))} has "
            f"{plural(count, 'missing value')}, and what they were filled with depended on all "
            "rows of the fit.",
            "Fit again on the rows that remain.",
        )
    rows, cautions = read.target, read.cautions
    if by_moments and X is not None:
        given = as_moments(X, "the target")
        model.transform.check_moments(given.names, model.response, "the target")
        rows, told = _encoded(given, problem.target, model.levels, problem.response, verb)
        cautions += tuple(told)
    own = _merged(problem.target, rows, verb, "the target")
    merged = dict(problem.sources)
    for source, part in read.moments.items():
        if source in merged:
            merged[source] = _merged(merged[source], part, verb, f"source {source!r}")
        elif forget and part.weight:
            raise BadSource(
                f"There is no source {source!r} to take rows from; there are "
                f"{listed(list(problem.sources))}.",
                "Rows are forgotten from the source they were given under.",
            )
        else:
            merged[source] = part
    lacking = {
        column.name
        for column in model.columns
        for part in read.moments.values()
        if not set(column.outputs) <= {*part.names}
    }
    new_blocks = [
        TableAccount(name, read.moments[name].rows, lacks=lacks)
        for name, lacks in read.blocks.items()
        if name not in problem.sources
    ]
    change = MomentsIntake(
        problem=Problem(own, merged, problem.response, problem.intercept),
        columns=model.columns,
        levels=model.levels,
        optional=frozenset(lacking.union(model.optional_columns)),
        cautions=cautions,
        response=model.response,
        transform=model.transform,
        account=model.account and replace(account, tables=(*account.tables, *new_blocks)),
    )
    estimator._fitted, warnings = solved(estimator.method, change, model.own_name)
    return warnings


def _encoded(
    given: Moments, own: Moments, levels: Mapping[str, Levels | None], response: str, verb: Verb
) -> tuple[Moments, list[PoolwiseWarning]]:
    """Return moments of the target with the indicators that the model has."""
    table = MomentsTable.of("the target", given, kinds_of(levels), response)
    there = [*(n for n in own.names if n != response or n in given), *table.extra(levels)]
    if there != list(own.names):
        raise BadColumns.differ(own.names, there, verb, "the target")
    return table.part(levels, response)


def _merged(old: Moments, new: Moments, verb: Verb, where: str) -> Moments:
    """Add rows to a table, or subtract them; the columns may be in any order."""
    if set(old.names) != set(new.names):
        raise BadColumns.differ(old.names, new.names, verb, where)
    part = new if old.names == new.names else new.select(old.names)
    return old - part if verb == "subtract" else old + part
