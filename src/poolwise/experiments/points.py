"""Points of a figure: mean and 95 % band of one curve at one place, and their CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from scipy.stats import t as student

from poolwise.double_double import Array
from poolwise.experiments.whole_files import replace_file


@dataclass(frozen=True)
class Point:
    """One curve at one place.

    Parameters
    ----------
    figure, curve, protocol : str
        Where it belongs.
    x : float
        The place.
    mean, error : float
        Mean over the repetitions, and its standard error.
    low, high : float
        Ends of the 95 % band of the mean, by Student's distribution.
    repetitions : int
        How many.
    seed : int or None
        None for the seeds of a published split.
    """

    figure: str
    curve: str
    protocol: str
    x: float
    mean: float
    error: float
    low: float
    high: float
    repetitions: int
    seed: int | None

    @classmethod
    def of_values(
        cls, figure: str, curve: str, protocol: str, x: float, values: Array, seed: int | None
    ) -> Point:
        """Return the point of these values, one per repetition."""
        n, mean = len(values), float(values.mean())
        error = float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
        half = float(student.ppf(0.975, n - 1)) * error if n > 1 else math.nan
        low, high = mean - half, mean + half
        return cls(figure, curve, protocol, x, mean, error, low, high, n, seed)


def curve_of(points: Iterable[Point], curve: str) -> list[Point]:
    """Return the points of one curve, from left to right."""
    return sorted((p for p in points if p.curve == curve), key=lambda p: p.x)


def write_points(points: Sequence[Point], path: Path) -> None:
    """Write points as CSV, one per line; floats so that they are read back to the last bit."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [f.name for f in fields(Point)], lineterminator="\n")
    writer.writeheader()
    for point in points:
        writer.writerow({k: "" if v is None else v for k, v in asdict(point).items()})
    replace_file(path, text.getvalue())
