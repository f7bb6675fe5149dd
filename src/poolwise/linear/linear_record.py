"""Records of linear fits in a model file: what `LinearFit.record` writes, and the fit it restores.

`restored` is what every kind of fit has: it returns the fit of a model with given features.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from msgspec.structs import asdict

from poolwise.errors import PoolwiseWarning
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.problem import Problem
from poolwise.linear.student_t import StudentT
from poolwise.moments.json_format import JsonObject, numbers
from poolwise.moments.moments_json import MomentsRecord

NotNegative = Annotated[float, Meta(ge=0.0)]
Probability = Annotated[float, Meta(ge=0.0, le=1.0)]
WARNINGS = {kind.__name__: kind for kind in PoolwiseWarning.__subclasses__()}
TYPES: tuple[type, ...] = (LinearFit, StudentT, *WARNINGS.values())  # of a fit in memory


class CautionRecord(JsonObject):
    """A warning of the fit: the name of its class in poolwise.errors, and what it says."""

    kind: str
    message: str

    def __post_init__(self) -> None:
        if self.kind not in WARNINGS:
            raise ValueError(f"{self.kind[:40]!r} is not a warning of poolwise")


class StudentTRecord(JsonObject):
    """The distribution of an estimate over its standard deviation: Student's, or normal.

    freedom: degrees of freedom, null for a normal distribution
    """

    freedom: Annotated[float, Meta(gt=0.0)] | None
    deviation: Literal["plugged in", "averaged"]

    def __post_init__(self) -> None:
        if self.deviation == "averaged" and self.freedom is not None and self.freedom <= 2.0:
            raise ValueError("an averaged deviation needs a `freedom` above 2")


class TablesRecord(JsonObject):
    """The moments of a target and of its sources, by name."""

    target: MomentsRecord
    sources: dict[str, MomentsRecord]

    def problem(self, features: tuple[str, ...], response: str, intercept: bool) -> Problem:
        """Return the problem of a model with these features."""
        if empty := [name for name, source in self.sources.items() if not source.weight]:
            raise ValueError(f"source {empty[0]!r} has no rows")
        sources = {name: source.moments for name, source in self.sources.items()}
        problem = Problem(self.target.moments, sources, response, intercept)
        if problem.features != features:
            raise ValueError("the columns of a target and of the fit differ, or their order")
        return problem


class ModelMomentsRecord(TablesRecord):
    """The moments that the fit was made from.

    intercept: whether the model has an intercept
    pool: the target and imputed sources together; null unless the method imputes
    derived: the same target and sources with derived columns; null unless the fit has trees
    """

    intercept: bool
    pool: MomentsRecord | None
    derived: TablesRecord | None


class LinearRecord(JsonObject, tag_field="kind", tag="linear", dict=True):
    """A linear fit: a row x is predicted as level + (x - centre) coef, held within bounds.

    names: d features; coef and centre have d entries
    covariance: of (level, coef), d + 1 rows of d + 1 numbers; null if it is not known
    noise, source_noise: residual variance of the target and of each source; null if unknown
    weights: weight of a row of each source, where a target row has weight one
    dropped: features with coefficient zero by decision, and why
    rounding: the part of (level, coef) lost to rounding, d + 1 numbers; null if it is not known
    bounds: null for no bound
    conflict, level_conflict: probability that a source contradicts the target, and that it does so
        in its level alone
    share: weight of the fit with sources in its mean with the fit without; null if there is no mean
    reason: why this method, where one was chosen
    """

    names: list[str]
    coef: list[float]
    centre: list[float]
    level: float
    covariance: list[list[float]] | None
    noise: NotNegative | None
    source_noise: dict[str, NotNegative | None]
    weights: dict[str, NotNegative]
    dropped: dict[str, str]
    cautions: list[CautionRecord]
    rounding: list[float] | None
    intercept_variance: NotNegative | None
    distribution: StudentTRecord
    bounds: tuple[float | None, float | None] | None
    conflict: dict[str, Probability]
    level_conflict: dict[str, Probability]
    share: Probability | None
    reason: str

    def __post_init__(self) -> None:
        _ = self.fit

    @cached_property
    def fit(self) -> LinearFit:
        """The fit, without a pool."""
        d, given, freedom = len(self.names), asdict(self), self.distribution.freedom
        shapes = {"coef": (d,), "centre": (d,), "covariance": (d + 1, d + 1), "rounding": (d + 1,)}
        for key, shape in shapes.items():
            if given[key] is not None:
                given[key] = numbers(key, given[key], *shape)
        if self.bounds is not None:
            low, high = self.bounds
            given["bounds"] = (
                -math.inf if low is None else low,
                math.inf if high is None else high,
            )
            check_bounds(*given["bounds"])
        given["names"] = tuple(self.names)
        given["distribution"] = StudentT(
            math.inf if freedom is None else freedom, self.distribution.deviation
        )
        given["cautions"] = tuple(WARNINGS[c.kind](c.message) for c in self.cautions)
        if unknown := sorted(self.dropped.keys() - set(self.names)):
            raise ValueError(f"`dropped` has {unknown[0]!r}, which `names` does not have")
        with np.errstate(over="ignore"):
            if not np.isfinite(abs(self.level) + np.abs(given["coef"] * given["centre"]).sum()):
                raise ValueError("the intercept is beyond doubles")
        return LinearFit(**given)

    def named(self, names: tuple[str, ...]) -> LinearFit:
        """Return the fit of these features."""
        if self.fit.names != names:
            raise ValueError(
                "the `names` of a fit differ from the columns and their levels, or in their order"
            )
        return self.fit

    def restored(
        self, features: tuple[str, ...], response: str, moments: ModelMomentsRecord | None
    ) -> LinearFit:
        """Return the fit of a model with these features."""
        fit = self.named(features)
        if moments is None:
            return fit
        if moments.derived is not None:
            raise ValueError("`moments.derived` is only for a fit with trees")
        pool = None if moments.pool is None else moments.pool.moments
        if pool is not None and (not pool.weight or {*pool.names} != {*features, response}):
            raise ValueError("the pool has no rows, or other columns than the target")
        return replace(fit, pool=pool)


def check_bounds(low: float, high: float) -> None:
    """Raise ValueError if bounds are in the wrong order."""
    if not low <= high:
        raise ValueError(f"the upper bound, {high:g}, is below the lower bound, {low:g}")
