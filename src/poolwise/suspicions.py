"""Suspicions: what in a problem looks like a mistake, found in its moments."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from poolwise.errors import (
    ConstantFeatures,
    ConstantResponse,
    FewRows,
    FilledColumn,
    OtherUnits,
    TransferWarning,
)
from poolwise.moments import Moments
from poolwise.problem import Problem

ENOUGH_ROWS = 5  # fewer say too little about a scale
SCALE_RATIO = 8.0  # degrees Fahrenheit are 1.8 times degrees Celsius, feet 3.3 times metres
LOCATION_STEP = 3.0  # in mean standard deviations; Fahrenheit against Celsius is about 4


def suspicions(problem: Problem) -> Iterator[TransferWarning]:
    """Yield a warning for each thing that looks wrong."""
    target, y = problem.target, problem.response
    varies = np.count_nonzero(target.low < target.high) - (not target.is_constant(y))
    coefficients = int(varies) + problem.intercept
    if target.weight <= coefficients:
        fitted = sum(not _is_constant(n, problem) for n in problem.features)
        yield FewRows(target.weight, fitted + problem.intercept, target.rows)
    if target.rows > 1 and target.is_constant(y):
        yield ConstantResponse("the target", problem.true(y, target.mean_of(y)))
    flat = [target.names[j] for j in np.flatnonzero(target.low >= target.high)]
    same = [n for n in flat if n != y and _is_constant(n, problem)]
    if same and target.rows > 1:
        yield ConstantFeatures(same)
    for name, source in problem.sources.items():
        if source.rows > 1 and source.is_constant(y):
            yield ConstantResponse(f"source {name!r}", problem.true(y, source.mean_of(y)))
        if source.rows >= ENOUGH_ROWS:
            yield from _of_columns(name, source, problem)


def _is_constant(column: str, problem: Problem) -> bool:
    """Say whether a column has one value in the target and in all sources that have it."""
    tables = [t for t in (problem.target, *problem.sources.values()) if column in t]
    at = [t.index([column])[0] for t in tables]
    low = min(t.low[j] for t, j in zip(tables, at, strict=True))
    return bool(low >= max(t.high[j] for t, j in zip(tables, at, strict=True)))


def _of_columns(name: str, source: Moments, problem: Problem) -> Iterator[TransferWarning]:
    """Compare all columns at once, since this runs in every fit."""
    columns = (*problem.shared(source), problem.response)
    target = problem.target
    theirs, ours = source.index(columns), target.index(columns)
    low, high = target.low[ours], target.high[ours]
    s_low, s_high = source.low[theirs], source.high[theirs]
    varies, is_flat = low < high, s_low >= s_high
    # A scaler may have put the target between zero and one: then the source tells.
    is_indicator = (low == 0.0) & (high == 1.0) & (s_low >= 0.0) & (s_high <= 1.0)
    m_theirs, m_ours = source.mean[theirs], target.mean[ours]
    filled = varies & is_flat & ~is_indicator
    filled[-1] = False  # a constant response has its own warning
    for j in np.flatnonzero(filled):
        yield FilledColumn(name, columns[j], problem.true(columns[j], m_theirs[j]))
    if target.rows < ENOUGH_ROWS:
        return
    s_theirs, s_ours = source.deviations()[theirs], target.deviations()[ours]
    scale_differs = (s_theirs > SCALE_RATIO * s_ours) | (s_ours > SCALE_RATIO * s_theirs)
    moved = np.abs(m_theirs - m_ours) > LOCATION_STEP * (s_theirs + s_ours) / 2
    for j in np.flatnonzero(varies & ~is_flat & ~is_indicator & (scale_differs | moved)):
        known = m_theirs[j], s_theirs[j], m_ours[j], s_ours[j]
        m_s, s_s, m_t, s_t = (problem.true(columns[j], value) for value in known)
        yield OtherUnits(name, columns[j], (m_s, s_s), (m_t, s_t))
