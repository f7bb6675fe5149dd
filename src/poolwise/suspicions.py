"""Suspicions: what in a problem looks like a mistake, found in its moments."""

from __future__ import annotations

from collections.abc import Iterator

from poolwise.errors import ConstantResponse, FewRows, FilledColumn, OtherUnits, TransferWarning
from poolwise.moments import Moments
from poolwise.problem import Problem

ENOUGH_ROWS = 5  # fewer say too little about a scale
SCALE_RATIO = 8.0  # degrees Fahrenheit are 1.8 times degrees Celsius, feet 3.3 times metres
LOCATION_STEP = 3.0  # in mean standard deviations; Fahrenheit against Celsius is about 4


def suspicions(problem: Problem) -> Iterator[TransferWarning]:
    """Yield a warning for each thing that looks wrong."""
    target, y = problem.target, problem.response
    coefficients = len(problem.features) + problem.intercept
    if target.weight <= coefficients:
        yield FewRows(target.weight, coefficients)
    if target.rows > 1 and target.is_constant(y):
        yield ConstantResponse("the target", target.mean_of(y))
    for name, source in problem.sources.items():
        if source.rows > 1 and source.is_constant(y):
            yield ConstantResponse(f"source {name!r}", source.mean_of(y))
        for column in (*problem.shared(source), y):
            yield from _of_column(name, column, source, target, is_response=column == y)


def _of_column(
    name: str, column: str, source: Moments, target: Moments, *, is_response: bool
) -> Iterator[TransferWarning]:
    if target.is_constant(column) or source.rows < ENOUGH_ROWS:
        return
    if source.is_constant(column):
        if not is_response and not _is_indicator(target, column):
            yield FilledColumn(name, column, source.mean_of(column))
        return
    if target.rows < ENOUGH_ROWS or _is_indicator(target, column):
        return
    theirs = (source.mean_of(column), source.deviation_of(column))
    ours = (target.mean_of(column), target.deviation_of(column))
    ratio = theirs[1] / ours[1]
    step = abs(theirs[0] - ours[0]) / ((theirs[1] + ours[1]) / 2)
    if not 1 / SCALE_RATIO < ratio < SCALE_RATIO or step > LOCATION_STEP:
        yield OtherUnits(name, column, theirs, ours)


def _is_indicator(moments: Moments, column: str) -> bool:
    j = moments.index([column])[0]
    return bool(moments.low[j] == 0.0 and moments.high[j] == 1.0)
