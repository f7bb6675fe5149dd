"""StreamedTable: a table in shards, each read where its rows are and then forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

from poolwise.progress import reading_bar
from poolwise.tables.arrow_columns import Kind, texts_in
from poolwise.tables.checkpoint import Checkpoint
from poolwise.tables.columns import MOST_LEVELS
from poolwise.tables.files import Nulls


class Part(NamedTuple):
    """Some rows: Arrow arrays by name, and where they came from."""

    columns: Mapping[str, Any]
    rows: int
    where: str
    size: float

    def slices(self, rows: int) -> Iterator[Part]:
        """Yield the same rows, so many at a time."""
        for start in range(0, self.rows, rows):
            columns = {n: column.slice(start, rows) for n, column in self.columns.items()}
            count = min(rows, self.rows - start)
            yield Part(columns, count, self.where, self.size * count / self.rows)


class Shard(Protocol):
    """Rows that one worker reads."""

    @property
    def where(self) -> str:
        """What to call the rows in an error."""
        ...

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Yield the rows, with those of the columns that they have."""
        ...


class Additive(Protocol):
    """What is known of some rows, and of more when it is added up."""

    def __add__(self, other: Self) -> Self: ...

    def plain(self) -> Any:
        """Return what JSON can hold."""
        ...

    @classmethod
    def of_plain(cls, plain: Any) -> Self:
        """Return what :meth:`plain` was made of."""
        ...


A_co = TypeVar("A_co", bound=Additive, covariant=True)
A = TypeVar("A", bound=Additive)


class Task(Protocol[A_co]):
    """What a worker does with the rows of a shard. It is pickled, and so is what it returns."""

    @property
    def names(self) -> Sequence[str]:
        """The columns to read."""
        ...

    @property
    def key(self) -> str:
        """Text that is another one for every other task."""
        ...

    def __call__(self, parts: Iterator[Part]) -> A_co:
        """Read all rows of a shard."""
        ...

    def restored(self, plain: Any) -> A_co:
        """Return a result that was written as JSON."""
        ...


class Done(NamedTuple, Generic[A]):
    """What a worker found, and how much it has read for that."""

    result: A
    rows: int
    size: float


Seen = Callable[[int, float], None]


@dataclass(frozen=True, eq=False)
class Reading(Generic[A]):
    """A task, and the count of what is read for it.

    Parameters
    ----------
    task : Task
        What to do with the rows.
    """

    task: Task[A]

    def __call__(self, shard: Shard, seen: Seen | None = None) -> Done[A]:
        """Read one shard, and say after each part how many rows and bytes it was."""
        rows, size = 0, 0.0

        def counted() -> Iterator[Part]:
            nonlocal rows, size
            for part in shard.parts(self.task.names):
                yield part
                rows, size = rows + part.rows, size + part.size
                if seen is not None:
                    seen(part.rows, part.size)

        return Done(self.task(counted()), rows, size)


class Batches(Shard, Protocol):
    """Rows in shards, as often as they are asked for."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns."""
        ...

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """What those columns hold that may be read."""
        ...

    @property
    def rows(self) -> int | None:
        """About how many rows there are, where that is known before they are read."""
        ...

    @property
    def size(self) -> float:
        """Bytes of all rows, to measure progress by; 0 where that is not known."""
        ...

    @property
    def key(self) -> str | None:
        """Text that is another one when rows change; None where nobody can tell."""
        ...

    def each(self, reading: Reading[A], seen: Seen, skip: int = 0) -> Iterator[A]:
        """Read every shard but the first ``skip``, wherever it is; yield results in their order."""
        ...


