"""Tables in a file: a problem as the moments of its target and of its sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from poolwise.chunks import LARGEST
from poolwise.errors import TransferError
from poolwise.moments import Moments
from poolwise.problem import Problem
from poolwise.store import MOST_UNITS, record_in
from poolwise.strict_json import (
    Wrong,
    entries,
    fields,
    flag,
    integers,
    joined,
    line,
    text,
    within,
)

KEYS = ("intercept", "units", "target", "sources")


def problem_text(problem: Problem) -> str:
    """Write a problem as JSON."""
    return joined(problem_parts(problem))


def problem_parts(problem: Problem) -> dict[str, str]:
    """Write the parts of a problem as JSON."""
    sources = [
        joined({"name": line(name), "moments": source.text().strip()})
        for name, source in problem.sources.items()
    ]
    return {
        "intercept": line(bool(problem.intercept)),
        "units": line({n: int(u) for n, u in problem.units.items()}),
        "target": problem.target.text().strip(),
        "sources": "[" + ",\n".join(sources) + "]",
    }


def problem_in(found: Any, features: tuple[str, ...], response: str) -> Problem:
    """Return the problem that a file holds, of the features it must have."""
    found = fields(found, "the object", KEYS)
    target, sources = moments_in(found["target"], "the target"), dict[str, Moments]()
    for entry in entries(found["sources"], "sources"):
        entry = fields(entry, "a source", ("name", "moments"))
        name = text(entry["name"], "the name of a source")
        if name in sources:
            raise Wrong(f"it has more than one source named {name!r}")
        sources[name] = moments_in(entry["moments"], f"source {name!r}")
    intercept = flag(found["intercept"], "intercept")
    units = _units(found["units"], target)
    try:
        problem = Problem(target, sources, response, intercept, units=units)
    except TransferError as error:
        raise Wrong(str(error).rstrip(".")) from None
    if problem.features != features:
        raise Wrong("the columns of the target are not those of the model, in their order")
    _check_ranges(problem)
    return problem


def moments_in(found: Any, where: str) -> Moments:
    """Return the moments that a file holds; ``where`` is what to call them in an error."""
    with within(where):
        record = record_in(found)
        if not record.weight:
            raise Wrong("there are no rows")
        if record.units.any():
            raise Wrong("a column has a unit, which in a model the units of the problem are for")
    return Moments.of_record(record)


def _units(found: Any, target: Moments) -> Mapping[str, int]:
    if not isinstance(found, dict) or not found.keys() <= set(target.names):
        raise Wrong("units is not an object whose keys are columns of the target")
    values = integers(list(found.values()), "units", len(found), MOST_UNITS)
    if not values.all():
        raise Wrong("units holds a zero, where a column should rather be left out")
    return dict(zip(found, values.tolist(), strict=True))


def _check_ranges(problem: Problem) -> None:
    """Refuse units with which a column would be larger than any that can be fitted."""
    with np.errstate(over="ignore", under="ignore"):
        own, theirs = problem.tables()
    for table in (own, *theirs.values()):
        if not (np.abs(table.low) <= LARGEST).all() or not (np.abs(table.high) <= LARGEST).all():
            raise Wrong(f"a column is beyond {LARGEST:g} in its units")
