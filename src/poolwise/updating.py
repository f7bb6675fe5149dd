"""Updating: a fitted problem with more rows, or with fewer, without the rows it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from poolwise.errors import (
    BadOption,
    ColumnMismatch,
    DifferentResponse,
    TransferWarning,
    UnknownSource,
)
from poolwise.fitted_model import FittedModel
from poolwise.intake import gather_more
from poolwise.moments import Moments
from poolwise.moments_intake import as_moments
from poolwise.precision import PRECISIONS, Precision
from poolwise.problem import Problem
from poolwise.store import is_moments_path
from poolwise.tables import Table
from poolwise.tables.arrays import ArrayTable
from poolwise.tables.moments_table import Levels, MomentsTable, kinds_of
from poolwise.tables.responses import name_of

Verb: TypeAlias = Literal["add", "subtract"]


@dataclass(frozen=True, eq=False)
class Change:
    """A problem after a change, and what to tell about it.

    Parameters
    ----------
    problem : Problem
        The problem, with moments alone.
    optional : frozenset of str
        Raw columns that some row or source lacks, now or before.
    cautions : tuple of TransferWarning
        What was left out on the way.
    """

    problem: Problem
    optional: frozenset[str]
    cautions: tuple[TransferWarning, ...]


def is_moments(thing: object) -> bool:
    """Say whether something is moments, or a path of them."""
    return isinstance(thing, Moments) or is_moments_path(thing)


def changed(
    model: FittedModel,
    target: Table | Any,
    y: Any,
    *,
    weights: Any = None,
    sources: Any = None,
    precision: Precision = "auto",
    forget: bool = False,
    jobs: int = 1,
) -> Change:
    """Return the problem of a model whose tables have more rows, or fewer.

    Parameters
    ----------
    model : FittedModel
        The model, whose columns and levels do not change. If the response brought a name along at
        fit, another one is refused.
    target : Table, Moments, path or None
        Rows of the target: a table that was opened, or moments.
    y : array-like or None
        The response of these rows.
    weights : array-like, optional
        Their weights.
    sources : object, optional
        Rows of sources; those of a name that is known are added there.
    precision : {"auto", "fast", "accurate", "exact"}, default="auto"
        Digits of the second moments of these rows: by default as many as any table has.
    forget : bool, default=False
        Whether these rows are taken away.
    jobs : int, default=1
        Threads that read files and add up rows.
    """
    problem = model.known_problem("forget" if forget else "update")
    columns, levels, own_name = model.columns, model.levels, model.own_name
    own, known = problem.tables()
    verb: Verb = "subtract" if forget else "add"
    if precision == "auto":
        precision = max((own, *known.values()), key=_digits).precision
    by_moments = target is None or is_moments(target)
    if by_moments and (y is not None or weights is not None):
        raise BadOption("y" if y is not None else "sample_weight", "given", "None without rows")
    name = name_of(y)
    if own_name and name not in (None, own_name):
        raise DifferentResponse("X", str(name), own_name)
    empty = ArrayTable(np.zeros((0, len(columns))), tuple(c.name for c in columns))
    read = gather_more(
        empty if by_moments else target,
        np.zeros(0) if by_moments else y,
        columns=columns,
        levels=levels,
        known=known,
        response=problem.response,
        own_name=own_name,
        weights=weights,
        sources=sources,
        intercept=problem.intercept,
        precision=precision,
        jobs=jobs,
    )
    rows, cautions = read.target, list(read.cautions)
    if by_moments and target is not None:
        rows, told = _encoded(as_moments(target, "the target"), own, levels, problem.response, verb)
        cautions += told
    own = _merged(own, rows, verb, "the target")
    tables = dict(known)
    for source, part in read.moments.items():
        if source in tables:
            tables[source] = _merged(tables[source], part, verb, f"source {source!r}")
        elif forget and part.weight:
            raise UnknownSource(source, list(known))
        else:
            tables[source] = part
    lacking = {
        c.name for c in columns for m in read.moments.values() if not set(c.outputs) <= {*m.names}
    }
    return Change(
        Problem(own, tables, problem.response, problem.intercept),
        read.lacking.union(lacking, model.optional),
        tuple(cautions),
    )


def _digits(table: Moments) -> int:
    return PRECISIONS.index(table.precision)


def _encoded(
    given: Moments, own: Moments, levels: Mapping[str, Levels | None], response: str, verb: Verb
) -> tuple[Moments, list[TransferWarning]]:
    """Return moments of the target with the indicators that the model has."""
    table = MomentsTable.of("the target", given, kinds_of(levels), response)
    there = [*(n for n in own.names if n != response or n in given), *table.extra(levels)]
    if there != list(own.names):
        raise ColumnMismatch(own.names, there, verb, "the target")
    return table.part(levels, response)


def _merged(old: Moments, new: Moments, verb: Verb, where: str) -> Moments:
    """Add rows to a table, or take them away, whatever the order of the columns."""
    if set(old.names) != set(new.names):
        raise ColumnMismatch(old.names, new.names, verb, where)
    part = new if old.names == new.names else new.select(old.names)
    return old - part if verb == "subtract" else old + part
