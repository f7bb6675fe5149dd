"""Figures: run one, judge it, write it. What the command line calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from poolwise.double_double import Array
from poolwise.errors import BadOption, UnknownMethod
from poolwise.experiments.detailed import load_columns, split_targets
from poolwise.experiments.drawing import draw
from poolwise.experiments.expectations import Judgement, judge
from poolwise.experiments.figure_specs import (
    NAMES,
    Curve,
    FigureSpec,
    Measure,
    Simulation,
    read_spec,
)
from poolwise.experiments.points import Point, write_points
from poolwise.experiments.samples import Samples
from poolwise.experiments.simulations import simulate
from poolwise.experiments.specs import Protocol, check_protocol
from poolwise.experiments.stacked_methods import STACKED
from poolwise.experiments.workers import each
from poolwise.methods import METHODS
from poolwise.progress import tracked

__all__ = ["NAMES", "judgements", "run", "write"]

# What a protocol changes in a method. Published noise is RSS/n, that of Algorithm 1 RSS/(n - d).
CHANGES: dict[Protocol, Mapping[str, Mapping[str, Any]]] = {
    "published": {"data_pooling": {"ddof": "mle"}},
    "corrected": {},
}


def run(
    figure: str | FigureSpec,
    *,
    protocol: Protocol = "published",
    methods: Sequence[str] = (),
    seed: int | None = None,
    repetitions: int | None = None,
    data: str | Path | None = None,
    jobs: int = 1,
    progress: bool | None = None,
) -> list[Point]:
    """Compute the points of a figure.

    Parameters
    ----------
    figure : str or FigureSpec
        One of ``NAMES``, or a spec of one's own.
    protocol : {"published", "corrected"}, default="published"
        Whether noise is estimated as published or as Algorithm 1 is written.
    methods : sequence of str, default=()
        Further registered methods, one more curve each.
    seed, repetitions : int, optional
        Those of the spec unless given.
    data : path, optional
        Folder with the data, for the figures that need some.
    jobs : int, default=1
        How many processes fit the further methods; the paper's own take a fraction of a second and
        stay in this one. The numbers do not depend on it.
    progress : bool, optional
        Whether to show a progress bar; unless given, on a terminal.
    """
    spec = _spec(figure)
    check_protocol(protocol)
    curves = _curves(spec, protocol, methods)
    repetitions = spec.repetitions if repetitions is None else repetitions
    if repetitions < 1:
        raise BadOption("repetitions", repetitions, "at least one")
    seed = spec.seed if seed is None else seed
    if isinstance(spec.experiment, Simulation):
        if seed is None:
            raise BadOption("seed", seed, f"a number, given or in the spec of {spec.name}")
        drawn = simulate(spec.experiment, spec.x, repetitions=repetitions, seed=seed)
    else:
        rows = load_columns(spec.experiment, data)
        drawn = split_targets(rows, spec.experiment, spec.x, repetitions=repetitions, seed=seed)
    samples = list(drawn)
    if all(curve.method in STACKED for curve in curves):
        jobs = min(jobs, 1)
    scores = _scores(samples, curves, spec.measure, jobs, f"Figure {spec.name}", progress)
    return [
        Point.of_values(spec.name, curve.name, protocol, sample.x, values, seed)
        for sample, by_curve in zip(samples, scores, strict=True)
        for curve, values in zip(curves, by_curve, strict=True)
    ]


def judgements(points: Sequence[Point], figure: str | FigureSpec) -> list[Judgement]:
    """Hold the points of a figure against what its spec says of it."""
    return judge(points, _spec(figure).expected)


def write(points: Sequence[Point], figure: str | FigureSpec, out: str | Path) -> list[Path]:
    """Write a figure as SVG, PNG and CSV, and return the three paths.

    Parameters
    ----------
    points : sequence of Point
        What `run` returned.
    figure : str or FigureSpec
        The same figure.
    out : path
        Folder, made if it is not there.
    """
    spec, out = _spec(figure), Path(out)
    out.mkdir(parents=True, exist_ok=True)
    table = out / f"{spec.name}.csv"
    write_points(points, table)
    return [*draw(points, spec, out), table]


def _spec(figure: str | FigureSpec) -> FigureSpec:
    return figure if isinstance(figure, FigureSpec) else read_spec(figure)


def _scores(
    samples: Sequence[Samples],
    curves: Sequence[Curve],
    measure: Measure,
    jobs: int,
    label: str,
    progress: bool | None,
) -> list[Array]:
    """Return the scores of each point, one row per curve, through files: a process has no other."""
    with TemporaryDirectory() as folder:
        files = [Path(folder) / f"{k}.npy" for k in range(len(samples))]
        tasks = [(f, sample, curves, measure) for f, sample in zip(files, samples, strict=True)]
        for _ in tracked(each(_score, tasks, jobs), len(tasks), label, show=progress):
            pass
        return [np.load(file) for file in files]


def _score(file: Path, sample: Samples, curves: Sequence[Curve], measure: Measure) -> None:
    np.save(file, np.array([sample.score(curve, measure) for curve in curves]))


def _curves(spec: FigureSpec, protocol: Protocol, methods: Sequence[str]) -> list[Curve]:
    known = {curve.name for curve in spec.curves}
    extra = [Curve(m, m.replace("_", " "), m) for m in dict.fromkeys(methods) if m not in known]
    for curve in (*spec.curves, *extra):
        if curve.method not in METHODS:
            raise UnknownMethod(curve.method, list(METHODS))
    changes = CHANGES[protocol]
    return [
        replace(c, options={**changes.get(c.method, {}), **c.options})
        for c in (*spec.curves, *extra)
    ]
