"""The Gaussian maximum-likelihood estimate for nested sets of features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from poolwise.errors import LeftOut, NoiseNotEstimable, PoolwiseWarning, TooFewRows
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.noise import source_noises
from poolwise.linear.problem import Problem
from poolwise.linear.regress import regress, solve_named
from poolwise.methods.source_columns_only import widened
from poolwise.moments.moments import Moments
from poolwise.numerics.double_double import Pair
from poolwise.numerics.least_squares import inverse_of


@dataclass(eq=False, repr=False)
class MonotoneLikelihood(BaseEstimator):
    r"""Maximum likelihood of jointly Gaussian columns, features missing in nested blocks.

    The likelihood factorises (Anderson [1]_): :math:`y \mid x'` is estimated from all rows, and
    :math:`x'' \mid x', y \sim N(a + A x' + c y, \Psi)` from the rows that have :math:`x''`; with
    more than two nested feature sets, one factor each. Every factor adds a quadratic form in
    :math:`(1, x, y)`; reading off the row of :math:`y` in their sum :math:`P` gives

    .. math:: \hat\theta = -P_{yx} / P_{yy}, \qquad \operatorname{Var}(y \mid x) = 1 / P_{yy} .

    Assumes the same joint distribution in target and sources. Consistent when new features
    correlate with old ones, but unreliable in small samples: the target needs at least two rows
    more than it has features, and many more for accuracy. Sources whose features are not nested
    with those of larger ones are left out.

    References
    ----------
    .. [1] Anderson. Maximum likelihood estimates for a multivariate normal distribution when some
       observations are missing. Journal of the American Statistical Association, 1957.
    """

    def solve(self, problem: Problem) -> LinearFit:
        """Return the maximum-likelihood fit."""
        problem, cautions = _monotone(problem)
        y, intercept = problem.response, problem.intercept
        d, chain = len(problem.features), _nested(problem)
        alone = problem.target_fit
        if not problem.sources:
            return replace(alone, cautions=alone.cautions + cautions)
        if len(chain) > 1 and problem.target.weight < d + 2:
            raise TooFewRows(
                f"monotone_likelihood needs at least {d + 2} recent rows here; there are "
                f"{problem.target.weight:g}.",
                "Use data_pooling, or collect more rows.",
            )
        if alone.noise == 0.0:
            own_name, why = problem.target_name, "it is fitted without residual"
            caution = NoiseNotEstimable.of(own_name, why, f"This is the fit on {own_name} alone.")
            return replace(alone, cautions=(*alone.cautions, *cautions, caution))
        told: dict[str, Any] = {
            "source_noise": source_noises(problem),
            "weights": dict.fromkeys(problem.sources, 1.0),
        }
        features, pool = chain[0]
        first = regress(pool, y, features, intercept=intercept, ddof="mle", label="the pooled data")
        if len(chain) > 1 and first.noise:
            joined = _joined(problem, chain, alone)
            return replace(joined, cautions=joined.cautions + cautions, **told)
        if len(chain) > 1:
            then = "Features that not every table has get coefficient zero."
            why = "the features that all have leave no residual"
            cautions += (NoiseNotEstimable.of("the pooled data", why, then),)
        first = replace(first, covariance=None, cautions=first.cautions + cautions, **told)
        return widened(first, problem.features)


def _monotone(problem: Problem) -> tuple[Problem, tuple[PoolwiseWarning, ...]]:
    """Leave out sources, the smallest first, until the feature sets are nested."""
    kept: dict[str, Moments] = {}
    for name, source in problem.largest_first().items():
        names = set(source.names)
        if all(names <= set(s.names) or names >= set(s.names) for s in kept.values()):
            kept[name] = source
    rest = [name for name in problem.sources if name not in kept]
    if not rest:
        return problem, ()
    why = "their features are not nested with those of larger tables"
    caution = LeftOut.sources("monotone_likelihood", rest, why)
    return replace(problem, sources=kept), (caution,)


def _nested(problem: Problem) -> list[tuple[tuple[str, ...], Moments]]:
    """Return the nested feature sets, smallest first, each with the rows that have it."""
    y, tables = problem.response, [*problem.sources.values(), problem.target]
    chain = []
    for features in sorted({problem.shared(table) for table in tables}, key=len):
        pool = Moments.empty((*features, y))
        for table in tables:
            if set(features) <= set(table.names):
                pool += table.select((*features, y))
        chain.append((features, pool))
    return chain


def _joined(
    problem: Problem, chain: list[tuple[tuple[str, ...], Moments]], alone: LinearFit
) -> LinearFit:
    """Sum the quadratic forms of all factors, of which the row of y is enough."""
    target, y, intercept = problem.target, problem.response, problem.intercept
    variables = (*problem.features, y)
    centre = target.mean[target.index(variables)] if intercept else np.zeros(len(variables))
    row = np.zeros(len(variables) + 1)  # the constant last
    known: tuple[str, ...] = ()
    dropped: dict[str, str] = {}
    determined = True
    for features, pool in chain:
        if known:
            responses = tuple(n for n in features if n not in known)
            given = (*known, y)
        else:
            responses, given = (y,), features
        solution = solve_named(pool, given, responses, intercept=intercept)
        exact = {responses[i] for i in np.flatnonzero(solution.residual.diagonal() == 0.0)}
        constant = {n for n in features if n not in known and pool.is_constant(n)}
        determined &= not solution.dependent and exact <= constant
        if intercept:
            dropped |= dict.fromkeys(sorted(constant), "constant in the pooled data")
        form = np.zeros((len(responses), len(variables) + 1))  # response - expectation
        for i, name in enumerate(responses):
            form[i, variables.index(name)] = 1.0
        form[:, [variables.index(n) for n in given]] -= solution.coef.high.T
        if intercept:
            at = [j for j, n in enumerate(variables) if n in pool.names]
            mean = pool.mean_pair[pool.index(variables[j] for j in at)]
            form[:, -1] = -form[:, at] @ (mean - Pair.of(centre[at])).high
        precision = inverse_of(solution.residual / pool.weight)
        row += form[:, variables.index(y)] @ precision @ form
        known = features
    at_y = len(variables) - 1
    return LinearFit(
        names=problem.features,
        coef=-row[:at_y] / row[at_y],
        centre=centre[:at_y],
        level=float(centre[at_y] - row[-1] / row[at_y]) if intercept else 0.0,
        noise=float(1.0 / row[at_y]),
        dropped=dropped,
        cautions=() if determined else alone.cautions,  # the target is part of every pool
    )
