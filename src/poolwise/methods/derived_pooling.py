"""Bayes pooling with columns that trees derive from history."""

from __future__ import annotations

from dataclasses import dataclass, replace

from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.problem import Problem
from poolwise.methods.bayes_pooling import BayesPooling
from poolwise.methods.boosting.derivation import derive
from poolwise.methods.boosting.tree_fit import TreeFit
from poolwise.methods.boosting.tree_method import TreeMethod

FEWEST = 5  # rows of the history, so that each has others to be predicted from


@dataclass(eq=False, repr=False)
class DerivedPooling(TreeMethod):
    r"""Bayes pooling with the prediction from history alone as one more column.

    The column :math:`x^*` is derived as in :class:`BoostedPooling`: trees on all rows, each row
    scored by trees that were grown without it, columns that a source lacks masked; one column for
    each set of columns that sources have. Given :math:`x^*` the model is linear: the coefficient of
    :math:`x^*` says how much of the trees' prediction is used, and the coefficient of another
    column what it adds.

    It costs less than :class:`BoostedPooling`. It is better than Bayes pooling if the effects of
    shared columns are not linear; effects of new columns stay linear.

    Assumes what :class:`BayesPooling` does, of the columns and :math:`x^*` together. The covariance
    takes :math:`x^*` as it is, without the error of the trees.

    Parameters
    ----------
    random_state, most_rows
        As in :class:`BoostedPooling`.

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
    {'x0': -0.0, 'x1': 1.0, 'boosted': 0.8}
    """

    def solve(self, problem: Problem) -> LinearFit | TreeFit:
        """Return the linear fit with derived columns."""
        self.check("derived_pooling", problem)
        at_hand = [problem.sources[n].rows for n in problem.source_rows if n in problem.sources]
        if sum(at_hand) < FEWEST:
            few = f"Tables with fewer than {FEWEST} rows are too few for trees"
            fit = BayesPooling().solve(problem)
            return replace(fit, reason=f"{few}: this is bayes_pooling.")
        derivation = derive(problem, seed=self.random_state, most_rows=self.most_rows)
        wide = derivation.problem.without_rows()
        return TreeFit(problem.features, derivation.columns, BayesPooling().solve(wide), wide)
