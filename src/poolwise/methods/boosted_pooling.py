"""A mean of linear fits and trees, weighted by their errors on target rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.problem import Problem
from poolwise.methods.bayes_pooling import BayesPooling
from poolwise.methods.boosting.candidates import candidates
from poolwise.methods.boosting.derivation import derive
from poolwise.methods.boosting.learning_rows import target_rows
from poolwise.methods.boosting.stack import stacked
from poolwise.methods.boosting.tree_fit import TreeFit
from poolwise.methods.boosting.tree_method import TreeMethod

FEWEST = 5  # target rows by whose errors candidates can be weighed


@dataclass(eq=False, repr=False)
class BoostedPooling(TreeMethod):
    r"""Bayes pooling and boosted trees together, when the truth may not be linear.

    Trees are boosted on the rows of target and sources together, a source's rows without the
    columns that it lacks. With these columns masked they give a *derived column* :math:`x^*`: the
    prediction from history alone, a function of shared columns, known in every table. Sources with
    different columns give one for each set of columns. Candidates are

    =====================  ==========================================================
    ``linear``             Bayes pooling on the columns as they are
    ``derived``            Bayes pooling with :math:`x^*` as one more column
    ``target_line``        Bayes pooling without history, on the target alone
    ``pooled_trees``       the trees, given all columns, as many as predict history best
    ``all_pooled_trees``   the trees, all of them
    ``target_trees``       trees of eight leaves on the target alone
    ``deep_target_trees``  trees of thirty-one leaves on the target alone
    ``corrected``          ``derived``, and trees on its residuals in the target
    =====================  ==========================================================

    Each is clipped to the range of all responses and a twentieth beyond. The prediction is their
    weighted mean; the weights are a posterior mean given the errors on target rows that a candidate
    was not fitted on. The model is not linear and has no ``coef_``.

    Assumes as little as trees do, and exchangeable target rows. It reads the rows of the target
    and of those sources that have some; sources that are moments count in the linear candidates.

    Parameters
    ----------
    random_state : int, default=0
        Seed of the folds. The same number gives the same bits, with any number of threads.
    most_rows : int, default=200_000
        Rows of the history that trees learn from; of a longer history, as many are drawn.
    """

    def solve(self, problem: Problem) -> LinearFit | TreeFit:
        """Return the weighted candidates, beside the linear fit with derived columns."""
        self.check("boosted_pooling", problem)
        solve = BayesPooling().solve
        if target_rows(problem) < FEWEST or problem.target.is_constant(problem.response):
            few = (
                f"Fewer than {FEWEST} recent rows, or a constant response, cannot weigh candidates"
            )
            return replace(solve(problem), reason=f"{few}: this is bayes_pooling.")
        derivation = derive(problem, seed=self.random_state, most_rows=self.most_rows)
        made = candidates(problem, derivation, solve, self.random_state)
        return TreeFit(
            problem.features,
            derivation.columns,
            made.all.derived,
            derivation.problem.without_rows(),
            stacked(problem, made, derivation.target),
        )
