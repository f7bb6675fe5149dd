"""Boosted pooling: linear fits and trees, weighed by what they get right on target rows."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.base import BaseEstimator

from poolwise.answer import Answer, Derived
from poolwise.boosting.booster import Learner, grower
from poolwise.boosting.deriving import derive
from poolwise.boosting.making import candidates
from poolwise.boosting.reading_rows import check_rows, target_rows
from poolwise.boosting.stack import stacked
from poolwise.methods.bayes_pooling import BayesPooling
from poolwise.problem import Problem

FEWEST = 5  # target rows by whose errors candidates can be weighed


@dataclass(eq=False, repr=False)
class BoostedPooling(BaseEstimator):
    r"""Bayes pooling and boosted trees together, when the truth may not be linear.

    Trees are boosted on the rows of target and sources together, a source's rows without the
    columns that it lacks. With these columns masked they give a *derived column* :math:`x^*`: what
    history alone would predict, a function of shared columns, known in every table. Sources with
    different columns give one for each set of columns. Candidates are

    =====================  ==========================================================
    ``linear``             Bayes pooling on the columns as they are
    ``derived``            Bayes pooling with :math:`x^*` as one more column
    ``target_line``        Bayes pooling without history, on the target alone
    ``pooled_trees``       the trees, given all columns, as many as predict history best
    ``all_pooled_trees``   the trees, all of them
    ``target_trees``       trees of eight leaves on the target alone
    ``deep_target_trees``  trees of thirty-one leaves on the target alone
    ``corrected``          ``derived``, and trees on what it leaves of the target
    =====================  ==========================================================

    Each is held within the range of all responses and a twentieth beyond. The prediction is their
    weighted mean; the weights are a posterior mean given the errors on target rows that a candidate
    was made without. So the answer is not linear: there is no ``coef_``.

    Assumes as little as trees do, and exchangeable target rows. It reads the rows of the target
    and of those sources that have some; sources that are moments count in the linear candidates.

    Parameters
    ----------
    random_state : int, default=0
        Of the folds. The same number gives the same bits, with any number of threads.
    most_rows : int, default=200_000
        Rows of the history that trees learn from; of a longer one so many are drawn.
    learner : {"sklearn", "lightgbm"}, default="sklearn"
        Whose trees: scikit-learn's, or LightGBM's (``poolwise[lightgbm]``), which are as good; a
        fit then takes about 0.7 of the time.

    Examples
    --------
    >>> import numpy as np
    >>> from poolwise import PooledRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2.0, 2.0, size=(860, 2))
    >>> y = np.sin(3.0 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=860)
    >>> model = PooledRegressor("boosted_pooling")
    >>> _ = model.fit(X[800:], y[800:], sources=(X[:800, :1], y[:800]))
    >>> model.predict([[0.5, 0.0], [-0.5, 0.0]]).round(1)
    array([ 0.9, -1. ])
    """

    random_state: int = 0
    most_rows: int = 200_000
    learner: Learner = "sklearn"

    def answer(self, problem: Problem) -> Answer:
        """Return the weighted candidates, beside the linear fit with derived columns."""
        check_rows(self, "boosted_pooling", problem)
        solve = BayesPooling().solve
        if target_rows(problem) < FEWEST or problem.target.is_constant(problem.response):
            few = f"A target of fewer than {FEWEST} rows, or of one response, weighs no candidates"
            return Answer(self, problem, solve(problem), reason=f"{few}: this is bayes_pooling.")
        grow = grower(self.learner, self.random_state)
        derivation = derive(problem, grow, seed=self.random_state, most_rows=self.most_rows)
        made = candidates(problem, derivation, solve, grow)
        stack = stacked(problem, made, derivation.target)
        derived = Derived(derivation.columns, derivation.problem.without_rows(), stack)
        return Answer(self, problem, made.all.derived, derived)
