r"""The model with history, the model of the target alone, and their weighted mean.

The model with history can be wrong in ways that no level of conflict describes. So predictions are
:math:`a\,\hat y_1 + (1 - a)\,\hat y_0`, with and without history, and the target judges the share
:math:`a`: with :math:`f_j`, the degrees of freedom of each fit, and :math:`n` target rows,

.. math:: \log p(a) = -\tfrac12\Bigl(\frac{\lVert y - \hat y(a)\rVert^2}{\sigma_1^2}
   + 2 a f_1 + 2 (1 - a) f_0\Bigr) + \Bigl(3 + \frac{60}n\Bigr) \log a ,

which is the criterion of Mallows, an estimate of the error on new rows from moments alone, and a
prior that trusts history, more so if there are few rows to judge it. The share is the mean of this
posterior, times :math:`n_S/(n_S + 5)` for :math:`n_S` rows of history, times the probability that
the slopes of some source are near enough to the target's to say something about them. So the fit
tends to the one without history as its rows become few, or as it contradicts the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from poolwise._typing import Array
from poolwise.linear.problem import Problem
from poolwise.methods.bayes.conflict_levels import probable_settings
from poolwise.methods.bayes.evidence import Evidence, Points, Posterior, points, posterior, stacked
from poolwise.methods.bayes.imputation import (
    ROUNDED,
    Imputation,
    imputations,
    least_squares_noise,
    rarity,
)
from poolwise.methods.bayes.missing import shortened
from poolwise.methods.bayes.priors import (
    ENOUGH_ROWS,
    FEW,
    SHARE,
    TRUST,
    UNINFORMATIVE,
    grid,
)
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
from poolwise.methods.bayes.scaling import Scaled, scaled


@dataclass(frozen=True, eq=False)
class Stack:
    """The fit with history, and the fit without it that it is averaged with."""

    history: Solved
    alone: Solved | None  # None without sources, or if the target alone explains nothing
    share: float  # of the fit with history in the mean; one if there is no other

    @classmethod
    def of(cls, problem: Problem, own: Scaled) -> Stack:
        """Solve a problem, given as it is and scaled, with and without history."""
        target = scaled(replace(problem, sources={}, source_rows={})) if own.sources else own
        if not own.sources or target.response_unit == 0.0 or not target.features:
            return cls(Solved.of(own), None, 1.0)
        alone = Solved.of(target)
        ratio = target.response_unit / own.response_unit
        history = Solved.of(own, Alone(alone.size * ratio**2, alone.full.noise * ratio**2))
        share = _share(own, history.full, _in_units(alone, own, history.full))
        rows = sum(source.weight for source in own.sources)
        share *= history.informative * rows / (rows + ENOUGH_ROWS)
        return cls(history, alone, share)

    def posterior(self, lacking: Sequence[str] = ()) -> Posterior:
        """Return the posterior for rows that lack some features."""
        found, own = self.history.without(lacking), self.history.model.scaled
        if self.alone is None:
            return found
        other = _in_units(self.alone, own, found, lacking)
        return stacked(self.share, found, other)


class Alone(NamedTuple):
    """What the fit without history tells the one with it."""

    size: float  # mean square of coefficients: new ones are expected to be of about this size
    noise: float  # of the target


class Judged(NamedTuple):
    """A source, as the fit has judged it."""

    noise: float  # of its residual, in units of the response's variance
    conflict: float  # probability that it contradicts the target, in its level or its slopes
    slopes_agree: float  # probability that it has the slopes of the target
    kept: float  # share of its information about slopes that doubts about them leave


@dataclass(frozen=True, eq=False)
class Solved:
    """A model and its posterior."""

    model: Model
    at: Points
    full: Posterior  # of all coefficients

    @classmethod
    def of(cls, scaled: Scaled, alone: Alone | None = None) -> Solved:
        """Solve a scaled problem."""
        known = model(scaled, alone)
        at = points(known.evidence)
        return cls(known, at, posterior(known.evidence, at))

    @property
    def size(self) -> float:
        """Mean square of shared coefficients: the geometric mean over the posterior."""
        e = self.model.evidence
        sizes = np.log(e.size * e.grid.size[self.at.cells[:, 3]])
        return float(np.exp(self.at.weight.sum(axis=1) @ sizes))

    @property
    def judged(self) -> dict[str, Judged]:
        """The sources by name."""
        own, chance = self.model, self.full.conflict
        same = own.levels.slopes + own.levels.both == 0.0
        conflict = np.maximum(1.0 - chance[:, 0], 0.0).tolist()
        agree = np.minimum(chance[:, same].sum(axis=1), 1.0).tolist()
        found = map(Judged, (s.noise for s in own.sources), conflict, agree, self._kept())
        return dict(zip((s.name for s in own.scaled.sources), found, strict=True))

    def _kept(self) -> list[float]:
        """Return the share of its information about slopes that each source keeps, on average."""
        lead, kept = self.model.scaled.lead, np.zeros(len(self.model.sources))
        for group in self.model.groups:
            left = np.einsum("klrr->kl", group.information.precision[:, :, lead:, lead:])
            at = [*group.members]
            alike = np.where(left[:, :1] > 0.0, left / left[:, :1].clip(1e-300), 0.0)
            kept[at] = np.sum(self.full.conflict[at] * alike, axis=1)
        return kept.tolist()

    @property
    def informative(self) -> float:
        """Probability that the slopes of some source say something about the target's."""
        known = self.model.levels
        is_far = (known.slopes >= UNINFORMATIVE) | (known.both > 0.0)
        far = np.minimum(self.full.conflict[:, is_far].sum(axis=1), 1.0)
        return 1.0 - float(np.prod(far))

    def without(self, lacking: Sequence[str]) -> Posterior:
        """Return the posterior for rows that lack some features."""
        if not lacking:
            return self.full
        own = self.model
        return shortened(own.scaled, own.groups, own.evidence, self.at, self.full, lacking)


