r"""Simulations: samples from a known truth, all repetitions of a point in one array.

The same random numbers serve every point of a figure: a point with fewer target rows has the first
of the rows of a point with more, and another correlation or mean is another map of the same
numbers. Differences along a curve are then not blurred by chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from poolwise.double_double import Array
from poolwise.experiments.figure_specs import Axis, Simulation
from poolwise.experiments.samples import Samples


def simulate(
    simulation: Simulation, axis: Axis, *, repetitions: int, seed: int
) -> Iterator[Samples]:
    """Yield the samples of each point.

    Parameters
    ----------
    simulation : Simulation
        The truth.
    axis : Axis
        What varies, and where the points are.
    repetitions : int
        Sources and targets per point.
    seed : int
        Of everything drawn.
    """
    points = [_at(simulation, axis.varies, value) for value in axis.values]
    longest = max(point.target_rows for point in points)
    test, source, target = (np.random.default_rng([seed, part]) for part in range(3))
    z_test = test.normal(size=(simulation.test_rows, 3))
    z_source = source.normal(size=(repetitions, simulation.source_rows, 3))
    z_target = target.normal(size=(repetitions, longest, 3))
    for value, point in zip(axis.values, points, strict=True):
        before = replace(point, shift=0.0)
        yield Samples(
            x=value,
            source=_rows(before, z_source)[..., [0, 2]],
            target=_rows(point, z_target[:, : point.target_rows]),
            test=_rows(point, z_test),
        )


def _at(simulation: Simulation, varies: str, value: float) -> Simulation:
    if varies == "target_rows":
        return replace(simulation, target_rows=int(value))
    if varies == "correlation":
        return replace(simulation, correlation=value)
    return replace(simulation, shift=value)


def _rows(truth: Simulation, z: Array) -> Array:
    """Map independent standard normal numbers to rows of old, new and y."""
    c = truth.correlation
    old = truth.mean[0] + z[..., 0]
    new = truth.mean[1] + truth.shift + c * z[..., 0] + np.sqrt(1.0 - c**2) * z[..., 1]
    y = truth.intercept + truth.coefficients[0] * old + truth.coefficients[1] * new
    return np.stack((old, new, y + np.sqrt(truth.noise) * z[..., 2]), axis=-1)
