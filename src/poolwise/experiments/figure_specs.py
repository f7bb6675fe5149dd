"""What a figure is: the words of ``specs/figures/*.toml``, read and checked."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, Literal

import numpy as np

from poolwise.errors import BadOption

Measure = Literal["mse", "gain"]

NAMES = ("gain_noise", "gain_mean", "correlation", "mean_shift", "wine", "concrete", "airfare")


@dataclass(frozen=True)
class Axis:
    """What varies along a figure.

    Parameters
    ----------
    varies : {"target_rows", "correlation", "shift"}
        Which number of the experiment; a split of data has target rows only.
    label : str
        The same in plain words.
    values : tuple of float
        Where the figure has its points.
    """

    varies: Literal["target_rows", "correlation", "shift"]
    label: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Curve:
    """One curve.

    Parameters
    ----------
    name : str
        What the results call it.
    label : str
        What the figure calls it.
    method : str
        One of ``poolwise.methods.METHODS``.
    options : mapping
        The options of that method.
    """

    name: str
    label: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Simulation:
    r"""A truth to sample from: :math:`y = \iota + x\theta + \varepsilon` with old and new column.

    Parameters
    ----------
    intercept, coefficients, noise : float, tuple of two floats, float
        The truth; noise is a variance.
    mean : tuple of two floats
        Means of the old and the new column, whose variances are one.
    source_rows, test_rows : int
        Rows of each source, and of the one test set.
    target_rows : int, default=0
        Rows of each target, unless they vary.
    correlation : float, default=0.0
        Of the old and the new column.
    shift : float, default=0.0
        Mean of the new column in target and test set, less that in the source.
    """

    intercept: float
    coefficients: tuple[float, float]
    noise: float
    mean: tuple[float, float]
    source_rows: int
    test_rows: int
    target_rows: int = 0
    correlation: float = 0.0
    shift: float = 0.0


@dataclass(frozen=True)
class DataSplit:
    """A file, three of its columns, and how its rows are split.

    Parameters
    ----------
    dataset : str
        Name of the file.
    columns : tuple of three ints
        Where the old column, the new column and the response stand.
    add : tuple of three floats
        Added to these columns, which the file may hold centred.
    source_rows, test_rows : int
        Rows of the one source and of the one test set.
    split_seed, target_seed : int
        Seeds of the published split, and of the draws of targets.
    """

    dataset: str
    columns: tuple[int, int, int]
    add: tuple[float, float, float]
    source_rows: int
    test_rows: int
    split_seed: int
    target_seed: int


@dataclass(frozen=True)
class FigureSpec:
    """One figure.

    Parameters
    ----------
    name, title, where : str
        Its name here, its title in plain words, and its place in the paper.
    measure : {"mse", "gain"}
        Mean squared error on test rows, or that of target only less that of the method.
    y_label, note : str
        What the height means, and what else a reader should know.
    zoom_from : float or None
        Target rows from which on a second panel shows the curves enlarged.
    x : Axis
        What varies.
    curves : tuple of Curve
        In the order of the paper.
    repetitions : int
        Samples per point.
    seed : int or None
        Of a simulation; a split of data has its own.
    experiment : Simulation or DataSplit
        Where the rows come from.
    expected : tuple of mappings
        What the paper says of the figure, in the words of ``expectations.py``.
    """

    name: str
    title: str
    where: str
    measure: Measure
    y_label: str
    note: str
    zoom_from: float | None
    x: Axis
    curves: tuple[Curve, ...]
    repetitions: int
    seed: int | None
    experiment: Simulation | DataSplit
    expected: tuple[Mapping[str, Any], ...]


def read_spec(name: str) -> FigureSpec:
    """Return the spec of a figure.

    Parameters
    ----------
    name : str
        One of ``NAMES``.
    """
    if name not in NAMES:
        raise BadOption("figure", name, f"one of {', '.join(NAMES)}")
    file = resources.files("poolwise.experiments").joinpath("specs", "figures", f"{name}.toml")
    return parse_spec(name, file.read_text(encoding="utf-8"))


def parse_spec(name: str, text: str) -> FigureSpec:
    """Return the spec that a text says.

    Parameters
    ----------
    name : str
        What the figure is called in results.
    text : str
        The text of a TOML file.
    """
    try:
        return _spec(name, tomllib.loads(text))
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        right = "a text in TOML with the words that poolwise.experiments.figure_specs explains"
        raise BadOption(f"spec of {name}", str(error), right) from error


def _spec(name: str, read: dict[str, Any]) -> FigureSpec:
    figure, x, repeat = read["figure"], read["x"], read["repeat"]
    values = np.linspace(x["first"], x["last"], x["count"])
    return FigureSpec(
        name=name,
        zoom_from=figure.pop("zoom_from", None),
        **figure,
        x=Axis(x["varies"], x["label"], tuple(float(v) for v in values.round(12))),
        curves=tuple(Curve(**curve) for curve in read["curve"]),
        repetitions=repeat["repetitions"],
        seed=repeat.get("seed"),
        experiment=_experiment(read),
        expected=tuple(read.get("expected", ())),
    )


def _experiment(read: Mapping[str, Any]) -> Simulation | DataSplit:
    table = read.get("simulation") or read["data"]
    words: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}
    return Simulation(**words) if "simulation" in read else DataSplit(**words)