def _in_units(
    solved: Solved, other: Scaled, history: Posterior, lacking: Sequence[str] = ()
) -> Posterior:
    """Convert a posterior to the units of another scaling.

    Features that do not vary in the target get mean zero; their variance is the mean square of the
    coefficient with history.
    """
    found, own = solved.without(lacking), solved.model.scaled
    kept = [n for n in own.features if n not in lacking]
    place = {n: other.lead + k for k, n in enumerate(f for f in other.features if f not in lacking)}
    at = [*range(own.lead), *(place[n] for n in kept)]
    units = [dict(zip(s.features, s.unit.tolist(), strict=True)) for s in (own, other)]
    ratio = own.response_unit / other.response_unit
    scale = ratio * np.array([1.0] * own.lead + [units[1][n] / units[0][n] for n in kept])
    mean = np.zeros(other.lead + len(place))
    covariance = np.diag(history.covariance.diagonal() + history.mean**2)
    mean[at] = scale * found.mean
    covariance[np.ix_(at, at)] = np.outer(scale, scale) * found.covariance
    noise, spread = ratio**2 * found.noise, ratio**4 * found.noise_variance
    return Posterior(mean, covariance, noise, spread, found.conflict)


def _share(own: Scaled, one: Posterior, other: Posterior) -> float:
    """Return the share of the posterior with history, judged by the target."""
    target, lead = own.target, own.lead
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


@dataclass(frozen=True, eq=False)
class Model:
    """A scaled problem, its sources in groups, and the evidence."""

    scaled: Scaled
    sources: tuple[Compressed, ...]
    groups: tuple[Group, ...]  # sources with the same features, the largest group first
    evidence: Evidence  # of every point of the grid
    levels: ConflictLevels


def model(scaled: Scaled, alone: Alone | None = None) -> Model:
    """Set up the model of a scaled problem."""
    target, lead = scaled.target, scaled.lead
    sources = tuple(compressed(s, target, intercept=scaled.intercept) for s in scaled.sources)
    known = levels(intercept=scaled.intercept)
    groups = _groups(scaled, sources, known)

    said = partial(
        frames,
        groups,
        log_prior=known.log_prior,
        coefficients=lead + len(scaled.features),
        lead=lead,
        target_rows=target.weight,
    )
    settings = every_setting(len(sources), len(known.log_prior))
    if settings is not None:
        evidence = _evidence(scaled, sources, groups, said(settings), alone)
        return Model(scaled, sources, groups, evidence, known)
    one = said(np.zeros((1, len(sources), len(known.log_prior))))
    evidence = _evidence(scaled, sources, groups, one, alone)
    settings = probable_settings(groups, known, evidence)
    return Model(scaled, sources, groups, replace(evidence, frames=said(settings)), known)


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
        together = Information(
            *(
                np.stack([getattr(s, name) for s in said])
                for name in ("precision", "cross", "square", "log_determinant")
            )
        )
        found = imputations(scaled.target, has, lacks)
        kinds = kinds or tuple(found)  # those of the first group, which lacks something if any does
        accounts = tuple(found.get(kind, found["each"]) for kind in kinds)
        groups.append(Group(has, lacks, members, together, kinds, accounts))
    return tuple(groups)


def _evidence(
    scaled: Scaled,
    sources: tuple[Compressed, ...],
    groups: tuple[Group, ...],
    said: Frames,
    alone: Alone | None,
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
    rare: Array | float = 0.0
    if groups and scaled.new:
        group = groups[0]
        spread = np.array([i.wide(target, group.has, group.lacks) for i in group.imputations])
        varied = group.imputations[0].spread / float(spread[0])
        has, lacks = np.arange(scaled.common), np.arange(scaled.common, len(scaled.features))
        zellner = np.stack([i.zellner(target, has, lacks) for i in _of_new(scaled, groups)])
        if alone is not None:
            rare = (1.0 - 1.0 / rarity(target, lacks)) / alone.size
    elif groups:
        spread = np.ones(len(groups[0].imputations))
        zellner = np.zeros((len(spread), 0, 0))
    if sources:
        noise = sources[groups[0].members[0]].noise
        size = float(np.median([s.coefficient_size for s in sources]))
    else:
        own = compressed(target, target, intercept=scaled.intercept)
        noise, size = own.noise, own.coefficient_size
    residual, free = least_squares_noise(target)
    return Evidence(
        target=products,
        rows=target.weight,
        frames=said,
        grid=grid(
            has_new=scaled.new > 0,
            residual=residual / noise,
            free=free,
            most=target.square / max(target.free, 1.0) / noise,
            likely=1.0 if alone is None else alone.noise / noise,
            varied=varied,
            tails=scaled.tails,
        ),
        noise=noise,
        size=size,
        spread=spread,
        zellner=zellner,
        lead=lead,
        rare=rare,
        alone=None if alone is None else alone.size,
    )


def _of_new(scaled: Scaled, groups: tuple[Group, ...]) -> tuple[Imputation, ...]:
    """Return accounts of all new features given those that every source has."""
    if len(groups) == 1:
        return groups[0].imputations
    has, lacks = np.arange(scaled.common), np.arange(scaled.common, len(scaled.features))
    found = imputations(scaled.target, has, lacks)
    return tuple(found.get(kind, found["each"]) for kind in groups[0].kinds)
