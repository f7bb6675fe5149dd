"""From moments that fit_moments was given to a Problem: names, and levels as far as names tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from poolwise.errors import LevelAssumed, MissingColumns, NotMoments, TransferWarning, UnclearLevels
from poolwise.intake import lacking_somewhere
from poolwise.moments import Moments
from poolwise.problem import Problem
from poolwise.store import is_moments_path
from poolwise.tables.columns import Column, encoded, unify
from poolwise.tables.indicators import groups_of
from poolwise.tables.levels_apart import levels_apart
from poolwise.tables.moments_table import Levels, MomentsTable, open_moments, part_of
from poolwise.tables.sources import Sources
from poolwise.wording import listed


@dataclass(frozen=True, eq=False)
class MomentsIntake:
    """A problem, and how its columns were made.

    Parameters
    ----------
    problem : Problem
        What a method solves.
    columns : tuple of Column
        The columns of the target: text where it has an indicator for every level.
    levels : mapping of str to Levels or None
        The same as moments are matched with them: text where it has any indicator.
    optional : frozenset of str
        Columns that some source lacks.
    cautions : tuple of TransferWarning
        What was left out or assumed on the way.
    """

    problem: Problem
    columns: tuple[Column, ...]
    levels: Mapping[str, Levels | None]
    optional: frozenset[str]
    cautions: tuple[TransferWarning, ...]


def gather_moments(
    target: Any,
    sources: Any,
    response: str,
    *,
    intercept: bool,
    unseen_level: Literal["raise", "ignore"] = "raise",
) -> MomentsIntake:
    """Match moments by column name.

    A target that has an indicator for every level of a text column counts as a table with this
    column: the reference level is chosen as for rows. Where it leaves a level out, names do not
    tell which one. Then a level that the sources have and the target does not is taken for it, if
    there is a single one.

    Parameters
    ----------
    target : Moments, or the path of a file of moments
        Of all features and the response.
    sources : Moments or path, or list or mapping of these
        See :class:`poolwise.Sources`.
    response : str
        Name of the response.
    intercept : bool
        Whether the model has an intercept.
    unseen_level : {"raise", "ignore"}, default="raise"
        What a level that was not there at fit does at prediction.
    """
    own = as_moments(target, "the target")
    if response not in own:
        raise MissingColumns([response], own.names, "The target")
    table, open_groups = _described(own, response)
    kinds = {n: table.levels_of(n) for n in table.names if n not in _outputs(open_groups)}
    tables: dict[str, MomentsTable] = {}
    for name, source in Sources(sources):
        if not isinstance(source, Moments):
            raise NotMoments(f"source {name!r}", source.X)
        tables[name] = open_moments(name, source, {**kinds, **open_groups}, response)
    columns = unify(table, tables, table.names, intercept=intercept, unseen=unseen_level)
    levels = {c.name: Levels.of(c) for c in columns if c.name in kinds}
    cautions: list[TransferWarning] = []
    for column, named in open_groups.items():
        levels[column] = Levels(_reference(column, named, tables, cautions), named)
    order = (*encoded(columns), response)
    kept: dict[str, Moments] = {}
    for name, described in tables.items():
        part, told = part_of(name, described, levels, response)
        kept[name] = part.select([n for n in order if n in part])
        cautions += told
    if table.texts:
        own = table.part({c.name: Levels.of(c) for c in columns}, response)[0].select(order)
    problem = Problem(own, kept, response, intercept)
    cautions += levels_apart(table, tables, columns)
    optional = frozenset(lacking_somewhere(problem, columns))
    return MomentsIntake(problem, columns, levels, optional, tuple(cautions))


def _described(own: Moments, response: str) -> tuple[MomentsTable, dict[str, tuple[str, ...]]]:
    """Return the target as a table, and the text columns of which it leaves a level out.

    The latter it does not have as text: their indicators are numbers of the names they have.
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
    cautions: list[TransferWarning],
) -> str | None:
    """Return the level that the target leaves out, if what the sources have tells it."""
    has = {v for t in tables.values() if column in t.names for v in t.levels_of(column) or ()}
    found = sorted(has.difference(named))
    if len(found) > 1:
        raise UnclearLevels(
            "the target",
            column,
            f"it leaves one level out, has indicators for {listed(named)}, and sources have the "
            f"further levels {listed(found)}, which cannot all be the one that it leaves out",
            "Take the target's moments with an indicator for every level",
        )
    if found:
        what = f"{found[0]!r}, which a source has, is taken for the one that is left out"
        cautions.append(LevelAssumed("the target", column, what))
    return found[0] if found else None


def as_moments(given: Any, name: str) -> Moments:
    """Return moments, from a file if a path was given."""
    if is_moments_path(given):
        return Moments.load(given)
    if not isinstance(given, Moments):
        raise NotMoments(name, given)
    return given
