"""The specifications in ``specs/``: tables, setups, printed numbers and figures."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from paper.errors import PaperError, check_name

TABLES = ("small5", "small3", "small5_np1", "large100", "large300", "nonadd5")
STATISTICS, SETUPS = "statistics", "setups"
FIGURES = ("gain_noise", "gain_mean", "correlation", "mean_shift", "wine", "concrete", "airfare")

Protocol = Literal["published", "corrected"]
PROTOCOLS: tuple[Protocol, ...] = ("published", "corrected")

FOLDER = Path(__file__).parent / "specs"


def read_toml(name: str) -> dict[str, Any]:
    """Return the contents of ``specs/<name>.toml``."""
    return tomllib.loads(_text(name))


def _text(name: str) -> str:
    return (FOLDER / f"{name}.toml").read_text(encoding="utf-8")


@dataclass(frozen=True)
class PrintedLine:
    """One line of a table as the paper prints it; methods have the paper's names."""

    means: Mapping[str, float]  # over runs, by method
    sds: Mapping[str, float]
    mark: str  # dp against ols: "" significantly better, "*" no difference, "†" worse
    underlined: str  # which of dp and dsft_nl is significantly better, or ""
    italic: str  # which of dp and dsft is, or ""


@dataclass(frozen=True)
class TableSpec:
    """One table of the paper."""

    name: str
    title: str
    where: str  # in the paper
    metric: str
    split: Literal["small", "large"]
    new_features: int  # that the source lacks
    rows_of_target: int
    rows_per_feature: int  # further rows of each target
    product: bool  # whether a product of features is a feature and part of the response
    datasets: tuple[str, ...]
    methods: Mapping[str, str]  # the paper's name of each column, and ours
    published: Mapping[str, PrintedLine]  # by dataset
    digest: str  # hash of everything above, and of sizes and setups, which decide the splits

    def target_rows(self, features: int) -> int:
        """Return the rows of a target with this many features."""
        return self.rows_of_target + self.rows_per_feature * features


class Sizes(NamedTuple):
    """One line of the paper's dataset statistics: rows in the small setup, features and runs."""

    total: int
    source: int
    target: int
    test: int
    features: int
    runs: int


def read_table_spec(name: str) -> TableSpec:
    """Return the specification of one of ``TABLES``."""
    check_name("table", name, TABLES)
    read = read_toml(name)
    setup, methods = read.pop("setup"), read.pop("methods")
    published = {d: _printed(line, methods) for d, line in read.pop("published").items()}
    decisive = _text(name) + _text(STATISTICS) + _text(SETUPS)
    return TableSpec(
        name=name,
        **read,
        **{**setup, "datasets": tuple(setup["datasets"])},
        methods=methods,
        published=published,
        digest=hashlib.sha256(decisive.encode()).hexdigest(),
    )


def read_statistics() -> dict[str, Sizes]:
    """Return the paper's dataset statistics, in the order of the paper, which is alphabetical."""
    return {name: Sizes(**sizes) for name, sizes in read_toml(STATISTICS)["published"].items()}


def _printed(line: Mapping[str, Any], methods: Mapping[str, str]) -> PrintedLine:
    means, sds = ({m: float(line[m][k]) for m in methods} for k in (0, 1))
    return PrintedLine(means, sds, line["mark"], line["underlined"], line["italic"])


@dataclass(frozen=True)
class Axis:
    """The quantity that varies along a figure, and its values."""

    varies: Literal["target_rows", "correlation", "shift"]
    label: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Curve:
    """One curve: its name in results, its label, and a method of ``METHODS`` with options."""

    name: str
    label: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Simulation:
    """A truth to sample from: a response and an old and a new column of variance one."""

    intercept: float
    coefficients: tuple[float, float]
    noise: float  # variance
    mean: tuple[float, float]  # of the old and the new column
    source_rows: int
    test_rows: int
    target_rows: int = 0  # unless they vary
    correlation: float = 0.0  # of the old and the new column
    shift: float = 0.0  # mean of the new column in target and test set minus that in the source


@dataclass(frozen=True)
class DataSplit:
    """A file, three of its columns, and how its rows are split."""

    dataset: str
    columns: tuple[int, int, int]  # positions of the old column, the new one and the response
    add: tuple[float, float, float]  # to these columns, which the file may hold centred
    source_rows: int
    test_rows: int
    split_seed: int  # of the published split
    target_seed: int  # of the draws of targets


@dataclass(frozen=True)
class FigureSpec:
    """One figure."""

    name: str
    title: str
    where: str  # in the paper
    measure: Literal["mse", "gain"]  # on test rows; a gain is against target only
    y_label: str
    note: str
    zoom_from: float | None  # target rows from which on a second panel enlarges the curves
    x: Axis
    curves: tuple[Curve, ...]
    repetitions: int
    seed: int | None  # of a simulation; a split of data has its own
    experiment: Simulation | DataSplit
    expected: tuple[Mapping[str, Any], ...]  # statements of the paper, for expectations.py


def read_figure_spec(name: str) -> FigureSpec:
    """Return the specification of one of ``FIGURES``."""
    check_name("figure", name, FIGURES)
    return parse_figure_spec(name, _text(f"figures/{name}"))


def parse_figure_spec(name: str, text: str) -> FigureSpec:
    """Return the specification of a figure from the text of a TOML file."""
    try:
        return _figure_spec(name, tomllib.loads(text))
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        right = "a text in TOML with the words that FigureSpec in paper/specs.py explains"
        raise PaperError(f"The specification of {name} is not {right}: {error}.") from error


def _figure_spec(name: str, read: dict[str, Any]) -> FigureSpec:
    figure, x, repeat = read["figure"], read["x"], read["repeat"]
    values = np.linspace(x["first"], x["last"], x["count"]).round(12)
    table = read.get("simulation") or read["data"]
    words: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}
    return FigureSpec(
        name=name,
        zoom_from=figure.pop("zoom_from", None),
        **figure,
        x=Axis(x["varies"], x["label"], tuple(map(float, values))),
        curves=tuple(Curve(**curve) for curve in read["curve"]),
        repetitions=repeat["repetitions"],
        seed=repeat.get("seed"),
        experiment=Simulation(**words) if "simulation" in read else DataSplit(**words),
        expected=tuple(read.get("expected", ())),
    )
