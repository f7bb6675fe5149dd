"""Warnings about probable mistakes in the data, found from moments."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from poolwise._typing import Array
from poolwise.errors import DataWarning, NoiseNotEstimable, PoolwiseWarning
from poolwise.linear.problem import Problem
from poolwise.moments.moments import Moments
from poolwise.wording import capital, listed, rows_for

ENOUGH_ROWS = 5  # fewer do not determine a scale
SCALE_RATIO = 8.0  # degrees Fahrenheit are 1.8 times degrees Celsius, feet 3.3 times metres
YEARS = (1800.0, 2200.0)  # history is of earlier ones
LOCATION_STEP = 3.0  # in mean standard deviations; Fahrenheit against Celsius is about 4


def suspicions(problem: Problem, without_units: Collection[str] = ()) -> Iterator[PoolwiseWarning]:
    """Yield a warning for each thing that looks wrong; some columns have no units to compare."""
    target, y, own_name = problem.target, problem.response, problem.target_name
    own = target.place[y]
    varies = np.count_nonzero(target.low < target.high) - (target.low[own] < target.high[own])
    coefficients = int(varies) + problem.intercept
    if target.weight <= coefficients:
        fitted = sum(not _is_constant(n, problem) for n in problem.features)
        hint = ""
        if target.weight < 0.999 * target.rows:  # not by rounding alone
            hint = (
                f"Its {target.rows:,} rows count as {target.weight:.5g}, because of gaps or "
                "weights: given weights count as repetitions and should have a mean of one."
            )
        yield NoiseNotEstimable(
            f"{capital(own_name)} has {rows_for(target.weight, fitted + problem.intercept)}: alone "
            "it does not determine the model, nor its noise.",
            hint,
        )
    named = {own_name: target} | {f"table {n!r}": s for n, s in problem.sources.items()}
    for where, table in named.items():
        at = table.place[y]
        if table.rows > 1 and table.low[at] >= table.high[at]:
            yield DataWarning(
                f"The response is {table.mean[at]:.6g} in every row of {where}: there is nothing "
                "to explain.",
                "Is it the right column?",
            )
    flat = [target.names[j] for j in np.flatnonzero(target.low >= target.high)]
    same = [n for n in flat if n not in (y, *without_units) and _is_constant(n, problem)]
    if same and target.rows > 1:
        yield DataWarning(
            f"One value in every row: {listed(same)}. Such columns explain nothing and get "
            "coefficient zero.",
            "Are they the right ones?",
        )
    told: set[tuple[str, str]] = set()
    for name, source in problem.sources.items():
        if source.rows < ENOUGH_ROWS:
            continue
        for caution in _of_columns(name, source, problem, without_units):
            # Rows that lack a column are part of their table, which has its units once.
            key = name.partition(" without ")[0], str(caution.about.get("column"))
            if "column" not in caution.about or not (_is_in_target(name, problem) or key in told):
                yield caution
            told.add(key)


def _is_in_target(source: str, problem: Problem) -> bool:
    """Return whether a source is rows of the target's own table that lack columns."""
    return source.startswith("rows without ") and "rows" not in problem.sources


def _is_constant(column: str, problem: Problem) -> bool:
    """Return whether a column has one value in the target and in all sources that have it."""
    tables = [t for t in (problem.target, *problem.sources.values()) if column in t.place]
    at = [t.place[column] for t in tables]
    low = min(t.low[j] for t, j in zip(tables, at, strict=True))
    return bool(low >= max(t.high[j] for t, j in zip(tables, at, strict=True)))


def _of_columns(
    name: str, source: Moments, problem: Problem, without_units: Collection[str]
) -> Iterator[PoolwiseWarning]:
    """Compare all columns at once, since this runs in every fit."""
    target = problem.target
    features = [n for n in problem.features if n in source.place and n not in without_units]
    columns = (*features, problem.response)
    theirs, ours = ([table.place[n] for n in columns] for table in (source, target))
    low, high = target.low[ours], target.high[ours]
    s_low, s_high = source.low[theirs], source.high[theirs]
    varies, is_flat = low < high, s_low >= s_high
    # A scaler may have put the target between zero and one: then use the source's scale.
    is_indicator = (low == 0.0) & (high == 1.0) & (s_low >= 0.0) & (s_high <= 1.0)
    m_theirs, m_ours = source.mean[theirs], target.mean[ours]
    filled = varies & is_flat & ~is_indicator
    filled[-1] = False  # a constant response has its own warning
    for j in np.flatnonzero(filled):
        yield DataWarning(
            f"Column {columns[j]!r} is {m_theirs[j]:.6g} in every row of table {name!r} but "
            f"varies in {problem.target_name}: it looks filled in.",
            "If it was not measured, leave it out of that table (or set it to NaN), so that it "
            "counts as unseen.",
        )
    if target.rows < ENOUGH_ROWS:
        return
    s_theirs, s_ours = _deviations(source, theirs), _deviations(target, ours)
    scale_differs = (s_theirs > SCALE_RATIO * s_ours) | (s_ours > SCALE_RATIO * s_theirs)
    moved = np.abs(m_theirs - m_ours) > LOCATION_STEP * (s_theirs + s_ours) / 2
    is_year = (np.minimum(low, s_low) >= YEARS[0]) & (np.maximum(high, s_high) <= YEARS[1])
    is_alike = is_flat | is_indicator | is_year
    for j in np.flatnonzero(varies & ~is_alike & (scale_differs | moved)):
        yield DataWarning(
            f"Column {columns[j]!r} of table {name!r} has mean {m_theirs[j]:.6g} and standard "
            f"deviation {s_theirs[j]:.3g}; in {problem.target_name} they are {m_ours[j]:.6g} and "
            f"{s_ours[j]:.3g}.",
            "Other units, or scaled in one table only? (A Pipeline transforms X alone: there, "
            "stack the rows with NaN instead.)",
            column=columns[j],
            source=name,
        )


def _deviations(table: Moments, at: list[int]) -> Array:
    deviations: Array = np.sqrt(table.scatter.high[at, at] / table.weight)
    return deviations
