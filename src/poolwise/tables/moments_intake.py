"""The Problem of moments given to fit_moments, with text levels inferred from names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from poolwise.errors import BadColumns, BadTable, PoolwiseWarning, raise_all
from poolwise.linear.problem import Problem
from poolwise.linear.response_transform import AS_IS, ResponseTransform
from poolwise.moments.moments import Moments
from poolwise.moments.moments_json import is_moments_path
from poolwise.tables.encoding import (
    MAX_LEVELS,
    Levels,
    column_levels,
    encoded,
    levels_apart,
    unify,
)
from poolwise.tables.inspection import Inspection, describe, faults_of
from poolwise.tables.intake import MomentsIntake, lacking_somewhere
from poolwise.tables.moments_table import (
    MomentsTable,
    all_named,
    groups_of,
    level_assumed,
    open_moments,
    part_of,
    unclear_levels,
)
from poolwise.tables.response import Response
from poolwise.tables.sources import Sources
from poolwise.wording import capital, listed


def gather_moments(
    target: Any,
    sources: Any,
    response: str,
    *,
    intercept: bool,
    max_levels: int = MAX_LEVELS,
    strict: bool = False,
    transform: ResponseTransform = AS_IS,
) -> MomentsIntake:
    """Match moments by column name.

    A target that has an indicator for every level of a text column counts as a table with this
    column: the reference level is chosen as for rows. If the target leaves a level out, its name is
    unknown; if the sources have exactly one level that the target does not, it is taken to be that
    one.
    """
    own, asked = as_moments(target, "the target"), Response(response, transform)
    transform.check_moments(own.names, asked.raw, "the target")
    response = asked.name
    if response not in own:
        raise BadColumns.missing([response], own.names, "The target")
    table, open_groups = _described(own, response)
    ours = table.levels(table.names)
    outputs = _outputs(open_groups)
    kinds = {n: ours.get(n) for n in table.names if n not in outputs}
    tables: dict[str, MomentsTable] = {}
    for name, source in Sources(sources):
        if not isinstance(source, Moments):
            raise _not_moments(f"source {name!r}", source.X)
        tables[name] = open_moments(name, source, {**kinds, **open_groups}, asked)
    found = {n: t.levels([c for c in t.names if c in ours]) for n, t in tables.items()}
    how: dict[str, Any] = {"intercept": intercept, "max_levels": max_levels, "strict": strict}
    columns = unify(table.names, ours, found, **how)
    if strict:
        inspection = Inspection("the target", dict.fromkeys(table.names, "number"))
        raise_all(faults_of(describe(inspection, columns, ours, found, max_levels)))
    whole = column_levels(columns)
    levels = {name: known for name, known in whole.items() if name in kinds}
    cautions: list[PoolwiseWarning] = []
    for column, named in open_groups.items():
        levels[column] = Levels(_reference(column, named, tables, cautions), named)
    order = (*encoded(columns), response)
    kept: dict[str, Moments] = {}
    for name, described in tables.items():
        part, told = part_of(name, described, levels, response)
        kept[name] = part.select([n for n in order if n in part])
        cautions += told
    if table.texts:
        own = table.part(whole, response)[0].select(order)
    problem = Problem(own, kept, response, intercept)
    cautions += levels_apart(ours, all_named(tables, found), columns, "the target")
    return MomentsIntake(
        problem=problem,
        columns=columns,
        levels=levels,
        optional=frozenset(lacking_somewhere(problem, columns)),
        cautions=tuple(cautions),
        response=asked.raw,
        transform=transform,
    )


def _described(own: Moments, response: str) -> tuple[MomentsTable, dict[str, tuple[str, ...]]]:
    """Return the target as a table, and the text columns of which it leaves a level out.

    The indicators of the latter are numeric columns.
    """
    groups = groups_of(own, response)
    every = MomentsTable(own, (), groups, "the target")
    whole = {column: named for column, named in groups.items() if not every.unnamed(column)}
    text = {name: column for column, named in whole.items() for name in _outputs({column: named})}
    numbers = tuple(n for n in own.names if n != response and n not in text)
    names = dict.fromkeys(text.get(n, n) for n in own.names if n != response)
    table = MomentsTable(own, numbers, whole, "the target", tuple(names))
    return table, {column: named for column, named in groups.items() if column not in whole}


def _outputs(groups: Mapping[str, Sequence[str]]) -> list[str]:
    return [f"{column}={level}" for column, named in groups.items() for level in named]


def _reference(
    column: str,
    named: Sequence[str],
    tables: Mapping[str, MomentsTable],
    cautions: list[PoolwiseWarning],
) -> str | None:
    """Return the level that the target leaves out, if the sources determine it."""
    known = [t.levels([column])[column] for t in tables.values() if column in t.names]
    has = {v for levels in known for v in levels or ()}
    found = sorted(has.difference(named))
    if len(found) > 1:
        raise unclear_levels(
            "the target",
            column,
            f"it leaves one level out, has indicators for {listed(named)}, and sources have the "
            f"further levels {listed(found)}, which cannot all be the one that it leaves out",
            "Take the target's moments with an indicator for every level.",
        )
    if found:
        what = f"{found[0]!r}, which a source has, is taken for the one that is left out"
        cautions.append(level_assumed("the target", column, what))
    return found[0] if found else None


def as_moments(given: Any, name: str) -> Moments:
    """Return moments, from a file if a path was given."""
    if is_moments_path(given):
        return Moments.load(given)
    if not isinstance(given, Moments):
        raise _not_moments(name, given)
    return given


def _not_moments(name: str, given: Any) -> BadTable:
    return BadTable(
        f"{capital(name)} is a {type(given).__name__}, and fit_moments takes moments alone.",
        "Make them with Moments.of_rows(names, rows), give the path of a .moments.json file, or "
        "use fit, which takes rows.",
    )
