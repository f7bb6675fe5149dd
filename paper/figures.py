"""Simulations and splits of real files, fitted, judged and written."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from paper import datasets, specs
from paper.errors import PaperError, check_name
from paper.estimators import ESTIMATORS, SCALED, Sample, problems_of
from paper.protocol import QUIRKS
from paper.results import each, write_file
from paper.specs import Axis, Curve, DataSplit, FigureSpec, Protocol, Simulation
from poolwise._typing import AnyPath, Array
from poolwise.methods import METHODS, needs_rows
from poolwise.moments.progress import tracked

LINEAR = [name for name, kind in METHODS.items() if not needs_rows(kind)]  # fitted by moments


@dataclass(frozen=True)
class Point:
    """One curve at one place: mean over repetitions, standard error and 95 % band."""

    figure: str
    curve: str
    protocol: str
    x: float
    mean: float
    error: float
    low: float
    high: float
    repetitions: int
    seed: int | None  # None for the seeds of a published split

    @classmethod
    def of_values(
        cls, figure: str, curve: str, protocol: str, x: float, values: Array, seed: int | None
    ) -> Point:
        """Return the point of these values, one per repetition; the band is Student's."""
        n, mean = len(values), float(values.mean())
        error = float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
        half = float(student.ppf(0.975, n - 1)) * error if n > 1 else math.nan
        return cls(figure, curve, protocol, x, mean, error, mean - half, mean + half, n, seed)


def curve_of(points: Iterable[Point], curve: str) -> list[Point]:
    """Return the points of one curve, from left to right."""
    return sorted((p for p in points if p.curve == curve), key=lambda p: p.x)


def run(
    figure: str | FigureSpec,
    *,
    protocol: Protocol = "published",
    methods: Sequence[str] = (),
    seed: int | None = None,
    repetitions: int | None = None,
    data: AnyPath | None = None,
    jobs: int = 1,
    progress: bool | None = None,
) -> list[Point]:
    """Compute the points of a figure, given by name or by a specification.

    Each of the further ``methods`` is one more curve, fitted in ``jobs`` processes; the paper's own
    take a fraction of a second and stay in this one. ``seed`` and ``repetitions`` default to the
    specification, and ``data`` is a folder with the data.
    """
    spec = spec_of(figure)
    check_name("protocol", protocol, specs.PROTOCOLS)
    curves = _curves(spec, protocol, methods)
    repetitions = spec.repetitions if repetitions is None else repetitions
    seed = spec.seed if seed is None else seed
    if isinstance(spec.experiment, Simulation):
        if seed is None:
            raise PaperError(f"seed must be given, or be in the specification of {spec.name}.")
        drawn = simulate(spec.experiment, spec.x, repetitions=repetitions, seed=seed)
    else:
        rows = load_columns(spec.experiment, data)
        drawn = split_targets(rows, spec.experiment, spec.x, repetitions=repetitions, seed=seed)
    tasks = [(draw, curves, spec.measure) for draw in drawn]
    if all(curve.method in ESTIMATORS for curve in curves):
        jobs = min(jobs, 1)
    done = each(Draw.scores, tasks, jobs)
    scores = dict(tracked(done, len(tasks), f"Figure {spec.name}", show=progress))
    return [
        Point.of_values(spec.name, curve.name, protocol, draw.x, values, seed)
        for k, (draw, _, _) in enumerate(tasks)
        for curve, values in zip(curves, scores[k], strict=True)
    ]


def write(points: Sequence[Point], figure: str | FigureSpec, out: AnyPath) -> list[Path]:
    """Write the points of a figure as SVG, PNG and CSV, and return the three paths."""
    from paper.drawing import draw  # matplotlib takes a while to load

    spec, out = spec_of(figure), Path(out)
    out.mkdir(parents=True, exist_ok=True)
    text = io.StringIO(newline="")
    header = tuple(field.name for field in fields(Point))
    csv.writer(text, lineterminator="\n").writerows([header, *map(astuple, points)])
    table = out / f"{spec.name}.csv"
    write_file(table, text.getvalue())
    return [*draw(points, spec, out), table]


def spec_of(figure: str | FigureSpec) -> FigureSpec:
    """Return a specification given by name or as an object."""
    return figure if isinstance(figure, FigureSpec) else specs.read_figure_spec(figure)


