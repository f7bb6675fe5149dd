"""Sharing: moments of few rows tell about single rows, and are not to leave the house."""

from __future__ import annotations

import numpy as np

from poolwise.errors import TooFewToShare
from poolwise.store import Record

ROUNDED = 1e-9  # share of the weight by which rounding may move a scatter


def check_shareable(record: Record, min_rows: int) -> None:
    """Refuse moments of few rows, or of few zeros or ones in a column of such alone."""
    if record.rows < min_rows:
        raise TooFewToShare("the table", record.rows, min_rows)
    for name, ones in _groups(record).items():
        few = min(ones, record.weight - ones)
        if few < min_rows:
            raise TooFewToShare(f"a group of column {name!r}", few, min_rows)


def _groups(record: Record) -> dict[str, float]:
    """Return the weight of the ones of each column that holds zeros and ones alone."""
    weight, mean = record.weight, record.mean
    spread = weight * mean * (1.0 - mean)  # the most there is between 0 and 1
    most = np.abs(record.scatter.diagonal() - spread) <= ROUNDED * weight
    at = np.flatnonzero((record.low == 0.0) & (record.high == 1.0) & most)
    return {record.names[j]: round(weight * float(mean[j]), 6) for j in at}
