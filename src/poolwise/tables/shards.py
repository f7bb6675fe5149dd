"""A table in shards, each read where its rows are and not kept.

A task turns the rows of a shard into something that can be added up: levels, or moments. The sum is
taken in the order of the shards, so that its bits do not depend on the workers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from poolwise.errors import BadOption, raise_all
from poolwise.moments.progress import reading_bar
from poolwise.numerics.options import checked_jobs
from poolwise.tables.arrow import days_in, kind_of, texts_in
from poolwise.tables.encoding import KnownLevels
from poolwise.tables.engines import CLUSTERS
from poolwise.tables.files import Nulls
from poolwise.tables.text_values import (
    DATES,
    PARSERS,
    Kind,
    calendar_counts,
    parts_of,
    unreadable,
)

MOST_TEXTS = 100_000  # of one column that are counted: more are identifiers
MOST_BAD = 5  # texts of one column that are named in an error
Seen = Callable[[int, float], None]  # called with the numbers of rows and bytes that were read


class Part(NamedTuple):
    """Some rows: Arrow arrays by name, where they came from, and the bytes that were read."""

    columns: Mapping[str, Any]
    rows: int
    where: str
    size: float

    def slices(self, rows: int) -> Iterator[Part]:
        """Yield the same rows in smaller parts."""
        for start in range(0, self.rows, rows):
            columns = {n: column.slice(start, rows) for n, column in self.columns.items()}
            count = min(rows, self.rows - start)
            yield Part(columns, count, self.where, self.size * count / self.rows)


class Shard(Protocol):
    """Rows that one worker reads."""

    @property
    def where(self) -> str:
        """Name of the rows in an error."""

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Yield the rows, with those of the columns that they have."""


