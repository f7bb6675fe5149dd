"""The state of a fitted estimator."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from poolwise._typing import Array
from poolwise.errors import BadOption, NeedsRows, NotAvailable, PoolwiseWarning
from poolwise.linear.fit import Fit
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.problem import Method, Problem
from poolwise.linear.response_transform import ResponseTransform
from poolwise.linear.theory import transfer_gain_of
from poolwise.methods import method_of, name_of_method
from poolwise.numerics.options import check_precision, checked_jobs
from poolwise.tables.column_account import Account
from poolwise.tables.data_checks import suspicions
from poolwise.tables.encoding import Column, Levels
from poolwise.tables.intake import Intake, MomentsIntake, gather

COEFFICIENTS = ("coef_", "coef_names_", "coef_cov_", "intercept_", "standard_errors_")
ATTRIBUTES = (  # of a fitted estimator: fields and properties of FittedModel
    *("method_", "columns_", "optional_columns_", "response_", "fit_", "problem_", "cautions_"),
    "account_",
    *("reason_", "conflict_", "transfer_gain_", *COEFFICIENTS),
)


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A fitted model, without the rows it was made from.

    Its fields and properties are the attributes of a fitted regressor, which end in an underscore.
    """

    method: Method  # that made the fit
    columns: tuple[Column, ...]  # raw columns and their encoding
    optional_columns: list[str]  # raw columns that rows to predict may lack
    response: str
    transform: ResponseTransform  # of the response, for the fit and its moments
    own_name: str | None  # the name that the response itself had
    levels: Mapping[str, Levels | None]  # the columns as moments are matched with them in an update
    fit: Fit
    problem: Problem | None  # the moments of the fit, unless they were left out
    cautions: tuple[str, ...]  # warnings given at fit
    account: Account | None = None  # of columns and rows at fit; None for moments alone

    @property
    def left_out(self) -> list[str]:
        """Names of the columns of any table that were left out at fit."""
        return [] if self.account is None else [c.name for c in self.account.dropped]

    @property
    def lacked_by_stacked(self) -> frozenset[str]:
        """Names of the columns that history stacked under the target lacked at fit."""
        tables = () if self.account is None else self.account.tables
        return frozenset(name for table in tables for name in table.lacks)

    @property
    def name(self) -> str:
        """Name of the method."""
        return name_of_method(self.method)

    @property
    def reason(self) -> str:
        """Why this method, where one was chosen."""
        return self.fit.parts().reason

    @property
    def conflict(self) -> dict[str, float]:
        """Probability that a source contradicts the target, for each source that was judged."""
        return dict(self.fit.parts().linear.conflict)

    @property
    def coef(self) -> Array:
        """Coefficients."""
        return self._line("coef_").coef

    @property
    def coef_names(self) -> NDArray[np.object_]:
        """Names of the coefficients."""
        return np.array(self._line("coef_names_").names, dtype=object)

    @property
    def intercept(self) -> float:
        """Intercept."""
        return self._line("intercept_").intercept

    @property
    def coef_cov(self) -> Array | None:
        """Covariance of the coefficients, where it is known."""
        covariance = self._line("coef_cov_").covariance
        return None if covariance is None else covariance[1:, 1:]

    @property
    def standard_errors(self) -> Array | None:
        """Standard errors of the intercept and the coefficients, in this order."""
        return self._line("standard_errors_").standard_errors

    @property
    def transfer_gain(self) -> float | None:
        """Expected reduction of the squared error against least squares, according to the model."""
        problem, line = self.known_problem("transfer_gain_"), self.fit.parts().line
        return None if line is None else transfer_gain_of(problem, line)  # for linear fits only

    @property
    def attributes(self) -> list[str]:
        """Names of the fitted attributes: a mean of linear models and trees lacks coefficients."""
        lacking = COEFFICIENTS if self.fit.parts().coefficients is None else ()
        return [name for name in ATTRIBUTES if name not in lacking]

    def known_problem(self, purpose: str) -> Problem:
        """Return the moments of the fit; raise an error if the model was saved without them."""
        if self.problem is None:
            raise NeedsRows.moments_left_out(purpose)
        return self.problem

    def _line(self, attribute: str) -> LinearFit:
        """Return the linear fit that predicts; raise an error if there is no such fit."""
        if (line := self.fit.parts().coefficients) is None:
            raise NotAvailable(
                f"There is no {attribute}: {self.name} is a weighted mean of linear models and "
                "trees.",
                "summary() has the weights and the effect of each new column; fit_.linear is the "
                "linear candidate with derived columns; derived_pooling and bayes_pooling have "
                "coefficients.",
            )
        return line


