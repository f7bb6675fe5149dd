"""Pooling with imputed features, their imputation error, and integrated priors."""

from __future__ import annotations

from collections.abc import Sequence
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
from poolwise.methods.bayes.conflict_levels import probable_settings
from poolwise.methods.bayes.evidence import (
    Evidence,
    Points,
    Posterior,
    points,
    posterior,
    stacked,
)
from poolwise.methods.bayes.imputation import Imputation, Spectrum, imputations
from poolwise.methods.bayes.missing import shortened
from poolwise.methods.bayes.priors import ZELLNER_SLACK, grid
from poolwise.methods.bayes.pseudo_rows import (
    Compressed,
    ConflictLevels,
    Frames,
    Group,
    Information,
    apart,
    compressed,
    every_setting,
    frames,
    information,
    levels,
)
from poolwise.methods.bayes.scaling import Scaled, ScaledTable, scaled

DEPENDENT = 1e-11  # eigenvalue of pooled features that says they depend on each other
EXACT = 1e-13  # eigenvalue of that covariance, relative to the largest, that counts as zero
LEAST_SPREAD = 1e-6  # of a new feature, for the same
ROUNDED = 1e-12  # relative rounding error of a square
SHARE = np.linspace(0.0, 1.0, 201)[1:]  # weights of the fit with history that are tried
TRUST, FEW = 2.0, 60.0  # exponent of their prior, and what it gains by having few target rows


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
    :math:`\theta` for each value of the scales in ``poolwise.methods.bayes.priors``; the result is
    their average, weighted by evidence. Data pooling is the special case :math:`\hat B = 0` without
    error, flat priors and no conflict; unlimited conflict gives a ridge regression of the target
    alone.

    Assumes that new features depend on old ones in the same way in target and sources, up to an
    error that is modelled as conflict, and linear models with independent noise of one variance in
    each table. Where that fails, sources get little weight. The target must be like the rows that
    will be predicted.

    Parameters
    ----------
    bounds : float, pair of float or None, default=0.5
        Predictions are clipped to the range of all responses, widened by this share of it on both
        sides; or to a range that is given; or not at all. Sources in conflict count too, because a
        small target covers little of the range if tails are heavy.

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

    bounds: float | tuple[float, float] | None = 0.5

    def solve(self, problem: Problem) -> LinearFit:
        """Return the posterior mean and covariance."""
        own = scaled(problem)
        cautions = _cautions(problem, own)
        if own.response_unit == 0.0:
            return replace(_constant(problem), bounds=self._bounds(problem), cautions=cautions)
        both = _Both.of(problem, own)
        fit = both.fit(problem)
        at = {source.name: k for k, source in enumerate(own.sources)}
        noises = {n: own.response_unit**2 * both.known.sources[k].noise for n, k in at.items()}
        level, slopes = apart(both.full.conflict, intercept=own.intercept)
        noise = own.response_unit**2 * both.full.noise
        weights = {n: both.share * (1.0 - slopes[k]) * noise / noises[n] for n, k in at.items()}
        return replace(
            fit,
            source_noise={n: noises.get(n) for n in problem.sources},
            weights={n: weights.get(n, 0.0) for n in problem.sources},
            conflict={n: level[at[n]] + slopes[at[n]] for n in problem.sources if n in at},
            level_conflict={n: level[at[n]] for n in problem.sources if n in at},
            share=both.share if at else None,
            bounds=self._bounds(problem),
            dropped=own.dropped,
            cautions=cautions,
        )

    def solve_without(
        self, problem: Problem, patterns: Sequence[Sequence[str]], fit: Fit
    ) -> list[LinearFit]:
        """Return a fit for each set of features that rows lack, all from the same posterior."""
        own = scaled(problem)
        if own.response_unit == 0.0:
            bounds = self._bounds(problem)
            return [replace(_constant(problem.without(p)), bounds=bounds) for p in patterns]
        both, bounds = _Both.of(problem, own), self._bounds(problem)
        return [replace(both.fit(problem, lacking), bounds=bounds) for lacking in patterns]

    def _bounds(self, problem: Problem) -> tuple[float, float] | None:
        """Return the range of predictions."""
        y = problem.response
        if self.bounds is None:
            return None
        given = np.asarray(self.bounds)
        is_numeric = given.dtype.kind in "iuf"
        if is_numeric and given.shape == (2,) and given[0] < given[1]:
            return float(given[0]), float(given[1])
        if not is_numeric or given.ndim or not 0.0 <= given < np.inf:
            raise BadOption.of("bounds", self.bounds, "a number, a pair (low, high), or None")
        share = float(given)
        tables = [problem.target, *problem.sources.values()]
        at = [t.place[y] for t in tables]
        low = min(float(t.low[j]) for t, j in zip(tables, at, strict=True))
        high = max(float(t.high[j]) for t, j in zip(tables, at, strict=True))
        return low - share * (high - low), high + share * (high - low)


