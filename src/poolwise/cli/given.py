"""Given: the tables of a command, matched by column name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import typer

from poolwise.cli.account import NAMED_BY_DROP, Account, Dropped
from poolwise.cli.arguments import names_in, words_in
from poolwise.cli.interrupts import import_pandas
from poolwise.cli.messages import harmless
from poolwise.cli.recent import CALLED, STDIN, number_types, open_table, paths_of, rows_of
from poolwise.errors import MissingColumns

MOMENTS = ".moments.json"
TARGET = "target"  # what summaries call the recent table


@dataclass(frozen=True)
class Asked:
    """What was typed about tables and columns.

    Parameters
    ----------
    tables : sequence of str
        History, and last the recent table.
    source : sequence of str or None
        Further history, as NAME=PATH.
    label : str
        The column to predict.
    features, drop, text : sequence of str or None
        Names of columns, with commas between them.
    weights : str or None
        The column of row weights.
    csv_words : sequence of str or None
        How CSV is written, as KEY=VALUE.
    jobs : int
        Threads that read files.
    nulls : {"split", "drop", "raise"}
        What missing values in history do.
    """

    tables: Sequence[str]
    source: Sequence[str] | None
    label: str
    features: Sequence[str] | None
    drop: Sequence[str] | None
    text: Sequence[str] | None
    weights: str | None
    csv_words: Sequence[str] | None
    jobs: int
    nulls: Literal["split", "drop", "raise"]


@dataclass(frozen=True, eq=False)
class Given:
    """Target and sources, as the library takes them.

    Parameters
    ----------
    X : pyarrow.Table
        Features of the target.
    y : numpy.ndarray
        Its response.
    weights : numpy.ndarray or None
        Its row weights.
    sources : dict of str to object
        History.
    files : dict of str to list of str
        The files behind each table.
    account : Account
        How the columns were matched.
    """

    X: Any
    y: Any
    weights: Any
    sources: dict[str, Any]
    files: dict[str, list[str]]
    account: Account


@contextmanager
def tables_given(asked: Asked) -> Iterator[Given]:
    """Read the recent table and open the sources.

    Parameters
    ----------
    asked : Asked
        What was typed.
    """
    *history, recent = asked.tables
    named = _named(recent, history, asked.source)
    if recent.lower().endswith(MOMENTS):
        raise typer.BadParameter(
            f"{harmless(recent)} holds moments, and the recent table needs rows. History comes "
            "first, the recent table last.",
            param_hint="RECENT",
        )
    given = [recent, *(p for paths in named.values() for p in paths)]
    with paths_of(given) as paths:
        where = dict(zip(given, paths, strict=True))
        called = CALLED if recent == STDIN else recent
        import_pandas()
        yield _given(
            asked, called, where[recent], {n: [where[p] for p in ps] for n, ps in named.items()}
        )


def _given(asked: Asked, recent: str, path: str, named: Mapping[str, Sequence[str]]) -> Given:
    words = words_in(asked.csv_words)
    reader = open_table(path, words, "the recent table, which comes last,", "RECENT")
    files = _files({recent: [path]} | dict(named))
    _check_once(reader.file.path, named)
    columns = reader.schema.names
    sources = {name: _source(asked, paths, words) for name, paths in named.items()}
    there = {name: _columns(source, columns) for name, source in sources.items()}
    features, dropped = _features(asked, recent, columns, there)
    unwanted = {*names_in(asked.drop), *(column.name for column in dropped)}
    sources = {name: _without(source, there[name], unwanted) for name, source in sources.items()}
    ours = list(dict.fromkeys([asked.label, *([asked.weights] if asked.weights else [])]))
    kept = {*features, *ours}
    wanted = [n for n in columns if n in kept]
    texts = names_in(asked.text)
    table = rows_of(reader, wanted, number_types(reader.schema, texts))
    for name in (n for n in texts if n in wanted):  # categories, though they may look like numbers
        at = wanted.index(name)
        table = table.set_column(at, name, table.column(at).dictionary_encode())
    return Given(
        X=table.select(features),
        y=_numbers(table, asked.label),
        weights=None if asked.weights is None else _numbers(table, asked.weights),
        sources=sources,
        files=files,
        account=Account.of(asked.label, features, there, dropped, ours, names_in(asked.drop)),
    )


def _named(
    recent: str, history: Sequence[str], source: Sequence[str] | None
) -> dict[str, list[str]]:
    """Return the paths of each source by its name."""
    stems = [CALLED if p == STDIN else _stem(p) for p in history]
    named: dict[str, list[str]] = {}
    for stem, path in zip(stems, history, strict=True):
        own = stem if stems.count(stem) == 1 and stem != TARGET else path
        named.setdefault(own, []).append(path)
    for given in source or ():
        name, sign, path = given.partition("=")
        if not (name and sign and path):
            raise typer.BadParameter(
                f"{harmless(given)!r} is not NAME=PATH.", param_hint="--source"
            )
        named.setdefault(name, []).append(path)
    for name in (TARGET, recent):
        if name in named:
            raise typer.BadParameter(
                harmless(f"{name!r} is what the recent table is called. Call history otherwise: ")
                + "--source NAME=PATH.",
                param_hint="--source",
            )
    for name, paths in named.items():
        if len(paths) > 1 and any(p.lower().endswith(MOMENTS) for p in paths):
            raise typer.BadParameter(
                f"{harmless(name)!r} has several files, and one of moments must stand alone.",
                param_hint="--source",
            )
    return named


def _stem(path: str) -> str:
    name = Path(path).name
    if any(c in path for c in "*?["):
        return path
    return (name if Path(path).is_dir() else name.partition(".")[0]) or path


def _check_once(recent: Path, named: Mapping[str, Sequence[str]]) -> None:
    """Refuse a file that was given twice: its rows would count twice."""
    seen = {recent.resolve(): "the recent table"}
    given = [(name, path) for name, paths in named.items() for path in paths]
    for name, path in given:
        for file in _files_at([path]):
            own = Path(file).resolve()
            if own in seen:
                raise typer.BadParameter(
                    harmless(
                        f"{file} is in {seen[own]} and again in history {name!r}, so that its rows "
                        "would count twice. Give every file once."
                    ),
                    param_hint="HISTORY",
                )
            seen[own] = f"history {name!r}"


def _source(asked: Asked, paths: Sequence[str], words: Mapping[str, Any] | None) -> Any:
    from poolwise.moments import Moments
    from poolwise.tables.files import Files

    if paths[0].lower().endswith(MOMENTS):
        return Moments.load(paths[0])
    return Files(paths, weights=asked.weights, nulls=asked.nulls, csv=words, workers=asked.jobs)


def _without(source: Any, columns: Sequence[str], unwanted: set[str]) -> Any:
    """Return files without columns that were left out by an option: nobody lacks these."""
    from poolwise.moments import Moments

    if isinstance(source, Moments) or not unwanted.intersection(columns):
        return source
    return replace(source, columns=[n for n in columns if n not in unwanted])


def _columns(source: Any, target: Sequence[str]) -> list[str]:
    """Return the columns of a source; indicators in moments stand for a text column."""
    from poolwise.moments import Moments
    from poolwise.tables.file_batches import readers_of

    if not isinstance(source, Moments):
        found = readers_of(source, "a source")
        own = dict.fromkeys(n for reader in found for n in reader.schema.names)
        keys = dict.fromkeys(k for reader in found for k in reader.file.keys if k in target)
        return [*own, *(k for k in keys if k not in own)]
    columns = []
    for column in source.names:
        text = column.partition("=")[0]
        columns.append(text if column not in target and text in target else column)
    return list(dict.fromkeys(columns))


def _features(
    asked: Asked, recent: str, columns: Sequence[str], sources: Mapping[str, Sequence[str]]
) -> tuple[list[str], list[Dropped]]:
    """Return the columns to predict from, and those that were left out."""
    wanted, drop = names_in(asked.features), names_in(asked.drop)
    ours = [n for n in (asked.label, asked.weights) if n is not None]
    for option, names in (("--features", wanted), ("--drop", drop)):
        if mine := [n for n in names if n in ours]:
            what = "column to predict" if mine[0] == asked.label else "column of row weights"
            raise typer.BadParameter(harmless(f"{mine[0]!r} is the {what}."), param_hint=option)
    if unknown := [n for n in (*ours, *wanted, *names_in(asked.text)) if n not in columns]:
        raise MissingColumns(unknown, columns, recent)
    everywhere = list(dict.fromkeys([*columns, *(n for own in sources.values() for n in own)]))
    if unknown := [n for n in drop if n not in everywhere]:
        raise MissingColumns(unknown, everywhere, "One table or another")
    features, dropped = [], []
    for column in columns:
        if column in ours:
            continue
        if column in drop:
            dropped.append(Dropped(column, recent, NAMED_BY_DROP))
        elif wanted and column not in wanted:
            dropped.append(Dropped(column, recent, "--features does not name it"))
        else:
            features.append(column)
    return features, dropped


def _numbers(table: Any, column: str) -> Any:
    """Return a column of numbers; what is missing, or no number, the library refuses."""
    return table.column(column).to_numpy(zero_copy_only=False)


def _files(named: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {
        name: _files_at(paths)
        for name, paths in named.items()
        if not any(Path(p).name == f"{CALLED}.csv" for p in paths)
    }


def _files_at(paths: Sequence[str]) -> list[str]:
    from poolwise.tables.paths import find_files

    moments = [p for p in paths if p.lower().endswith(MOMENTS)]
    return moments or [str(file.path) for file in find_files(list(paths))]