@dataclass(frozen=True, eq=False)
class Draw:
    """All repetitions of one point of a figure: sources, targets, and one test set."""

    x: float
    source: Array  # (R, n_S, 2): old column and response
    target: Array  # (R, n_T, 3): old column, new column and response
    test: Array  # (n, 3)

    def __post_init__(self) -> None:
        # Fixes the memory layout, and with it the order of sums, in every process.
        for name in ("source", "target", "test"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name)))

    @property
    def sample(self) -> Sample:
        """The training rows."""
        S, T = self.source, self.target
        return Sample(S[..., :-1], S[..., -1], T[..., :-1], T[..., -1])

    def scores(self, curves: Sequence[Curve], measure: str) -> list[Array]:
        """Return the plotted quantity of each curve, for each repetition."""
        errors = [self.squared_errors(curve) for curve in curves]
        if measure == "mse":
            return errors
        alone = self.squared_errors(Curve("", "", "target_only"))
        return [alone - error for error in errors]

    def squared_errors(self, curve: Curve) -> Array:
        """Fit all repetitions, and return the mean squared error of each on the test rows."""
        X, y = self.test[:, :-1], self.test[:, -1]
        if curve.method in ESTIMATORS:
            lines = ESTIMATORS[curve.method](self.sample, SCALED, **curve.options)
            return lines.squared_error(X, y)
        # Sums in doubles are enough: these columns are far from collinear.
        problems = problems_of(self.sample, ("old", "new"), precision="fast")
        fits = [METHODS[curve.method](**curve.options).solve(problem) for problem in problems]
        return np.array([np.mean((y - fit.predict(X)) ** 2) for fit in fits])


def simulate(simulation: Simulation, axis: Axis, *, repetitions: int, seed: int) -> Iterator[Draw]:
    """Yield the repetitions of each point, sampled from a known truth.

    The same random numbers serve every point of a figure: a point with fewer target rows has the
    first rows of a point with more, and another correlation or mean is another map of the same
    numbers. So there is little noise in differences along a curve.
    """
    kind = int if axis.varies == "target_rows" else float
    points = [replace(simulation, **{axis.varies: kind(value)}) for value in axis.values]
    longest = max(point.target_rows for point in points)
    test, source, target = (np.random.default_rng([seed, part]) for part in range(3))
    z_test = test.normal(size=(simulation.test_rows, 3))
    z_source = source.normal(size=(repetitions, simulation.source_rows, 3))
    z_target = target.normal(size=(repetitions, longest, 3))
    for value, point in zip(axis.values, points, strict=True):
        yield Draw(
            x=value,
            source=_rows(replace(point, shift=0.0), z_source)[..., [0, 2]],
            target=_rows(point, z_target[:, : point.target_rows]),
            test=_rows(point, z_test),
        )


def _rows(truth: Simulation, z: Array) -> Array:
    """Map independent standard normal numbers to rows of old, new and y."""
    c = truth.correlation
    old = truth.mean[0] + z[..., 0]
    new = truth.mean[1] + truth.shift + c * z[..., 0] + np.sqrt(1.0 - c**2) * z[..., 1]
    y = truth.intercept + truth.coefficients[0] * old + truth.coefficients[1] * new
    return np.stack((old, new, y + np.sqrt(truth.noise) * z[..., 2]), axis=-1)


def split_targets(
    rows: Array, split: DataSplit, axis: Axis, *, repetitions: int, seed: int | None = None
) -> Iterator[Draw]:
    """Yield the repetitions of each number of target rows, from rows of old, new and response.

    The rows are shuffled once. The first are the source, the next the test set; disjoint targets
    come from the rest, which is shuffled again for each number of target rows. A seed replaces both
    published seeds; the generator is numpy's legacy one, as published.
    """
    split_seed, target_seed = (split.split_seed, split.target_seed) if seed is None else (seed,) * 2
    shuffled = rows[np.random.RandomState(split_seed).permutation(len(rows))]
    source, test, rest = np.split(
        shuffled, [split.source_rows, split.source_rows + split.test_rows]
    )
    most = int(len(rest) // max(axis.values))
    if repetitions > most:
        has = f"{split.dataset} has {len(rest)} rows for disjoint targets"
        raise PaperError(f"repetitions={repetitions} must be at most {most}: {has}.")
    old = np.broadcast_to(source[:, [0, 2]], (repetitions, split.source_rows, 2))
    generator = np.random.RandomState(target_seed)
    for value in axis.values:
        n = int(value)
        drawn = rest[generator.permutation(len(rest))[: repetitions * n]]
        yield Draw(value, old, drawn.reshape(repetitions, n, 3), test)


def load_columns(split: DataSplit, data: AnyPath | None = None) -> Array:
    """Return old column, new column and response, in their own units."""
    return datasets.load(split.dataset, data)[:, list(split.columns)] + np.array(split.add)


def _curves(spec: FigureSpec, protocol: Protocol, methods: Sequence[str]) -> list[Curve]:
    known = {curve.name for curve in spec.curves}
    extra = [Curve(m, m.replace("_", " "), m) for m in dict.fromkeys(methods) if m not in known]
    for curve in (*spec.curves, *extra):
        check_name("method", curve.method, LINEAR)
    quirks = QUIRKS[protocol]
    return [
        replace(c, options={**quirks.get(c.method, {}), **c.options})
        for c in (*spec.curves, *extra)
    ]
