"""Answer: what a method makes of a problem; a linear fit, and more where trees had a say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from poolwise.boosting.candidates import widened
from poolwise.boosting.derived_column import DerivedColumn
from poolwise.boosting.stack import Stack
from poolwise.double_double import Array
from poolwise.fit import LinearFit
from poolwise.intervals import quantile
from poolwise.problem import Method, Problem


@dataclass(frozen=True, eq=False)
class Derived:
    """What trees add to a linear fit.

    Parameters
    ----------
    columns : tuple of DerivedColumn
        Columns that are computed from others.
    problem : Problem or None
        The problem with these columns, unless its moments are left out.
    stack : Stack or None
        The candidates whose weighted mean predicts; None where the linear fit does.
    """

    columns: tuple[DerivedColumn, ...]
    problem: Problem | None
    stack: Stack | None = None


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method makes of a problem.

    Parameters
    ----------
    method : Method or RowMethod
        Whose answer it is; that which was chosen, where one chooses.
    problem : Problem
        What was asked.
    fit : LinearFit
        The linear fit, of the features and of derived columns.
    derived : Derived or None
        What trees add.
    reason : str
        Why this method, where one was chosen.
    """

    method: AnyMethod
    problem: Problem
    fit: LinearFit
    derived: Derived | None = None
    reason: str = ""

    def restored(self) -> Answer:
        """Return the answer for columns as the user knows them."""
        problem, derived = self.problem, self.derived
        if derived is None or derived.problem is None or not problem.units:
            return replace(self, fit=problem.restored(self.fit))
        own = [problem.units.get(n, 0) for n in problem.features]
        y = problem.units.get(problem.response, 0)
        columns = tuple(c.times_units(own, y) for c in derived.columns)
        stack = None if derived.stack is None else derived.stack.restored(derived.problem)
        return replace(
            self,
            fit=derived.problem.restored(self.fit),
            derived=replace(derived, columns=columns, stack=stack),
        )

    def predict(self, rows: Array) -> Array:
        """Return the prediction for each row of the problem's features."""
        if self.derived is None:
            return self.fit.predict(rows)
        if self.derived.stack is not None:
            return self.derived.stack.predict(rows)
        return self.fit.predict(self._wide(rows))

    def width(self, rows: Array, coverage: float) -> Array | None:
        """Return half the width of the interval of each row's response, where there is one.

        Parameters
        ----------
        rows : array of shape (n, features)
            Rows of the problem's features.
        coverage : float
            The probability that an interval holds the response.
        """
        if self.derived is not None and self.derived.stack is not None:
            return np.full(len(rows), self.derived.stack.spread.width(coverage))
        deviation = self.fit.deviation(self._wide(rows))
        return None if deviation is None else quantile(self.fit.tails, coverage) * deviation

    def _wide(self, rows: Array) -> Array:
        """Return rows with their derived columns."""
        if self.derived is None:
            return rows
        return widened(rows, self.problem.features, self.derived.columns)


@runtime_checkable
class RowMethod(Protocol):
    """A method whose answer may be more than a linear fit; it reads rows."""

    def answer(self, problem: Problem) -> Answer:
        """Return the answer of this method."""
        ...


AnyMethod: TypeAlias = Method | RowMethod


def answered(method: AnyMethod, problem: Problem) -> Answer:
    """Let a method answer a problem, in the units of the problem."""
    if isinstance(method, RowMethod):
        return method.answer(problem)
    return Answer(method, problem, method.solve(problem))


def is_method(thing: Any) -> bool:
    """Say whether something can answer a problem."""
    return not isinstance(thing, type) and (hasattr(thing, "solve") or hasattr(thing, "answer"))
