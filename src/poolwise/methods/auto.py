"""Bayes pooling, unless trees have a lower error on target rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from poolwise.errors import NotInstalled
from poolwise.linear.fit import HeldOutErrors
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.problem import Problem
from poolwise.methods.bayes_pooling import BayesPooling
from poolwise.methods.boosted_pooling import FEWEST, BoostedPooling
from poolwise.methods.boosting.booster import check_learner
from poolwise.methods.boosting.tree_fit import TreeFit
from poolwise.methods.boosting.tree_method import TreeMethod

LEAST = 0.01  # reduction of the squared error by trees, below which the fit stays linear


@dataclass(eq=False, repr=False)
class Auto(TreeMethod):
    """Bayes pooling, or boosted pooling if its error on target rows is lower.

    Both predict every target row by models that were not fitted on it. Boosted pooling is chosen if
    its squared error is smaller by more than 1 %, which is half a percent of the error itself;
    otherwise :class:`BayesPooling`, which has coefficients. Its loss is small where trees were not
    needed, since the linear model is one of its candidates. ``model.reason_`` has the numbers in
    words, and ``model.method_`` is the method that was chosen.

    Assumes what this method assumes, and exchangeable target rows. Below five rows it stays linear.
    It also stays linear where LightGBM, which grows
    the trees, cannot be loaded.

    Parameters
    ----------
    random_state, most_rows
        As in :class:`BoostedPooling`.
    """

    def solve(self, problem: Problem) -> LinearFit | TreeFit:
        """Return the fit of the method that was chosen, and the reason."""
        linear = BayesPooling()
        if problem.target_rows is None:
            reason = "Trees need rows, and only moments are available: bayes_pooling."
            return replace(linear.solve(problem), reason=reason, chosen=linear)
        try:
            check_learner()
        except NotInstalled as error:
            reason = f"{error.message.removesuffix('.')}: bayes_pooling."
            return replace(linear.solve(problem), reason=reason, chosen=linear)
        boosted = BoostedPooling(self.random_state, self.most_rows)
        fit = boosted.solve(problem)
        if isinstance(fit, LinearFit):
            reason = f"Fewer than {FEWEST} recent rows, or a constant response, cannot test trees"
            return replace(fit, reason=f"{reason}: bayes_pooling.", chosen=linear)
        assert fit.stack is not None
        reason, pays = _reason(fit.stack.held_out)
        if pays:
            return replace(fit, reason=reason, chosen=boosted)
        return replace(fit.stack.candidates.linear, reason=reason, chosen=linear)


def _reason(held_out: HeldOutErrors) -> tuple[str, bool]:
    """Return the reason in words, and whether trees are better."""
    seen = held_out.in_words()
    if held_out.fall > LEAST:
        return f"{seen}: boosted_pooling.", True
    return f"{seen}, and a reduction by {LEAST:.0%} is needed: bayes_pooling.", False
