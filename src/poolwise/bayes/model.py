"""The model: from a problem to the evidence of everything that is integrated out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from poolwise.bayes.compression import Compressed, compressed
from poolwise.bayes.conflict import Information, Levels, information, levels
from poolwise.bayes.evidence import Evidence
from poolwise.bayes.frames import Frames, Group, frames
from poolwise.bayes.grid import grid
from poolwise.bayes.imputation import Imputation, imputations
from poolwise.bayes.ridge import Spectrum
from poolwise.bayes.scaling import Scaled, ScaledTable
from poolwise.bayes.settings import every_setting, probable_settings
from poolwise.double_double import Array

SLACK = 1e-3  # share of its own diagonal that is added to the covariance of new features
EXACT = 1e-13  # eigenvalue of that covariance, relative to the largest, that is none
LEAST_SPREAD = 1e-6  # of a new feature, for the same
ROUNDED = 1e-12  # share of a square that rounding may have taken


@dataclass(frozen=True, eq=False)
class Model:
    """A scaled problem, its sources in groups, and the evidence.

    Parameters
    ----------
    scaled : Scaled
        The problem.
    sources : tuple of Compressed
        Its sources.
    groups : tuple of Group
        Those with the same features together, the largest group first.
    evidence : Evidence
        Of every point of the grid.
    """

    scaled: Scaled
    sources: tuple[Compressed, ...]
    groups: tuple[Group, ...]
    evidence: Evidence


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


def _groups(scaled: Scaled, sources: tuple[Compressed, ...], known: Levels) -> tuple[Group, ...]:
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
    """Return the covariance of new features that shared ones leave open, with trace q."""
    has, lacks = np.arange(scaled.common), np.arange(scaled.common, len(scaled.features))
    left = account.residual(scaled.target, has, lacks)
    left = left + SLACK * np.diag(np.maximum(left.diagonal(), LEAST_SPREAD))
    left *= len(lacks) / account.spread
    values, vectors = np.linalg.eigh(left)
    values = np.maximum(values, EXACT * values[-1])
    zellner: Array = (vectors * values) @ vectors.T
    return zellner
