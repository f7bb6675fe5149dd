"""Derived pooling: Bayes pooling with derived columns, which trees have learnt from history."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.base import BaseEstimator

from poolwise.answer import Answer, Derived
from poolwise.boosting.booster import Learner, grower
from poolwise.boosting.deriving import derive
from poolwise.boosting.reading_rows import check_rows
from poolwise.methods.bayes_pooling import BayesPooling
from poolwise.problem import Problem

FEWEST = 5  # rows of the history, so that each has others to be predicted from


@dataclass(eq=False, repr=False)
class DerivedPooling(BaseEstimator):
    r"""Bayes pooling with what history alone would predict as one more column.

    The column :math:`x^*` is that of :class:`BoostedPooling`: trees on all rows, each row scored by
    trees that have not seen it, columns that a source lacks masked; one for each set of columns
    that sources have. Given :math:`x^*` the model is
    linear, so its coefficients can be read: that of :math:`x^*` says how much of what trees predict
    is taken over, and that of another column what it adds to it.

    The cheap middle way: better than Bayes pooling where shared columns act in bends and steps,
    and blind to bends in the new ones.

    Assumes what :class:`BayesPooling` does, of the columns and :math:`x^*` together. The covariance
    takes :math:`x^*` as it is, without the error of the trees.

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
    >>> X = rng.uniform(-2.0, 2.0, size=(860, 2))
    >>> y = np.sin(3.0 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=860)
    >>> model = PooledRegressor("derived_pooling")
    >>> _ = model.fit(X[800:], y[800:], sources=(X[:800, :1], y[:800]))
    >>> dict(zip(model.coef_names_, model.coef_.round(1).tolist()))
    {'x0': -0.1, 'x1': 1.0, 'boosted': 0.8}
    """

    random_state: int = 0
    most_rows: int = 200_000
    learner: Learner = "sklearn"

    def answer(self, problem: Problem) -> Answer:
        """Return the linear fit with derived columns."""
        check_rows(self, "derived_pooling", problem)
        at_hand = [problem.sources[n].rows for n in problem.source_rows if n in problem.sources]
        if sum(at_hand) < FEWEST:
            few = f"Sources with fewer than {FEWEST} rows at hand teach trees nothing"
            fit = BayesPooling().solve(problem)
            return Answer(self, problem, fit, reason=f"{few}: this is bayes_pooling.")
        grow = grower(self.learner, self.random_state)
        derivation = derive(problem, grow, seed=self.random_state, most_rows=self.most_rows)
        wide = derivation.problem.without_rows()
        fit = BayesPooling().solve(wide)
        return Answer(self, problem, fit, Derived(derivation.columns, wide))
