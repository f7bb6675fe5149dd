"""Figures: run one, judge it, write it. What the command line calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from poolwise.errors import BadOption, UnknownMethod
from poolwise.experiments.detailed import load_columns, split_targets
from poolwise.experiments.drawing import draw
from poolwise.experiments.expectations import Verdict, judge
from poolwise.experiments.figure_specs import NAMES, Curve, FigureSpec, Simulation, read_spec
from poolwise.experiments.points import Point, write_points
from poolwise.experiments.simulations import simulate
from poolwise.methods import METHODS
from poolwise.progress import tracked

__all__ = ["NAMES", "PROTOCOLS", "run", "verdicts", "write"]

Protocol = Literal["published", "corrected"]

# What a protocol changes in a method. Published noise is RSS/n, that of Algorithm 1 RSS/(n - d).
PROTOCOLS: dict[Protocol, Mapping[str, Mapping[str, Any]]] = {
    "published": {"data_pooling": {"ddof": "mle"}},
    "corrected": {},
}


def run(
    name: str,
    *,
    protocol: Protocol = "published",
    methods: Sequence[str] = (),
    seed: int | None = None,
    repetitions: int | None = None,
    data: str | Path | None = None,
    progress: bool | None = None,
) -> list[Point]:
    """Compute the points of a figure.

    Parameters
    ----------
    name : str
        One of ``NAMES``.
    protocol : {"published", "corrected"}, default="published"
        Whether noise is estimated as published or as Algorithm 1 is written.
    methods : sequence of str, default=()
        Further registered methods, one more curve each.
    seed, repetitions : int, optional
        Those of the spec unless given.
    data : path, optional
        Folder with the data, for the figures that need some.
    progress : bool, optional
        Whether to show a progress bar; unless given, on a terminal.
    """
    spec = read_spec(name)
    if protocol not in PROTOCOLS:
        raise BadOption("protocol", protocol, f"one of {', '.join(PROTOCOLS)}")
    curves = _curves(spec, protocol, methods)
    repetitions = spec.repetitions if repetitions is None else repetitions
    if repetitions < 1:
        raise BadOption("repetitions", repetitions, "at least one")
    seed = spec.seed if seed is None else seed
    if isinstance(spec.experiment, Simulation):
        assert seed is not None
        samples = simulate(spec.experiment, spec.x, repetitions=repetitions, seed=seed)
    else:
        rows = load_columns(spec.experiment, data)
        samples = split_targets(rows, spec.experiment, spec.x, repetitions=repetitions, seed=seed)
    return [
        Point.of_values(
            name, curve.name, protocol, sample.x, sample.score(curve, spec.measure), seed
        )
        for sample in tracked(samples, len(spec.x.values), f"Figure {name}", show=progress)
        for curve in curves
    ]


def verdicts(points: Sequence[Point], name: str) -> list[Verdict]:
    """Hold the points of a figure against what the paper says of it."""
    return judge(points, read_spec(name).expected)


def write(points: Sequence[Point], name: str, out: str | Path) -> list[Path]:
    """Write a figure as SVG, PNG and CSV, and return the three paths.

    Parameters
    ----------
    points : sequence of Point
        What `run` returned.
    name : str
        The same name.
    out : path
        Folder, made if it is not there.
    """
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    table = out / f"{name}.csv"
    write_points(points, table)
    return [*draw(points, read_spec(name), out), table]


def _curves(spec: FigureSpec, protocol: Protocol, methods: Sequence[str]) -> list[Curve]:
    known = {curve.name for curve in spec.curves}
    extra = [Curve(m, m.replace("_", " "), m) for m in dict.fromkeys(methods) if m not in known]
    for curve in extra:
        if curve.method not in METHODS:
            raise UnknownMethod(curve.method, list(METHODS))
    changes = PROTOCOLS[protocol]
    return [
        replace(c, options={**changes.get(c.method, {}), **c.options})
        for c in (*spec.curves, *extra)
    ]
