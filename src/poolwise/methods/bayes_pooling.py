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
from poolwise.methods.bayes.evidence import Evidence, points, posterior
from poolwise.methods.bayes.imputation import Imputation, Spectrum, imputations
from poolwise.methods.bayes.missing import shortened
from poolwise.methods.bayes.priors import ZELLNER_SLACK, grid
from poolwise.methods.bayes.pseudo_rows import (
    Compressed,
    ConflictLevels,
    Frames,
    Group,
    Information,
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
        known = model(own)
        found = posterior(known.evidence, points(known.evidence))
        unit = own.response_unit**2
        names = [source.name for source in own.sources]
        conflict = dict(zip(names, found.conflict.tolist(), strict=True))
        noises = [unit * source.noise for source in known.sources]
        source_noise = dict(zip(names, noises, strict=True))
        noise = unit * found.noise
        fit = _unscaled(problem, own, problem.features, found.mean, found.covariance)
        return replace(
            fit,
            noise=noise,
            source_noise={n: source_noise.get(n) for n in problem.sources},
            weights={
                n: (1.0 - conflict[n]) * noise / source_noise[n] if n in conflict else 0.0
                for n in problem.sources
            },
            conflict={n: conflict[n] for n in problem.sources if n in conflict},
            distribution=_student_t(found.noise, found.noise_variance),
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
        known = model(own)
        at = points(known.evidence)
        full = posterior(known.evidence, at)
        bounds, fits = self._bounds(problem), []
        for lacking in patterns:
            found = shortened(own, known.groups, known.evidence, at, full, lacking)
            left = tuple(n for n in problem.features if n not in lacking)
            fits.append(
                replace(
                    _unscaled(problem, own, left, found.mean, found.covariance),
                    noise=own.response_unit**2 * found.noise,
                    distribution=_student_t(found.noise, found.noise_variance),
                    bounds=bounds,
                )
            )
        return fits

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


def model(scaled: Scaled) -> Model:
    """Set up the model of a scaled problem."""
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
        return Model(scaled, sources, groups, _evidence(scaled, sources, groups, said(settings)))
    one = said(np.zeros((1, len(sources), len(known))))
    evidence = _evidence(scaled, sources, groups, one)
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
    scaled: Scaled, sources: tuple[Compressed, ...], groups: tuple[Group, ...], said: Frames
) -> Evidence:
    target, lead = scaled.target, scaled.lead
    p = lead + len(scaled.features)
    products = np.zeros((p + 1, p + 1))
    if lead:
        products[0, 0] = target.weight
    products[lead:p, lead:p] = target.gram
    products[lead:p, p] = products[p, lead:p] = target.cross
    products[p, p] = target.square * (1.0 + ROUNDED)
    spread, zellner = np.ones(1), np.zeros((1, 0, 0))
    if groups and scaled.new:
        spread = np.array([i.spread for i in groups[0].imputations])
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
        ),
        noise=noise,
        size=size,
        spread=spread,
        zellner=zellner,
        lead=lead,
    )


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
    left *= len(lacks) / account.spread
    values, vectors = np.linalg.eigh(left)
    values = np.maximum(values, EXACT * values[-1])
    zellner: Array = (vectors * values) @ vectors.T
    return zellner