class FittedAttributes(BaseEstimator):
    """The attributes of a fitted estimator: fields of `FittedModel`, with an underscore added."""

    def __getattr__(self, name: str) -> Any:
        """Return a fitted attribute."""
        if name in ATTRIBUTES and "_fitted" in self.__dict__:
            return getattr(self._fitted, name[:-1])
        return object.__getattribute__(self, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *getattr(vars(self).get("_fitted"), "attributes", ())]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def solved(
    method: Any, intake: MomentsIntake, own_name: str | None
) -> tuple[FittedModel, tuple[PoolwiseWarning, ...]]:
    """Solve a problem by a method, given by name or as an object; return the model and warnings."""
    own = method_of(method)
    if own is method:
        own = clone(own, safe=False)  # the caller cannot change it after the fit
    problem = intake.problem
    fit = own.solve(problem)
    parts = fit.parts()
    told = (*intake.cautions, *suspicions(problem, intake.without_units), *parts.linear.cautions)
    model = FittedModel(
        method=own if parts.chosen is None else parts.chosen,
        columns=intake.columns,
        optional_columns=[c.name for c in intake.columns if c.name in intake.optional],
        response=intake.response,
        transform=intake.transform,
        own_name=own_name,
        levels=dict(intake.levels),
        fit=fit,
        problem=problem.without_rows(),
        cautions=tuple(str(caution) for caution in told),
        account=intake.account,
    )
    return model, told


def fitted(estimator: Any) -> FittedModel:
    """Return the state of an estimator; raise scikit-learn's error if it is not fitted."""
    check_is_fitted(estimator)
    model: FittedModel = estimator._fitted
    return model


def set_strict(estimator: Any, *, strict: bool) -> None:
    """Change whether a fitted estimator raises an error for texts that no table had at fit."""
    model = fitted(estimator)
    columns = tuple(replace(c, strict=strict) for c in model.columns)
    estimator._fitted = replace(model, columns=columns)


def fit_kept(
    estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, **given: Any
) -> tuple[Intake, tuple[PoolwiseWarning, ...]]:
    """Fit an estimator; return the tables as they were read, and warnings.

    For callers that need the same tables again: history may take long to read, or come only once.
    ``given`` are sources, and the name of the target in messages.
    """
    check_options(estimator)
    intake = gather(
        X,
        y,
        weights=sample_weight,
        response=estimator.response,
        intercept=estimator.fit_intercept,
        max_levels=estimator.max_levels,
        strict=estimator.strict,
        precision=estimator.precision,
        jobs=checked_jobs(estimator.n_jobs),
        estimator=estimator,
        transform=estimator.response_transform,
        **given,
    )
    estimator._fitted, told = solved(estimator.method, intake, intake.own_name)
    return intake, told


def check_options(estimator: Any) -> None:
    """Raise an error for an unknown option of an estimator."""
    most = estimator.max_levels
    if not isinstance(most, int | np.integer) or isinstance(most, bool) or most < 2:
        raise BadOption.of("max_levels", most, "a whole number, at least 2")
    check_precision(estimator.precision)


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Restore an estimator when its fit fails."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


def warn(cautions: Iterable[PoolwiseWarning]) -> None:
    """Warn the caller of the public method that calls this."""
    for caution in cautions:
        warnings.warn(caution, stacklevel=3)
