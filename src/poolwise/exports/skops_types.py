"""skops: the types of which a fitted model is made, for those who load one with ``skops.io``.

skops loads no type that it is not told to trust. These are plain data: to make one runs no code
that a file could choose. A model with a method of your own has a type more.
"""

from __future__ import annotations

from poolwise.errors import TransferWarning
from poolwise.methods import METHODS, ROW_METHODS

SKOPS_TRUSTED: tuple[str, ...] = tuple(
    sorted(
        (
            "poolwise.answer.Derived",
            "poolwise.boosting.candidates.Candidates",
            "poolwise.boosting.tree_mean.TreeMean",
            "poolwise.boosting.derived_column.DerivedColumn",
            "poolwise.boosting.evidence.Evidence",
            "poolwise.boosting.partial_effects.PartialEffect",
            "poolwise.boosting.spread.Spread",
            "poolwise.boosting.stack.Stack",
            "poolwise.boosting.trees.Trees",
            "poolwise.exact_sums.ExactSums",
            "poolwise.fit.LinearFit",
            "poolwise.fraction_matrix.FractionMatrix",
            "poolwise.moments.Moments",
            "poolwise.problem.Problem",
            "poolwise.regressor.PooledRegressor",
            "poolwise.scatter.Scatter",
            "poolwise.tables.columns.Column",
            "poolwise.tables.moments_table.Levels",
            "poolwise.tails.Tails",
            *(
                f"{kind.__module__}.{kind.__qualname__}"
                for kind in (
                    *METHODS.values(),
                    *ROW_METHODS.values(),
                    *TransferWarning.__subclasses__(),
                )
            ),
        )
    )
)