@dataclass(frozen=True, eq=False)
class _Solved:
    """A model and its posterior."""

    known: Model
    at: Points
    full: Posterior

    @classmethod
    def of(cls, own: Scaled, alone: float | None = None) -> _Solved:
        """Solve a scaled problem; ``alone`` is the size of coefficients without history."""
        known = model(own, alone)
        at = points(known.evidence)
        return cls(known, at, posterior(known.evidence, at))

    @property
    def size(self) -> float:
        """Mean square of shared coefficients: the geometric mean over the posterior."""
        e = self.known.evidence
        sizes = np.log(e.size * e.grid.size[self.at.cells[:, 3]])
        return float(np.exp(self.at.weight.sum(axis=1) @ sizes))

    def without(self, lacking: Sequence[str]) -> Posterior:
        """Return the posterior for rows that lack some features."""
        known, at, full = self.known, self.at, self.full
        if not lacking:
            return full
        return shortened(known.scaled, known.groups, known.evidence, at, full, lacking)


@dataclass(frozen=True, eq=False)
class _Both(_Solved):
    r"""The posterior with history, mixed with the posterior of the target alone.

    The model with history can be wrong in ways that no level of conflict describes. So predictions
    are :math:`a\,\hat y_1 + (1 - a)\,\hat y_0`, with and without history, and the target's rows
    judge :math:`a`: with :math:`f_j`, the degrees of freedom of each, and :math:`n` rows,

    .. math:: \log p(a) = -\tfrac12\Bigl(\frac{\lVert y - \hat y(a)\rVert^2}{\sigma_1^2}
       + 2 a f_1 + 2 (1 - a) f_0\Bigr) + \Bigl(2 + \frac{60}n\Bigr) \log a ,

    which is Mallows' criterion, an estimate of the error on new rows from moments alone, and a
    prior that trusts history, the more the fewer rows there are to judge it.
    """

    alone: _Solved | None = None  # None without history, or if the target's response is constant
    share: float = 1.0  # a, its posterior mean

    @classmethod
    def of(cls, problem: Problem, own: Scaled) -> _Both:  # type: ignore[override]
        """Solve a problem with and without history."""
        by_itself = scaled(replace(problem, sources={}, source_rows={}))
        if not own.sources or by_itself.response_unit == 0.0 or not by_itself.features:
            solved = _Solved.of(own)
            return cls(solved.known, solved.at, solved.full)
        alone = _Solved.of(by_itself)
        ratio = by_itself.response_unit / own.response_unit
        solved = _Solved.of(own, alone.size * ratio**2)
        other = _in_units(alone.full, by_itself, own, ())
        share = _share(own.target, own.lead, solved.full, other)
        return cls(solved.known, solved.at, solved.full, alone, share)

    def fit(self, problem: Problem, lacking: Sequence[str] = ()) -> LinearFit:
        """Return the fit for rows that lack some features."""
        own, found = self.known.scaled, self.without(lacking)
        if self.alone is not None:
            other = self.alone.without(lacking)
            other = _in_units(other, self.alone.known.scaled, own, lacking)
            found = stacked(self.share, found, other)
        left = tuple(n for n in problem.features if n not in lacking)
        return replace(
            _unscaled(problem, own, left, found.mean, found.covariance),
            noise=own.response_unit**2 * found.noise,
            distribution=_student_t(found.noise, found.noise_variance),
        )


