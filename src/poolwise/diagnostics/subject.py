"""Subject: what a diagnosis is about."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from poolwise.errors import MomentsLeftOut, NotAProblem
from poolwise.problem import Problem


def problem_of(given: Any) -> Problem:
    """Return a problem, or that of a fitted regressor.

    Parameters
    ----------
    given : Problem or fitted regressor
        Anything with a ``problem_`` will do.
    """
    if isinstance(given, Problem):
        return given
    if isinstance(given, BaseEstimator) and hasattr(given, "fit"):
        check_is_fitted(given)
        if getattr(given, "problem_", given) is None:
            raise MomentsLeftOut("a diagnosis")
    found = getattr(given, "problem_", None)
    if isinstance(found, Problem):
        return found
    raise NotAProblem(given)
