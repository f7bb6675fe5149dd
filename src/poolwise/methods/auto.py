"""Auto: Bayes pooling, unless errors on target rows say that trees pay."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scipy.special import stdtr
from sklearn.base import BaseEstimator

from poolwise.answer import Answer
from poolwise.boosting.booster import Learner
from poolwise.boosting.evidence import Evidence
from poolwise.methods.bayes_pooling import BayesPooling
from poolwise.methods.boosted_pooling import FEWEST, BoostedPooling
from poolwise.problem import Problem

SURE = 0.95  # probability that trees pay, below which the answer stays linear


@dataclass(eq=False, repr=False)
class Auto(BaseEstimator):
    """The linear answer, unless the target's own rows say that the one with trees is better.

    Both predict every target row without having seen it. Trees are taken if their squared error is
    smaller by more than chance explains, at the level of 5 %; else the answer of
    :class:`BayesPooling` is kept, whose coefficients can be read. ``model.reason_`` has the numbers
    in words, and ``model.method_`` is the method that was taken.

    Assumes what that method does, and exchangeable target rows. Below five rows it stays linear,
    and with few the test often finds nothing.

    Parameters
    ----------
    random_state : int, default=0
        Of the folds. The same number gives the same bits, with any number of threads.
    most_rows : int, default=200_000
        Rows of the history that trees learn from; of a longer one so many are drawn.
    learner : {"sklearn", "lightgbm"}, default="sklearn"
        Whose trees: scikit-learn's, or LightGBM's (``poolwise[lightgbm]``), which are as good;
        :class:`BoostedPooling` says how long they take.

    Examples
    --------
    >>> import numpy as np
    >>> from poolwise import PooledRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(460, 2))
    >>> y = X @ [1.0, 2.0] + rng.normal(size=460)
    >>> model = PooledRegressor("auto").fit(X[400:], y[400:], sources=(X[:400, :1], y[:400]))
    >>> model.method_
    BayesPooling()
    """

    random_state: int = 0
    most_rows: int = 200_000
    learner: Learner = "sklearn"

    def answer(self, problem: Problem) -> Answer:
        """Return the answer of the method that was taken, and why."""
        linear = BayesPooling()
        if problem.target_rows is None:
            reason = "There are no rows that trees could learn from: bayes_pooling."
            return Answer(linear, problem, linear.solve(problem), reason=reason)
        trees = BoostedPooling(self.random_state, self.most_rows, self.learner).answer(problem)
        if trees.derived is None or trees.derived.stack is None:
            reason = f"Fewer than {FEWEST} target rows, or one response, say nothing about trees"
            return Answer(linear, problem, trees.fit, reason=f"{reason}: bayes_pooling.")
        stack = trees.derived.stack
        reason, pays = _reason(stack.evidence)
        if pays:
            return replace(trees, reason=reason)
        return Answer(linear, problem, stack.candidates.linear, reason=reason)


def _reason(evidence: Evidence) -> tuple[str, bool]:
    """Say what the target's rows say, and whether trees pay."""
    pays = float(stdtr(evidence.rows - 1, evidence.sureness)) > SURE
    seen = evidence.in_words()
    if pays:
        return f"{seen}: boosted_pooling.", True
    return f"{seen}, which does not show that trees pay: bayes_pooling.", False
