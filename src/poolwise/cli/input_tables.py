"""Open the tables that a command names, as arguments of the library."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import typer

from poolwise.cli.hints import message_and_hint
from poolwise.cli.interrupts import import_pandas
from poolwise.cli.messages import is_note, name, tell, wrong_option
from poolwise.cli.options import HistoryOptions, SplitOptions, csv_options, names_in
from poolwise.cli.screen import say, show_account
from poolwise.errors import BadColumns, PoolwiseWarning

if TYPE_CHECKING:  # at run time, help would wait for numpy
    from poolwise.tables.column_account import Account
    from poolwise.tables.file_reader import Reader

MOMENTS = ".moments.json"
TARGET = "target"  # the name of the recent table in a summary
STDIN, STDIN_NAME = "-", "standard input"
AT_RANDOM = SplitOptions()


@dataclass(frozen=True, eq=False)
class InputTables:
    """A recent table and its history, opened and matched by column name."""

    X: Any  # FrameTable: features of the recent rows
    y: Any  # array: their response
    weights: Any  # array or None: their row weights
    sources: dict[str, Any]  # history: opened files, or moments
    files: dict[str, list[str]]  # files of each table, without standard input
    label: str  # the column to predict
    accounts: list[Account]  # of all columns and rows, when the library has read the tables
    split: dict[str, Any]  # arguments of compare and report: how the recent rows are split

    @property
    def data(self) -> dict[str, Any]:
        """Arguments of the library: of fit, compare and report."""
        return {"X": self.X, "y": self.y, "sources": self.sources, "sample_weight": self.weights}

    @property
    def account(self) -> Account:
        """What each column is and what was done with it; known after the tables were read."""
        return self.accounts[0]


@contextmanager
def input_tables(
    tables: Sequence[str],
    label: str,
    options: HistoryOptions,
    split: SplitOptions = AT_RANDOM,
    cautions: Sequence[PoolwiseWarning] = (),
    *,
    quiet: bool,
) -> Iterator[InputTables]:
    """Read the recent table, which comes last, and open its history.

    The account of all columns is printed when the library has read the tables, before the fit.
    Those ``cautions`` that are about folds, which the library gives earlier, become its notes.
    """
    *history, recent = tables
    called = STDIN_NAME if recent == STDIN else recent
    named = _named(called, history, options.history)
    if recent.lower().endswith(MOMENTS):
        why = "History comes first, the recent table last."
        raise wrong_option(
            f"{recent} holds moments, and the recent table needs rows. {why}", "RECENT"
        )
    typed = [recent, *(p for paths in named.values() for p in paths)]
    with paths_of(typed) as paths:
        import_pandas()
        at = dict(zip(typed, paths, strict=True))
        found = {source: [at[p] for p in own] for source, own in named.items()}
        yield _matched(called, at[recent], found, label, options, split, cautions, quiet=quiet)


def _named(
    recent: str, history: Sequence[str], source: Sequence[str] | None
) -> dict[str, list[str]]:
    stems = [STDIN_NAME if p == STDIN else _stem(p) for p in history]
    named: dict[str, list[str]] = {}
    for stem, path in zip(stems, history, strict=True):
        own = stem if stems.count(stem) == 1 and stem != TARGET else path
        named.setdefault(own, []).append(path)
    for given in source or ():
        called, sign, path = given.partition("=")
        if not (called and sign and path):
            raise wrong_option(f"{given!r} is not NAME=PATH.", "--history")
        if called in (TARGET, recent):
            what = f"{called!r} is the name of the recent table. Use another name."
            raise wrong_option(what, "--history")
        named.setdefault(called, []).append(path)
    for called, paths in named.items():
        if len(paths) > 1 and any(p.lower().endswith(MOMENTS) for p in paths):
            what = f"{called!r} has several files. A file of moments is a table of its own."
            raise wrong_option(what, "--history")
    return named


def _stem(path: str) -> str:
    own = Path(path).name
    if any(c in path for c in "*?["):
        return path
    return (own if Path(path).is_dir() else own.partition(".")[0]) or path


def _matched(
    recent: str,
    path: str,
    named: Mapping[str, Sequence[str]],
    label: str,
    options: HistoryOptions,
    split: SplitOptions,
    cautions: Sequence[PoolwiseWarning],
    *,
    quiet: bool,
) -> InputTables:
    """Open every table once, match columns, and read the recent table."""
    import narwhals as nw

    from poolwise.tables.column_account import not_read
    from poolwise.tables.frames import open_table

    csv = csv_options(options.csv)
    reader = open_file(path, csv, "the recent table, which comes last,", "RECENT")
    columns, texts = reader.schema.names, names_in(options.text)
    reader.read_as_text(texts)
    sources = {n: _open_source(n, paths, csv, options) for n, paths in named.items()}
    files = {recent: [str(reader.file.path)]}
    files |= {n: _files_of(source, named[n]) for n, source in sources.items()}
    _check_given_once(recent, files)
    there = {n: _columns_of(source, columns) for n, source in sources.items()}
    unwanted = _unwanted(recent, columns, there, label, options, split)
    weights = [] if options.weights is None else [options.weights]
    apart = {"groups": split.group, "time": split.time}
    wanted = [n for n in columns if n not in unwanted or n in (label, *weights, *apart.values())]
    table = read_file(reader, wanted, number_types(reader.schema, texts))
    for text in (n for n in texts if n in wanted):  # categories, although they may look numeric
        at = wanted.index(text)
        table = table.set_column(at, text, table.column(at).dictionary_encode())
    for n in (n for n in wanted if n not in texts):
        table = _whole_again(table, n, reader.schema.field(n).type)
    frame = nw.from_native(table)
    numbers = {n: table.column(n).to_numpy(zero_copy_only=False) for n in (label, *weights)}
    left = [
        not_read(n, t, unwanted[n])
        for t, own in {recent: columns, **there}.items()
        for n in own
        if n in unwanted
    ]
    accounts: list[Account] = []

    def tell(account: Account) -> None:
        notes = tuple(" ".join(message_and_hint(c)) for c in cautions if is_note(c))
        accounts.append(replace(account, columns=(*account.columns, *left), notes=notes))
        if not quiet:
            show_account(accounts[-1])
            say()

    features = [n for n in wanted if n not in unwanted and n not in (label, *weights)]
    chosen = frozenset(names_in(options.features))
    return InputTables(
        X=replace(open_table(table.select(features), recent), chosen=chosen, tell=tell),
        y=numbers[label],
        weights=numbers[weights[0]] if weights else None,
        sources={n: _without(source, there[n], unwanted) for n, source in sources.items()},
        files={n: own for n, own in files.items() if Path(own[0]).name != f"{STDIN_NAME}.csv"},
        label=label,
        accounts=accounts,
        split={option: n and frame[n] for option, n in apart.items()}
        | {"cv": split.folds, "repeats": split.repeats},
    )


def _whole_again(table: Any, column: str, held: Any) -> Any:
    """Return a table whose column has the integers of the file, unless it has fractions too."""
    import pyarrow as pa

    if not pa.types.is_integer(held) or not pa.types.is_floating(table.column(column).type):
        return table
    try:
        whole = table.column(column).cast(pa.int64())
    except pa.ArrowInvalid:
        return table
    return table.set_column(table.schema.get_field_index(column), column, whole)


def _open_source(
    called: str, paths: Sequence[str], csv: Mapping[str, Any] | None, options: HistoryOptions
) -> Any:
    from poolwise.moments.moments import Moments
    from poolwise.tables.file_table import OpenedFiles, readers_of
    from poolwise.tables.files import Files

    if paths[0].lower().endswith(MOMENTS):
        return Moments.load(paths[0])
    where = f"table {called!r}"
    readers = [r for path in paths for r in readers_of(Files(path, csv=csv), where)]
    for reader in readers:
        reader.read_as_text(names_in(options.text))
    return OpenedFiles(
        paths,
        weights=options.weights,
        nulls=options.nulls,
        csv=csv,
        workers=options.jobs,
        readers=tuple(readers),
    )


def _files_of(source: Any, paths: Sequence[str]) -> list[str]:
    readers = getattr(source, "readers", None)
    return list(paths) if readers is None else [str(r.file.path) for r in readers]


def _check_given_once(recent: str, files: Mapping[str, Sequence[str]]) -> None:
    """Raise an error for a file that was given twice: its rows would count twice."""
    seen: dict[Path, str] = {}
    for table, paths in files.items():
        for path in paths:
            own = Path(path).resolve()
            if own in seen:
                what = f"{path} is in {seen[own]} and again in history {table!r}"
                then = "its rows would count twice. Give every file once."
                raise wrong_option(f"{what}: {then}", "HISTORY")
            seen[own] = "the recent table" if table == recent else f"history {table!r}"


def _columns_of(source: Any, target: Sequence[str]) -> list[str]:
    """Return the columns of a source; indicators in moments stand for a text column."""
    from poolwise.tables.file_table import OpenedFiles

    if isinstance(source, OpenedFiles):
        own = dict.fromkeys(n for reader in source.readers for n in reader.schema.names)
        keys = dict.fromkeys(k for reader in source.readers for k in reader.file.keys)
        return [*own, *(k for k in keys if k in target and k not in own)]
    columns = []
    for column in source.names:
        text = column.partition("=")[0]
        columns.append(text if column not in target and text in target else column)
    return list(dict.fromkeys(columns))


def _unwanted(
    recent: str,
    columns: Sequence[str],
    sources: Mapping[str, Sequence[str]],
    label: str,
    options: HistoryOptions,
    split: SplitOptions,
) -> dict[str, str]:
    """Return the columns that an option leaves out, and which option."""
    wanted, drop = names_in(options.features), names_in(options.drop)
    apart = [n for n in (label, options.weights) if n is not None]
    groups, times = ([n] if n else [] for n in (split.group, split.time))
    named = {"--features": wanted, "--drop": drop, "--group": groups, "--time": times}
    for option, names in named.items():
        if mine := [n for n in names if n in apart]:
            what = "column to predict" if mine[0] == label else "column of row weights"
            raise wrong_option(f"{mine[0]!r} is the {what}.", option)
    texts = names_in(options.text)
    if unknown := [n for n in (*apart, *wanted, *texts, *groups, *times) if n not in columns]:
        raise BadColumns.missing(unknown, columns, recent)
    everywhere = list(dict.fromkeys([*columns, *(n for own in sources.values() for n in own)]))
    if unknown := [n for n in drop if n not in everywhere]:
        raise BadColumns.missing(unknown, everywhere, "One of the tables")
    others = [n for n in columns if wanted and n not in (*wanted, *apart)]
    return (
        dict.fromkeys(others, "--features does not name it")
        | dict.fromkeys(drop, "--drop names it")
        | dict.fromkeys(groups, "--group holds out its groups")
    )


def _without(source: Any, columns: Sequence[str], unwanted: Mapping[str, str]) -> Any:
    from poolwise.tables.file_table import OpenedFiles

    if not isinstance(source, OpenedFiles) or not unwanted.keys() & set(columns):
        return source
    return replace(source, columns=[n for n in columns if n not in unwanted])


def open_file(path: str, csv: Mapping[str, Any] | None, what: str, hint: str) -> Reader:
    """Open one file far enough to know its columns; an error calls it `what` and names `hint`."""
    from poolwise.tables.file_table import readers_of
    from poolwise.tables.files import Files

    readers = readers_of(Files(path, csv=csv), what)
    if len(readers) > 1:
        said = f"{path} stands for {len(readers):,} files, and {what} is one file."
        raise wrong_option(said, hint)
    return readers[0]


def read_file(reader: Reader, names: Sequence[str], types: Mapping[str, Any]) -> Any:
    """Read all rows of some columns, as a pyarrow.Table; `types` are for columns of CSV."""
    import pyarrow as pa

    from poolwise.moments.progress import reading_bar

    types = types if reader.file.format == "csv" else {}
    found = []
    with reading_bar(f"Reading {name(reader.file.path.name)}", reader.size) as bar:
        for batch, size in reader.batches(names, types):
            found.append(batch)
            bar.update(batch.num_rows, size)
    with reader.reading():
        table = pa.Table.from_batches(found) if found else reader.schema.empty_table()
        return table.select(list(names))


def number_types(schema: Any, texts: Sequence[str]) -> dict[str, Any]:
    """Return types for columns of CSV: integers may have fractions further down the file."""
    import pyarrow as pa

    return {
        field.name: pa.string() if field.name in texts else pa.float64()
        for field in schema
        if field.name in texts or pa.types.is_integer(field.type)
    }


@contextmanager
def paths_of(given: Sequence[str]) -> Iterator[list[str]]:
    """Replace - by the path of a file that holds standard input: it may be read twice."""
    if [*given].count(STDIN) > 1:
        raise typer.BadParameter("Standard input (-) is one table, and was given twice.")
    with TemporaryDirectory(prefix="poolwise") as folder:
        yield [_stdin_file(Path(folder)) if path == STDIN else path for path in given]


def _stdin_file(folder: Path) -> str:
    if sys.stdin.isatty():
        tell("Reading CSV from standard input; end it with Ctrl-D.")
    path = folder / f"{STDIN_NAME}.csv"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return str(path)