@dataclass(frozen=True, eq=False)
class StreamedTable:
    """A table of any size.

    Parameters
    ----------
    batches : Batches
        Its rows.
    where : str
        What to call it in an error.
    weights : str, optional
        The column of row weights.
    nulls : {"split", "drop", "raise"}, default="split"
        What a missing value does; see :class:`poolwise.Files`.
    progress : bool, optional
        Whether to show a bar.
    checkpoint : Checkpoint, optional
        Where to keep what was found so far.
    """

    batches: Batches
    where: str
    weights: str | None = None
    nulls: Nulls = "split"
    progress: bool | None = None
    checkpoint: Checkpoint | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, without that of the weights."""
        return tuple(n for n in self.batches.names if n != self.weights)

    def levels_of(self, name: str) -> tuple[str, ...] | None:
        """Return the levels of a text column, sorted; None for numbers."""
        return self._levels.get(name, ()) if self.batches.kinds[name] == "text" else None

    def is_void(self, name: str) -> bool:
        """Say whether a column has no value, where its type or its levels tell."""
        kind = self.batches.kinds[name]
        return kind == "void" or (kind == "text" and not self._levels[name])

    def total(self, task: Task[A]) -> A | None:
        """Run a task on every shard and add up what it finds, in the order of the shards.

        The order, and with it every bit, is the same for any number of workers; so is what a run
        that was killed and begun again ends with. Of no shards, the total is None.
        """
        kept = self.checkpoint
        name = "" if kept is None else kept.task(f"{self.batches.key} {task.key}")
        found = (0, None) if kept is None else kept.restored(name, task.restored)
        with reading_bar(f"Reading {self.where}", self.batches.size, show=self.progress) as bar:
            try:
                for result in self.batches.each(Reading(task), bar.update, found[0]):
                    done, total = found
                    found = done + 1, result if total is None else total + result
                    if kept is not None:
                        kept.keep(name, *found)
            except KeyboardInterrupt:
                if kept is not None:
                    kept.keep(name, *found, at_once=True)
                raise
            finally:
                if kept is not None:
                    kept.end(name, *found)
        return found[1]

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Read all rows of some columns here, and show how far that is."""
        with reading_bar(f"Reading {self.where}", self.batches.size, show=self.progress) as bar:
            for part in self.batches.parts(names):
                yield part
                bar.update(part.rows, part.size)

    @cached_property
    def _levels(self) -> dict[str, tuple[str, ...]]:
        """The levels of all text columns, from one reading of these columns alone."""
        names = tuple(n for n, kind in self.batches.kinds.items() if kind == "text")
        found = (self.total(FindLevels(names)) if names else None) or LevelsFound({})
        return {name: tuple(sorted(found.texts.get(name, ()))) for name in names}


@dataclass(frozen=True)
class LevelsFound:
    """The different texts of some columns, of which more than a few too many need not be known.

    Parameters
    ----------
    texts : mapping of str to frozenset of str
        By column.
    """

    texts: Mapping[str, frozenset[str]]

    def __add__(self, other: LevelsFound) -> LevelsFound:
        names = dict.fromkeys((*self.texts, *other.texts))
        return LevelsFound(
            {n: self._of(n) | (frozenset() if self._full(n) else other._of(n)) for n in names}
        )

    def _of(self, name: str) -> frozenset[str]:
        return self.texts.get(name, frozenset())

    def _full(self, name: str) -> bool:
        return len(self._of(name)) > MOST_LEVELS  # refused anyway

    def plain(self) -> dict[str, list[str]]:
        """Return what JSON can hold."""
        return {name: sorted(texts) for name, texts in self.texts.items()}

    @classmethod
    def of_plain(cls, plain: Any) -> LevelsFound:
        """Return what :meth:`plain` was made of."""
        return cls({name: frozenset(texts) for name, texts in plain.items()})


@dataclass(frozen=True)
class FindLevels:
    """The task of finding the levels of text columns.

    Parameters
    ----------
    names : tuple of str
        The columns.
    """

    names: tuple[str, ...]

    @property
    def key(self) -> str:
        """Text that is another one for every other task."""
        return repr(self)

    def __call__(self, parts: Iterator[Part]) -> LevelsFound:
        """Read all rows of a shard."""
        found = LevelsFound({})
        for part in parts:
            there = {n: frozenset(texts_in(c)) for n, c in part.columns.items() if n in self.names}
            found += LevelsFound(there)
        return found

    def restored(self, plain: Any) -> LevelsFound:
        """Return levels that were written as JSON."""
        return LevelsFound.of_plain(plain)