@dataclass(frozen=True, eq=False)
class ArrowShard:
    """Rows in Arrow batches."""

    batches: Any
    names: tuple[str, ...]
    where: str

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Yield the rows."""
        for batch in self.batches:
            columns = dict(zip(self.names, batch.columns, strict=True))
            some = {n: columns[n] for n in names}
            yield Part(some, batch.num_rows, self.where, float(batch.nbytes))


class Task(Protocol):
    """Computation of a worker on the rows of a shard; it and its result, a sum, can be pickled."""

    @property
    def names(self) -> Sequence[str]:
        """The columns to read."""

    def __call__(self, parts: Iterator[Part]) -> Any:
        """Read all rows of a shard."""


@dataclass(frozen=True, eq=False)
class Done:
    """The result of a task, and how many rows and bytes were read for it."""

    result: Any
    rows: int
    size: float

    def __add__(self, other: Done) -> Done:
        return Done(self.result + other.result, self.rows + other.rows, self.size + other.size)


def read_shard(task: Task, shard: Shard, seen: Seen | None = None) -> Done:
    """Run a task on one shard, and report progress after each part."""
    rows, size = 0, 0.0

    def counted() -> Iterator[Part]:
        nonlocal rows, size
        for part in shard.parts(task.names):
            yield part
            rows, size = rows + part.rows, size + part.size
            if seen is not None:
                seen(part.rows, part.size)

    return Done(task(counted()), rows, size)


def read_alone(task: Task, shard: Shard) -> Done:
    """Run a task on one shard, beside others on the same machine: BLAS gets one thread."""
    with threadpool_limits(1):
        return read_shard(task, shard)


class Workers(Protocol):
    """Readers of shards."""

    def each(self, task: Task, shards: Sequence[Shard], seen: Seen) -> Iterator[Any]:
        """Run a task on every shard; yield the results in the order of the shards."""


@dataclass(frozen=True)
class Threads:
    """Threads of this process; with ``joblib.parallel_config("loky")``, processes."""

    jobs: int = 1

    def each(self, task: Task, shards: Sequence[Shard], seen: Seen) -> Iterator[Any]:
        """Run a task on every shard; yield the results in the order of the shards."""
        with threadpool_limits(1):  # else bits might depend on how many threads BLAS has left
            if self.jobs == 1 or len(shards) < 2:
                for shard in shards:
                    yield read_shard(task, shard, seen).result
                return
            pool = Parallel(n_jobs=self.jobs, prefer="threads", return_as="generator")
            for done in pool(delayed(read_shard)(task, shard) for shard in shards):
                seen(done.rows, done.size)
                yield done.result


def workers_of(given: Any, jobs: int | None = None) -> Workers:
    """Return the workers that were requested."""
    if given is None:
        return Threads(checked_jobs(jobs))
    if isinstance(given, int):
        return Threads(checked_jobs(given, "workers"))
    for kind in type(given).__mro__:
        if module := CLUSTERS.get(kind.__module__.partition(".")[0]):
            found: Workers = import_module(f"poolwise.tables.{module}").workers(given)
            return found
    what = "a number of threads, a Dask client or a Spark session"
    raise BadOption.of("workers", given, what)


class Batches(Shard, Protocol):
    """Rows in shards, which can be read repeatedly."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns."""

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The kinds of the columns that may be read."""

    @property
    def rows(self) -> int | None:
        """Approximate number of rows; None if it is not known before they are read."""

    @property
    def size(self) -> float:
        """Bytes of all rows, to measure progress by; 0 if not known."""

    def each(self, task: Task, seen: Seen) -> Iterator[Any]:
        """Run a task on every shard; yield the results in the order of the shards."""


@dataclass(frozen=True, eq=False)
class FrameBatches:
    """Base of batches of a frame, a stream or a dataset."""

    frame: Any
    names: tuple[str, ...]
    kinds: Mapping[str, Kind]
    where: str
    rows: int | None = None
    size: float = 0.0


@dataclass(frozen=True, eq=False)
class StreamedTable:
    """A table of any size."""

    batches: Batches
    where: str  # its name in an error
    weights: str | None = None  # the column of row weights
    nulls: Nulls = "split"  # how to treat a missing value; see Files
    progress: bool | None = None  # whether to show a bar

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, without the weights."""
        return tuple(n for n in self.batches.names if n != self.weights)

    def levels(self, names: Sequence[str], kinds: Mapping[str, Kind] | None = None) -> KnownLevels:
        """Return the rows of each level, None for numbers; leave out empty columns.

        Text among numbers and dates raises an error.
        """
        del kinds  # they are known since the table was opened
        own, known = self.batches.kinds, dict[str, Mapping[str, float] | None]()
        for name in names:
            if own[name] == "text" and self._levels[name]:
                known[name] = self._levels[name]
            elif own[name] not in ("text", "void"):
                known[name] = None
                if own[name] in DATES:
                    known |= {called: self._levels[called] for called in parts_of(name)}
        return known

    def total(self, task: Task) -> Any:
        """Run a task on every shard and add up the results; None if there is no shard."""
        total = None
        with reading_bar(f"Reading {self.where}", self.batches.size, show=self.progress) as bar:
            for result in self.batches.each(task, bar.update):
                total = result if total is None else total + result
        return total

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Read all rows of some columns in this process."""
        with reading_bar(f"Reading {self.where}", self.batches.size, show=self.progress) as bar:
            for part in self.batches.parts(names):
                yield part
                bar.update(part.rows, part.size)

    @cached_property
    def _levels(self) -> dict[str, dict[str, int]]:
        """The levels of all text columns, from one pass over these columns alone."""
        kinds = {n: k for n, k in self.batches.kinds.items() if k not in ("number", "void")}
        found = (self.total(FindLevels(tuple(kinds), kinds)) if kinds else None) or LevelsFound({})
        raise_all([unreadable(n, [*bad], kinds[n], self.where) for n, bad in found.bad.items()])
        names = [c for n, kind in kinds.items() for c in (parts_of(n) if kind in DATES else [n])]
        return {name: dict(sorted(found.texts.get(name, {}).items())) for name in names}


@dataclass(frozen=True)
class LevelsFound:
    """How often texts are seen; of very many, only the most frequent ones are kept."""

    texts: Mapping[str, Mapping[str, int]]
    bad: Mapping[str, frozenset[str]] = field(default_factory=dict)  # texts that cannot be read

    def __add__(self, other: LevelsFound) -> LevelsFound:
        texts = {name: Counter(own) for name, own in self.texts.items()}
        for name, more in other.texts.items():
            texts.setdefault(name, Counter()).update(more)
        few = {
            n: c if len(c) <= MOST_TEXTS else dict(c.most_common(MOST_TEXTS // 2))
            for n, c in texts.items()
        }
        bad = dict(self.bad)
        for name, others in other.bad.items():
            bad[name] = frozenset(sorted(bad.get(name, frozenset()) | others)[:MOST_BAD])
        return LevelsFound(few, bad)


@dataclass(frozen=True)
class FindLevels:
    """The task of finding the levels of text columns, and months and weekdays of dates."""

    names: tuple[str, ...]
    kinds: Mapping[str, Kind]

    def __call__(self, parts: Iterator[Part]) -> LevelsFound:
        """Read all rows of a shard."""
        found = LevelsFound({})
        for part in parts:
            for name in (n for n in self.names if n in part.columns):
                found += self._found(name, self.kinds[name], part)
        return found

    def _found(self, name: str, kind: Kind, part: Part) -> LevelsFound:
        values = part.columns[name]
        if kind_of(values.type) == "text":
            texts = texts_in(values)
            if kind == "text":
                return LevelsFound({name: texts})
            if bad := [text for text in texts if PARSERS[kind](text) is None]:
                return LevelsFound({}, {name: frozenset(bad[:MOST_BAD])})
        if kind not in DATES:
            return LevelsFound({})
        return LevelsFound(calendar_counts(name, days_in(values, kind, name, part.where)))
