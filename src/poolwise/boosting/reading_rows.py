"""Reading rows: what methods that learn from rows ask of their options and of a problem."""

from __future__ import annotations

from numbers import Integral
from typing import Protocol

from poolwise.boosting.learning_rows import counted
from poolwise.errors import BadOption, NeedsTargetRows
from poolwise.options import check_seed
from poolwise.problem import Problem


class LearningOptions(Protocol):
    """The options of a method that learns from rows."""

    random_state: int
    most_rows: int


def check_rows(method: LearningOptions, name: str, problem: Problem) -> None:
    """Refuse options that mean nothing, and a target without rows."""
    check_seed(method.random_state)
    if not (isinstance(method.most_rows, Integral) and method.most_rows >= 1):
        raise BadOption("most_rows", method.most_rows, "a whole number from 1 on")
    if problem.target_rows is None:
        raise NeedsTargetRows(name)


def target_rows(problem: Problem) -> int:
    """Count the rows of the target that have a weight."""
    rows = problem.target_rows
    if rows is None:
        return 0
    return sum(len(block) for block, _ in counted(rows, (problem.response,)))
