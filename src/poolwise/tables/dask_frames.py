"""Dask DataFrames: each partition is read where it is computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from threadpoolctl import threadpool_limits

from poolwise.errors import DuplicateColumns, NotNumeric
from poolwise.tables.arrow_columns import Kind, kind_of, kinds_wanted
from poolwise.tables.dask import Sent, check_workers, read, results_in_order
from poolwise.tables.streamed import A, Done, Part, Reading, Seen, StreamedTable

ADDED_AT_ONCE = 64  # partitions whose results one task of a local scheduler adds up


@dataclass(frozen=True, eq=False)
class DaskBatches:
    """A Dask DataFrame, a partition of which is a shard.

    It is computed each time that it is read, and of its columns those alone that are needed.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        The rows.
    kinds : mapping of str to Kind
        What the columns hold that may be read.
    where : str
        What to call it in an error.
    """

    frame: Any
    kinds: Mapping[str, Kind]
    where: str

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns."""
        return tuple(map(str, self.frame.columns))

    @property
    def rows(self) -> None:
        """Nobody knows before the rows are there."""

    @property
    def size(self) -> float:
        """Nobody knows either."""
        return 0.0

    @property
    def key(self) -> None:
        """Nobody can tell whether rows have changed."""

    def each(self, reading: Reading[A], seen: Seen, skip: int = 0) -> Iterator[A]:
        """Read all partitions: on the cluster of the active client, or by a scheduler here."""
        from dask.delayed import delayed

        task = delayed(partial(_read, reading, self.kinds), pure=False)
        # One graph for all: partitions that come out of a shuffle share it.
        tasks = {w: task(w, part) for w, part in [*self._partitions(reading.task.names)][skip:]}
        client = _active_client()
        if client is None:
            yield from _added_here([*tasks.values()], seen)
            return
        check_workers(client, self.where)
        for done in results_in_order(client, _sent(client, tasks), len(tasks)):
            seen(done.rows, done.size)
            yield done.result

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Bring the partitions here, one after the other."""
        client = _active_client()
        partitions = dict(self._partitions(names))
        if client is None:
            frames: Iterator[Any] = (part.compute() for part in partitions.values())
        else:
            sent = (Sent(where, client.compute(part)) for where, part in partitions.items())
            frames = results_in_order(client, sent, ahead=2)
        for where, frame in zip(partitions, frames, strict=True):
            yield from PandasPartition(frame, self.kinds, where).parts(names)

    def _partitions(self, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
        """Yield what to call each partition, and the partition of these columns, to be computed."""
        labels = dict(zip(self.names, self.frame.columns, strict=True))
        for k, part in enumerate(self.frame[[labels[name] for name in names]].to_delayed()):
            yield f"partitions[{k}] of {self.where}", part


@dataclass(frozen=True, eq=False)
class PandasPartition:
    """One partition, as the pandas DataFrame that it is for whoever computes it.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows of the columns that are read.
    kinds : mapping of str to Kind
        What the columns should hold.
    where : str
        What to call it in an error.
    """

    frame: Any
    kinds: Mapping[str, Kind]
    where: str

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Yield the rows, whose columns are those named, in that order."""
        import pyarrow as pa

        table = pa.table({name: self._column(j, name) for j, name in enumerate(names)})
        for batch in table.combine_chunks().to_batches():
            columns = dict(zip(names, batch.columns, strict=True))
            yield Part(columns, batch.num_rows, self.where, float(batch.nbytes))

    def _column(self, j: int, name: str) -> Any:
        import pyarrow as pa

        column = self.frame.iloc[:, j]
        if hasattr(column.dtype, "categories"):  # numbers are written as Python does, not Arrow
            column = column.cat.rename_categories(str)
        advice = "Convert it with astype, before Dask or in the frame, so that the types are true."
        try:
            values = pa.array(column, from_pandas=True)
        except pa.ArrowException as error:
            why = str(error).splitlines()[0]
            raise NotNumeric(name, f"of {self.where} cannot be read ({why})", advice) from error
        if kind_of(values.type) not in ("void", self.kinds[name]):
            promised = {"text": "text", "number": "numbers"}.get(self.kinds[name], "nothing")
            what = f"of {self.where} holds {values.type}, where the frame promises {promised}"
            raise NotNumeric(name, what, advice)
        return values


def open_frame(
    frame: Any, where: str, texts: Mapping[str, bool], response: str | None
) -> StreamedTable:
    """Open a Dask DataFrame as a table, computing none of it yet.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        The rows, the response being a column.
    where : str
        What to call it in an error.
    texts : mapping of str to bool
        The features of the target, and whether they are text.
    response : str or None
        Name of the response, if one column is it.
    """
    names = tuple(map(str, frame.columns))
    if len(set(names)) < len(names):
        raise DuplicateColumns(names, where)
    types = dict(zip(names, frame.dtypes, strict=True))
    objects = {n for n, dtype in types.items() if str(dtype) == "object"}
    kinds = kinds_wanted(types, _kind_of_dtype, where, texts, response)
    # Objects may be anything, and are what they are in the target.
    kinds |= {n: "text" if texts.get(n) else "number" for n in objects & kinds.keys()}
    return StreamedTable(DaskBatches(frame, kinds, where), where)


def _kind_of_dtype(dtype: Any) -> Kind | None:
    import pandas as pd
    import pyarrow as pa

    if str(dtype) == "object":
        return "number"
    try:
        return kind_of(pa.array(pd.Series([], dtype=dtype), from_pandas=True).type)
    except (pa.ArrowException, TypeError):  # complex numbers, for one
        return None


def _active_client() -> Any:
    """Return the client that Dask would compute with; None for a scheduler of this process."""
    from dask.base import get_scheduler

    client = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "submit") else None


def _sent(client: Any, tasks: Mapping[str, Any]) -> Iterator[Sent]:
    """Yield all tasks, which are sent when the first of them is asked for."""
    yield from map(Sent, tasks, client.compute([*tasks.values()]))


def _read(reading: Reading[A], kinds: Mapping[str, Kind], where: str, frame: Any) -> Done[A]:
    return read(reading, PandasPartition(frame, kinds, where))


def _added_here(tasks: Sequence[Any], seen: Seen) -> Iterator[Any]:
    """Compute by a scheduler of this process, which hands over nothing before all is done.

    So the results are added up as it goes, in their order, and only their sum is yielded.
    """
    from dask.callbacks import Callback
    from dask.delayed import delayed

    def told(key: Any, value: Any, *_: Any) -> None:
        if isinstance(value, Done):
            seen(value.rows, value.size)

    total = None
    for start in range(0, len(tasks), ADDED_AT_ONCE):
        total = delayed(_add, pure=False)(total, tasks[start : start + ADDED_AT_ONCE])
    if total is not None:
        with threadpool_limits(1), Callback(posttask=told):
            yield total.compute()


def _add(total: Any, more: Sequence[Done[Any]]) -> Any:
    for done in more:
        total = done.result if total is None else total + done.result
    return total
