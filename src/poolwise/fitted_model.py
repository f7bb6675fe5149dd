"""FittedModel: all that is kept of a fit; made by letting a method answer a problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from poolwise.answer import AnyMethod, Derived, answered
from poolwise.boosting.stack import Stack
from poolwise.errors import MomentsLeftOut, TransferWarning
from poolwise.fit import LinearFit
from poolwise.methods import method_of
from poolwise.problem import Problem
from poolwise.suspicions import suspicions
from poolwise.tables.columns import Column
from poolwise.tables.moments_table import Levels


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A fitted model, without the rows it was made from.

    Parameters
    ----------
    method : Method or RowMethod
        The method that made the fit.
    columns : tuple of Column
        The raw columns and their encoding.
    optional : tuple of str
        Raw columns that rows to predict may lack.
    response : str
        Name of the response.
    own_name : str or None
        The name that the response itself brought along.
    levels : mapping of str to Levels or None
        The columns as moments are matched with them in an update.
    fit : LinearFit
        The fit, of derived columns too where there are any.
    working_fit : LinearFit
        The same in the units of the problem.
    problem : Problem or None
        The moments it was made from, unless they are left out.
    cautions : tuple of str
        Warnings given at fit.
    derived : Derived or None
        Derived columns, and candidates whose weighted mean predicts.
    reason : str
        Why this method, where one was chosen.
    """

    method: AnyMethod
    columns: tuple[Column, ...]
    optional: tuple[str, ...]
    response: str
    own_name: str | None
    levels: Mapping[str, Levels | None]
    fit: LinearFit
    working_fit: LinearFit
    problem: Problem | None
    cautions: tuple[str, ...]
    derived: Derived | None = None
    reason: str = ""

    @property
    def stack(self) -> Stack | None:
        """The candidates whose weighted mean predicts complete rows, where there are any."""
        return None if self.derived is None else self.derived.stack

    def known_problem(self, purpose: str) -> Problem:
        """Return the moments of the fit, which a model from a file may lack.

        Parameters
        ----------
        purpose : str
            What needs them, for the error where they are left out.
        """
        if self.problem is None:
            raise MomentsLeftOut(purpose)
        return self.problem


def solved(
    method: Any,
    problem: Problem,
    columns: tuple[Column, ...],
    *,
    optional: frozenset[str],
    own_name: str | None,
    levels: Mapping[str, Levels | None],
    cautions: Sequence[TransferWarning],
) -> tuple[FittedModel, tuple[TransferWarning, ...]]:
    """Let a method answer a problem; return the model, and what to warn of.

    Parameters
    ----------
    method : str or Method
        The method, by name or as an object.
    problem : Problem
        The moments of the target and its sources.
    columns, optional, own_name, levels
        As in :class:`FittedModel`; columns that are optional and are not there do not count.
    cautions : sequence of TransferWarning
        What reading the tables gave to warn of.
    """
    working = answered(_frozen(method), problem)
    answer = working.restored()
    told = (*cautions, *suspicions(problem), *answer.fit.cautions)
    model = FittedModel(
        method=answer.method,
        columns=columns,
        optional=tuple(c.name for c in columns if c.name in optional),
        response=problem.response,
        own_name=own_name,
        levels=dict(levels),
        fit=answer.fit,
        working_fit=working.fit,  # the same, but for columns of extreme size
        problem=problem.without_rows(),
        cautions=tuple(str(caution) for caution in told),
        derived=answer.derived,
        reason=answer.reason,
    )
    return model, told


def _frozen(method: Any) -> AnyMethod:
    """Return a method of our own, which the caller cannot change after the fit."""
    found = method_of(method)
    return clone(found, safe=False) if found is method else found
