"""Specs: what ``specs/<table>.toml`` says of a table, read and checked."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

from poolwise.errors import BadOption

TABLES = ("small5", "small3", "small5_np1", "large100", "large300", "nonadd5")
STATISTICS, SETUPS = "statistics", "setups"

Protocol = Literal["published", "corrected"]
PROTOCOLS: tuple[Protocol, ...] = ("published", "corrected")


@dataclass(frozen=True)
class Published:
    """One line of a table as the paper prints it.

    Parameters
    ----------
    means, sds : mapping of str to float
        Mean and standard deviation over runs, by the paper's name of the method.
    mark : {"", "*", "†"}
        Data pooling against target only: significantly better, no significant difference,
        significantly worse.
    underlined, italic : str
        Which of dp and dsft_nl, and which of dp and dsft, is significantly better; or "".
    """

    means: Mapping[str, float]
    sds: Mapping[str, float]
    mark: str
    underlined: str
    italic: str


@dataclass(frozen=True)
class TableSpec:
    """One table of the paper.

    Parameters
    ----------
    name, title, where, metric : str
        Its name here, its title in plain words, its place in the paper, and what it counts.
    split : {"small", "large"}
        How rows are dealt out.
    new_features : int
        How many features the source lacks.
    rows_of_target : int
        Rows of each target.
    rows_per_feature : int
        Further rows of each target for each feature: 1 or 0.
    product : bool
        Whether there is a product of features, in the features and in the response.
    datasets : tuple of str
        The lines of the table.
    methods : mapping of str to str
        The paper's name of each method, in the order of the columns, and ours.
    published : mapping of str to Published
        What the paper prints, by dataset.
    digest : str
        Hash of everything above, and of the dataset sizes and the setups, which decide the splits.
    """

    name: str
    title: str
    where: str
    metric: str
    split: Literal["small", "large"]
    new_features: int
    rows_of_target: int
    rows_per_feature: int
    product: bool
    datasets: tuple[str, ...]
    methods: Mapping[str, str]
    published: Mapping[str, Published]
    digest: str

    def target_rows(self, features: int) -> int:
        """Return the number of rows of a target with so many features."""
        return self.rows_of_target + self.rows_per_feature * features


@dataclass(frozen=True)
class Sizes:
    """One line of the paper's dataset statistics.

    Parameters
    ----------
    total, source, target, test : int
        Rows in all, and those of source, each target and test set in the small setup.
    features : int
        Features of the target.
    runs : int
        Runs in the small setup.
    """

    total: int
    source: int
    target: int
    test: int
    features: int
    runs: int


@dataclass(frozen=True)
class SmallSetup:
    """One source, one test set, disjoint targets.

    Parameters
    ----------
    runs : int
        The most targets.
    extra_rows : int
        Rows of a usual target beyond one per feature.
    targets_in_source, least_source_rows : int
        The source has so many times the rows of a usual target, but so many rows at least.
    test_share : int
        One row in so many is a test row.
    seed, target_seed : int
        Of source and test set, and of the targets.
    """

    runs: int
    extra_rows: int
    targets_in_source: int
    least_source_rows: int
    test_share: int
    seed: int
    target_seed: int


@dataclass(frozen=True)
class LargeSetup:
    """Test set and target drawn anew in each run; the source is what is left.

    Parameters
    ----------
    runs : int
        How many.
    test_share : int
        One row in so many is a test row.
    seed : int
        Of all draws.
    """

    runs: int
    test_share: int
    seed: int


def read_table_spec(name: str) -> TableSpec:
    """Return the spec of a table.

    Parameters
    ----------
    name : str
        One of ``TABLES``.
    """
    if name not in TABLES:
        raise BadOption("table", name, f"one of {', '.join(TABLES)}")
    text = _text(name)
    read = tomllib.loads(text)
    setup, methods = read["setup"], read["methods"]
    fixed, per_feature = _target_rows(setup["target_rows"])
    published = {d: _published(line, methods) for d, line in read["published"].items()}
    if list(published) != setup["datasets"] or setup["split"] not in ("small", "large"):
        raise BadOption("setup", setup, "a known split, and the datasets with published numbers")
    return TableSpec(
        name=name,
        title=read["title"],
        where=read["where"],
        metric=read["metric"],
        split=setup["split"],
        new_features=setup["new_features"],
        rows_of_target=fixed,
        rows_per_feature=per_feature,
        product=setup["product"],
        datasets=tuple(published),
        methods=methods,
        published=published,
        digest=hashlib.sha256((text + _text(STATISTICS) + _text(SETUPS)).encode()).hexdigest(),
    )


def read_statistics() -> dict[str, Sizes]:
    """Return the paper's dataset statistics, in the order of the paper, which is alphabetical."""
    read = tomllib.loads(_text(STATISTICS))
    return {name: Sizes(**sizes) for name, sizes in read["published"].items()}


def read_setups() -> tuple[SmallSetup, LargeSetup]:
    """Return how rows are dealt out in the two setups."""
    read = tomllib.loads(_text(SETUPS))
    return SmallSetup(**read["small"]), LargeSetup(**read["large"])


def check_protocol(protocol: str) -> Protocol:
    """Return a protocol if it is one."""
    for known in PROTOCOLS:
        if protocol == known:
            return known
    raise BadOption("protocol", protocol, "'published' or 'corrected'")


def _text(name: str) -> str:
    file = resources.files("poolwise.experiments").joinpath("specs", f"{name}.toml")
    return file.read_text(encoding="utf-8")


def _target_rows(rows: int | str) -> tuple[int, int]:
    """Read 100, or "d + 30" where d is the number of features."""
    if isinstance(rows, int):
        return rows, 0
    letter, plus, fixed = rows.split()
    if (letter, plus) != ("d", "+"):
        raise BadOption("target_rows", rows, "a number, or 'd + ' and a number")
    return int(fixed), 1


def _published(line: Mapping[str, Any], methods: Mapping[str, str]) -> Published:
    if line["mark"] not in ("", "*", "†"):
        raise BadOption("mark", line["mark"], "'', '*' or '†'")
    if line["underlined"] not in ("", "dp", "dsft_nl") or line["italic"] not in ("", "dp", "dsft"):
        raise BadOption("underlined, italic", line, "'', 'dp', or what dp is compared with")
    return Published(
        means={m: float(line[m][0]) for m in methods},
        sds={m: float(line[m][1]) for m in methods},
        mark=line["mark"],
        underlined=line["underlined"],
        italic=line["italic"],
    )