def _in_units(found: Posterior, own: Scaled, other: Scaled, lacking: Sequence[str]) -> Posterior:
    """Convert a posterior to the units of another scaling; features that it lacks get zero."""
    kept = [n for n in own.features if n not in lacking]
    place = {n: other.lead + k for k, n in enumerate(f for f in other.features if f not in lacking)}
    at = [*range(own.lead), *(place[n] for n in kept)]
    units = [dict(zip(s.features, s.unit.tolist(), strict=True)) for s in (own, other)]
    ratio = own.response_unit / other.response_unit
    scale = ratio * np.array([1.0] * own.lead + [units[1][n] / units[0][n] for n in kept])
    mean = np.zeros(other.lead + len(place))
    covariance = np.zeros((len(mean), len(mean)))
    mean[at] = scale * found.mean
    covariance[np.ix_(at, at)] = np.outer(scale, scale) * found.covariance
    noise, spread = ratio**2 * found.noise, ratio**4 * found.noise_variance
    return Posterior(mean, covariance, noise, spread, found.conflict)


def _share(target: ScaledTable, lead: int, one: Posterior, other: Posterior) -> float:
    """Return the weight of the posterior with history, judged by the target; see `_Both`."""
    design = np.zeros((len(one.mean), len(one.mean)))
    design[:lead, :lead] = target.weight
    design[lead:, lead:] = target.gram
    apart = one.mean - other.mean
    along = np.append(np.zeros(lead), target.cross) - design @ one.mean
    freedom = [float(np.sum(design * p.covariance)) / p.noise for p in (one, other)]
    less = 1.0 - SHARE
    squares = 2.0 * less * (apart @ along) + less**2 * (apart @ design @ apart)
    score = -0.5 * squares / one.noise - SHARE * freedom[0] - less * freedom[1]
    score += (TRUST + FEW / target.weight) * np.log(SHARE)
    weight = np.exp(score - score.max())
    return float(weight @ SHARE / weight.sum())


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
        cautions.append(LeftOut.sources("bayes_pooling", names, why))
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


@dataclass(frozen=True, eq=False)
class Model:
    """A scaled problem, its sources in groups, and the evidence."""

    scaled: Scaled
    sources: tuple[Compressed, ...]
    groups: tuple[Group, ...]  # sources with the same features, the largest group first
    evidence: Evidence  # of every point of the grid


def model(scaled: Scaled, alone: float | None = None) -> Model:
    """Set up the model of a scaled problem.

    ``alone`` is the mean square of the coefficients in the fit without history: new coefficients
    are expected to be of about this size.
    """
    target, lead = scaled.target, scaled.lead
    sources = tuple(compressed(s, target, intercept=scaled.intercept) for s in scaled.sources)
    known = levels(intercept=scaled.intercept)
    groups = _groups(scaled, sources, known)

    def said(settings: Array) -> Frames:
        return frames(
            groups,
            settings,
            known.log_prior,
            coefficients=lead + len(scaled.features),
            lead=lead,
            target_rows=target.weight,
        )

    settings = every_setting(len(sources), len(known))
    if settings is not None:
        evidence = _evidence(scaled, sources, groups, said(settings), alone)
        return Model(scaled, sources, groups, evidence)
    one = said(np.zeros((1, len(sources), len(known))))
    evidence = _evidence(scaled, sources, groups, one, alone)
    settings = probable_settings(groups, known, evidence)
    return Model(scaled, sources, groups, replace(evidence, frames=said(settings)))


def _groups(
    scaled: Scaled, sources: tuple[Compressed, ...], known: ConflictLevels
) -> tuple[Group, ...]:
    everything = np.arange(len(scaled.features))
    groups: list[Group] = []
    kinds: tuple[str, ...] = ()
    for features in scaled.feature_sets:
        has = np.array(features, dtype=np.intp)
        lacks = np.setdiff1d(everything, has)
        members = tuple(k for k, s in enumerate(scaled.sources) if tuple(s.at.tolist()) == features)
        said = [information(sources[k], known, intercept=scaled.intercept) for k in members]
        stacked = Information(
            *(
                np.stack([getattr(s, name) for s in said])
                for name in ("precision", "cross", "square", "log_determinant")
            )
        )
        found = imputations(scaled.target, has, lacks)
        kinds = kinds or tuple(found)  # those of the first group, which lacks something if any does
        accounts = tuple(found.get(kind, found["each"]) for kind in kinds)
        groups.append(Group(has, lacks, members, stacked, kinds, accounts))
    return tuple(groups)


