"""Pooling with imputed features, their imputation error, and integrated priors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from poolwise._typing import Array
from poolwise.errors import BadOption, LeftOut, PoolwiseWarning, RankDeficient
from poolwise.linear.fit import Fit
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.problem import Problem
from poolwise.linear.student_t import StudentT
from poolwise.methods.bayes.priors import EXACT_REACH, MANY
from poolwise.methods.bayes.scaling import BOUND, KNOWN_ROWS, OTHER_RESPONSE, Scaled, scaled
from poolwise.methods.bayes.share_of_history import Stack
from poolwise.moments.moments import Moments

DEPENDENT = 1e-11  # eigenvalue of pooled features that says they depend on each other
OTHER_SCALE = "Check its units and its largest values. A log or square root tames large ones."
WIDEST = 1e9  # share of the range of responses by which bounds are widened


@dataclass(eq=False, repr=False)
class BayesPooling(BaseEstimator):
    r"""Least squares on all tables, with new features imputed and unknown scales integrated out.

    In the target :math:`x'' = m + x' B + v`, so in a source that lacks :math:`x''` the
    response has the coefficients :math:`\theta' + B\theta''` and the noise
    :math:`\sigma^2 + \theta''^\top\Sigma_v\theta''`. The target gives :math:`B` with an error,
    and a source may be in conflict with the target. With the source compressed to pseudo-rows
    :math:`k = J\beta + N(0, I)`,

    .. math:: k = J(\theta' + \hat B\theta'') + N(0, V), \qquad
       V = I + c^2 J B_c J^\top + \tau\text{-terms},

    where :math:`c^2 B_c` is the error of the imputation and ``poolwise.methods.bayes.pseudo_rows``
    defines the last terms. Target and sources together give a Gaussian posterior of
    :math:`\theta` for each value of the scales in ``poolwise.methods.bayes.priors``, and their
    average, weighted by evidence, is the fit with history. The result is its weighted mean with the
    same fit of the target alone; see ``poolwise.methods.bayes.share_of_history``. Data pooling is
    the special case :math:`\hat B = 0` without error, flat priors and no conflict; unlimited
    conflict gives a ridge regression of the target alone.

    Assumes that new features depend on old ones in the same way in target and sources, up to an
    error that is modelled as conflict, and linear models with independent noise of one variance in
    each table. Where that fails, sources get little weight. The target must be like the rows that
    will be predicted.

    Parameters
    ----------
    bounds : float, pair of float or None, default=0.05
        Predictions are clipped to the range of responses, widened on both sides by this share of it
        and further if the relation is nearly exact; or to a range that is given; or not at all.

    Examples
    --------
    >>> import numpy as np
    >>> from poolwise import PooledRegressor
    >>> rng = np.random.default_rng(0)
    >>> old = rng.normal(size=(520, 1))
    >>> X = np.column_stack((old, 0.8 * old + 0.6 * rng.normal(size=(520, 1))))
    >>> y = X @ [2.0, -2.0] + rng.normal(size=520)
    >>> model = PooledRegressor(method="bayes_pooling")
    >>> _ = model.fit(X[500:], y[500:], sources=(X[:500, :1], y[:500]))
    >>> model.coef_.round(1)
    array([ 1.8, -1.6])
    """

    bounds: float | tuple[float, float] | None = 0.05

    def solve(self, problem: Problem) -> LinearFit:
        """Return the weighted mean of the fits with and without sources."""
        own = scaled(problem)
        cautions = _cautions(problem, own)
        if own.response_unit == 0.0:
            return self._constant(problem, cautions)
        stack = Stack.of(problem, own)
        judged, unit = stack.history.judged, own.response_unit**2
        kept = {n: judged[n] for n in problem.sources if n in judged}
        unused, noise = dict.fromkeys(problem.sources), unit * stack.history.full.noise
        return replace(
            self._fit(problem, stack),
            source_noise=unused | {n: unit * s.noise for n, s in kept.items()},
            weights=dict.fromkeys(unused, 0.0)
            | {n: stack.share * s.kept * noise / (unit * s.noise) for n, s in kept.items()},
            conflict={n: s.conflict for n, s in kept.items()},
            level_conflict={n: s.conflict + s.slopes_agree - 1.0 for n, s in kept.items()},
            share=None if stack.alone is None else stack.share,
            dropped=own.dropped,
            cautions=cautions,
        )

    def solve_without(
        self, problem: Problem, patterns: Sequence[Sequence[str]], fit: Fit
    ) -> list[LinearFit]:
        """Return a fit for each set of features that rows lack, all from the same posterior."""
        own = scaled(problem)
        if own.response_unit == 0.0:
            return [self._constant(problem.without(p)) for p in patterns]
        stack = Stack.of(problem, own)
        return [self._fit(problem, stack, lacking) for lacking in patterns]

    def _fit(self, problem: Problem, stack: Stack, lacking: Sequence[str] = ()) -> LinearFit:
        own, found = stack.history.model.scaled, stack.posterior(lacking)
        left = tuple(n for n in problem.features if n not in lacking)
        unit, judged = own.response_unit**2, stack.history.judged
        complete = stack.posterior().noise if lacking else found.noise
        return replace(
            _unscaled(problem, own, left, found.mean, found.covariance),
            noise=unit * found.noise,
            distribution=_student_t(found.noise, found.noise_variance),
            bounds=self._bounds(
                problem, {n: 1.0 - s.conflict for n, s in judged.items()}, unit * complete
            ),
        )

    def _constant(self, problem: Problem, cautions: tuple[PoolwiseWarning, ...] = ()) -> LinearFit:
        bounds = self._bounds(problem, dict.fromkeys(problem.sources, 1.0), np.inf)
        return replace(_constant(problem), bounds=bounds, cautions=cautions)

    def _bounds(
        self, problem: Problem, agree: Mapping[str, float], noise: float
    ) -> tuple[float, float] | None:
        """Return the range of predictions."""
        if self.bounds is None:
            return None
        given = np.asarray(self.bounds)
        is_numeric = given.dtype.kind in "iuf"
        if is_numeric and given.shape == (2,) and given[0] < given[1]:
            return float(given[0]), float(given[1])
        if not is_numeric or given.ndim or not 0.0 <= given <= WIDEST:
            raise BadOption.of(
                "bounds", self.bounds, f"a number up to {WIDEST:g}, a pair (low, high), or None"
            )
        return widened_range(problem, float(given), agree, noise)


def response_range(problem: Problem) -> tuple[float, float]:
    """Return the least and the greatest response of all tables."""
    tables = [problem.target, *problem.sources.values()]
    at = [(table, table.place[problem.response]) for table in tables]
    return min(float(t.low[j]) for t, j in at), max(float(t.high[j]) for t, j in at)


def widened_range(
    problem: Problem, share: float, agree: Mapping[str, float], noise: float
) -> tuple[float, float]:
    """Return the range of responses, widened by a share of it, and further for exact relations.

    The target shows how far responses reach, in standard deviations, and so do sources, which have
    more rows. If there are fewer than 400 target rows, its ends are moved out to where those of 400
    normal rows would be. A source counts as it is too, in proportion to the probability that it
    agrees with the target.
    """
    mean, deviation, ends = _response(problem.target, problem)
    rows = max(problem.target.weight, 2.0)
    ends = mean + np.sqrt(max(np.log(MANY) / np.log(rows), 1.0)) * (ends - mean)
    if np.isinf(ends).all():
        return -np.inf, np.inf
    sign = np.array([-1.0, 1.0])
    for name, probability in agree.items():
        theirs, spread, given = _response(problem.sources[name], problem)
        if np.ptp(given) == np.inf:
            continue
        ratio = deviation / spread if spread else 0.0
        moved = mean + ratio * (given - theirs)
        moved += probability * sign * np.maximum(sign * (given - moved), 0.0)
        ends = sign * np.maximum(sign * ends, sign * moved)
    explained = max(deviation**2 / noise - 1.0, 0.0) if noise else np.inf
    further = share * (1.0 + EXACT_REACH * explained) if share else 0.0
    low, high = (ends + sign * further * (ends[1] - ends[0])).tolist()
    return low, high


def _response(table: Moments, problem: Problem) -> tuple[float, float, Array]:
    """Return mean, standard deviation and range of the response of a table.

    The range is infinite if one response may have nearly all the variation, as in a published
    model, of which only a bound of the range is known.
    """
    y, rows = table.place[problem.response], table.weight
    square, mean = float(table.scatter.high[y, y]), float(table.mean[y])
    ends = np.array([table.low[y], table.high[y]])
    if rows > KNOWN_ROWS and np.abs(ends - mean).max() ** 2 > BOUND * square * (1.0 - 1.0 / rows):
        ends = np.array([-np.inf, np.inf])
    return mean, float(np.sqrt(square / (rows - 1.0 if rows > 1.0 else rows))), ends


def _unscaled(
    problem: Problem, own: Scaled, names: tuple[str, ...], mean: Array, covariance: Array
) -> LinearFit:
    """Return a fit of the columns as given; features without spread get zero."""
    target, lead, d = problem.target, own.lead, len(names)
    kept = [n for n in own.features if n in names]
    at = [names.index(n) for n in kept]
    unit = np.array([own.unit[own.features.index(n)] for n in kept])
    full_mean, full = np.zeros(d + 1), np.zeros((d + 1, d + 1))
    place = np.array([*range(lead), *(1 + j for j in at)], dtype=np.intp)
    scale = np.concatenate((np.full(lead, own.response_unit), own.response_unit / unit))
    full_mean[place] = scale * mean
    full[np.ix_(place, place)] = np.outer(scale, scale) * covariance
    if not problem.intercept:
        return LinearFit(names, full_mean[1:], np.zeros(d), 0.0, full)
    y, columns = target.place[problem.response], [target.place[n] for n in names]
    # The centre is a rounded mean; the rounding error is added to the level.
    below = target.mean_tail[y] - target.mean_tail[columns] @ full_mean[1:]
    level = float(target.mean[y] + (full_mean[0] + below))
    return LinearFit(names, full_mean[1:], target.mean[columns], level, full)


def _constant(problem: Problem) -> LinearFit:
    """Return the fit of a constant response, which a few rows may have by chance."""
    target, names = problem.target, problem.features
    rows = target.weight + sum(source.weight for source in problem.sources.values())
    is_sure = rows > len(names) + problem.intercept
    d, level = len(names), float(target.mean[target.index([problem.response])[0]])
    return LinearFit(
        names=names,
        coef=np.zeros(d),
        centre=target.mean[target.index(names)] if problem.intercept else np.zeros(d),
        level=level if problem.intercept else 0.0,
        covariance=np.zeros((d + 1, d + 1)) if is_sure else None,
        noise=0.0 if is_sure else None,
        source_noise=dict.fromkeys(problem.sources, 0.0 if is_sure else None),
        weights=dict.fromkeys(problem.sources, 1.0),
    )


def _student_t(noise: float, variance: float) -> StudentT:
    """Return Student's distribution with the kurtosis of a normal one of uncertain variance."""
    share = variance / noise / noise if noise else 0.0
    return StudentT(4.0 + 2.0 / share if share > 1e-12 else np.inf, "averaged")


def _cautions(problem: Problem, own: Scaled) -> tuple[PoolwiseWarning, ...]:
    cautions: list[PoolwiseWarning] = []
    for why in dict.fromkeys(own.left_out.values()):
        names = [n for n, reason in own.left_out.items() if reason == why]
        hint = OTHER_SCALE if why == OTHER_RESPONSE else ""
        cautions.append(LeftOut.sources("bayes_pooling", names, why, hint))
    if problem.target.weight > own.new + own.lead and (found := _dependent(own)):
        taken = "the ones that the prior prefers were taken"
        cautions.append(RankDeficient.of(found, problem.pool_name, taken))
    return tuple(cautions)


def _dependent(own: Scaled) -> list[str]:
    """Return features whose coefficients only the prior determines.

    They are in a linear relation that holds in all tables, or in a relation of new features that
    holds in the target, the only table that has them.
    """
    target = own.target
    pooled = target.gram.copy()
    for source in own.sources:
        place = np.ix_(source.at, source.at)
        pooled[place] += source.gram + source.weight * np.outer(source.offset, source.offset)
    involved: NDArray[np.bool_] = np.any(_in_relations(pooled), axis=1)
    if target.weight > len(own.features) + own.lead:
        relations = _in_relations(target.gram)
        of_new = relations[own.common :].any(axis=0)
        involved |= np.any(relations[:, of_new], axis=1)
    return [own.features[j] for j in np.flatnonzero(involved)]


def _in_relations(gram: Array) -> NDArray[np.bool_]:
    """Return which columns are in each linear relation; a zero column is not in any."""
    size = np.sqrt(np.maximum(gram.diagonal(), 0.0))
    varies = np.flatnonzero(size > 0.0)
    values, vectors = np.linalg.eigh(
        gram[np.ix_(varies, varies)] / np.outer(size[varies], size[varies])
    )
    null = np.abs(vectors[:, values <= DEPENDENT * values.max(initial=0.0)])
    found = np.zeros((len(gram), null.shape[1]), dtype=np.bool_)
    found[varies] = null > 1e-6
    return found
