"""What the methods that grow trees have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

from sklearn.base import BaseEstimator

from poolwise.errors import BadOption, NeedsRows
from poolwise.linear.fit import Fit
from poolwise.linear.problem import Problem
from poolwise.methods.bayes_pooling import BayesPooling
from poolwise.methods.boosting.booster import check_learner
from poolwise.methods.boosting.tree_fit import TreeFit
from poolwise.numerics.options import check_seed


@dataclass(eq=False, repr=False)
class TreeMethod(BaseEstimator):
    """A method that grows trees on rows; without enough of them it is Bayes pooling.

    :class:`BoostedPooling` describes the parameters.
    """

    random_state: int = 0
    most_rows: int = 200_000
    needs_rows = True

    def check(self, name: str, problem: Problem) -> None:
        """Raise an error for invalid options, and for a target without rows."""
        check_seed(self.random_state)
        if not (isinstance(self.most_rows, Integral) and self.most_rows >= 1):
            raise BadOption.of("most_rows", self.most_rows, "a whole number from 1 on")
        check_learner()
        if problem.target_rows is None:
            raise NeedsRows(
                f"{name} learns from rows, and of the target only moments are available.",
                "Fit it to rows, or use bayes_pooling, which needs only moments.",
            )

    def solve_without(
        self, problem: Problem, patterns: Sequence[Sequence[str]], fit: Fit
    ) -> Sequence[Fit]:
        """Return linear fits of the features that are left and of columns derived from them."""
        if isinstance(fit, TreeFit):
            return fit.without(patterns)
        return BayesPooling().solve_without(problem, patterns, fit)