def _evidence(
    scaled: Scaled,
    sources: tuple[Compressed, ...],
    groups: tuple[Group, ...],
    said: Frames,
    alone: float | None,
) -> Evidence:
    target, lead = scaled.target, scaled.lead
    p = lead + len(scaled.features)
    products = np.zeros((p + 1, p + 1))
    if lead:
        products[0, 0] = target.weight
    products[lead:p, lead:p] = target.gram
    products[lead:p, p] = products[p, lead:p] = target.cross
    products[p, p] = target.square * (1.0 + ROUNDED)
    varied, spread, zellner = 1.0, np.ones(1), np.zeros((1, 0, 0))
    if groups and scaled.new:
        group = groups[0]
        spread = np.array([_wide(target, i, group.has, group.lacks) for i in group.imputations])
        varied = group.imputations[0].spread / float(spread[0])
        zellner = np.stack([_zellner(scaled, i) for i in _of_new(scaled, groups)])
    elif groups:
        spread = np.ones(len(groups[0].imputations))
        zellner = np.zeros((len(spread), 0, 0))
    if sources:
        noise = sources[groups[0].members[0]].noise
        size = float(np.median([s.coefficient_size for s in sources]))
    else:
        own = compressed(target, target, intercept=scaled.intercept)
        noise, size = own.noise, own.coefficient_size
    residual, free = _residual(target)
    return Evidence(
        target=products,
        rows=target.weight,
        frames=said,
        grid=grid(
            has_new=scaled.new > 0,
            residual=residual / noise,
            free=free,
            most=target.square / max(target.free, 1.0) / noise,
            varied=varied,
            tails=scaled.tails,
        ),
        noise=noise,
        size=size,
        spread=spread,
        zellner=zellner,
        lead=lead,
        alone=alone,
    )


def _rarity(target: ScaledTable, lacks: NDArray[np.intp]) -> Array:
    """Return by how much the unit of each lacking feature exceeds its variance in the target."""
    variance = target.gram.diagonal()[lacks] / max(target.free, 1.0)
    rarity: Array = 1.0 / np.clip(variance, LEAST_SPREAD, 1.0)
    return rarity


def _wide(
    target: ScaledTable, account: Imputation, has: NDArray[np.intp], lacks: NDArray[np.intp]
) -> float:
    """Return the residual variance of lacking features, as if no value of them were rare."""
    left = account.residual(target, has, lacks).diagonal()
    return max(float(left @ _rarity(target, lacks)), account.spread)


def _residual(target: ScaledTable) -> tuple[float, float]:
    """Return the noise of least squares on the target alone, and the rows it is estimated from."""
    spectrum = Spectrum.of(target.gram)
    z, e = spectrum.turned(target.cross), spectrum.values
    fitted = float(np.sum(np.divide(z * z, e, out=np.zeros_like(z), where=e > 0.0)))
    free = float(target.free - np.count_nonzero(e))
    return max(target.square - fitted, ROUNDED * target.square) / max(free, 1.0), free


def _of_new(scaled: Scaled, groups: tuple[Group, ...]) -> tuple[Imputation, ...]:
    """Return accounts of all new features given those that every source has."""
    if len(groups) == 1:
        return groups[0].imputations
    has, lacks = np.arange(scaled.common), np.arange(scaled.common, len(scaled.features))
    found = imputations(scaled.target, has, lacks)
    return tuple(found.get(kind, found["each"]) for kind in groups[0].kinds)


def _zellner(scaled: Scaled, account: Imputation) -> Array:
    """Return the residual covariance of new features given shared ones, with trace q."""
    has, lacks = np.arange(scaled.common), np.arange(scaled.common, len(scaled.features))
    left = account.residual(scaled.target, has, lacks)
    left = left + ZELLNER_SLACK * np.diag(np.maximum(left.diagonal(), LEAST_SPREAD))
    left += np.diag(left.diagonal() * (_rarity(scaled.target, lacks) - 1.0))
    left *= len(lacks) / _wide(scaled.target, account, has, lacks)
    values, vectors = np.linalg.eigh(left)
    values = np.maximum(values, EXACT * values[-1])
    zellner: Array = (vectors * values) @ vectors.T
    return zellner
