"""Datasets: those of pyarrow.dataset, which are read again as often as rows are needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from poolwise.errors import DuplicateColumns
from poolwise.tables.arrow_columns import Kind, kind_of, kinds_wanted
from poolwise.tables.rows import rows_at_once
from poolwise.tables.streamed import A, Part, Reading, Seen, StreamedTable

AHEAD = 1  # batches and fragments that pyarrow decodes before they are asked for, to hold few


@dataclass(frozen=True, eq=False)
class DatasetBatches:
    """The rows of a dataset, with its own filter; they are one shard, and are not kept.

    Parameters
    ----------
    dataset : pyarrow.dataset.Dataset
        The rows.
    kinds : mapping of str to Kind
        What the columns hold that may be read.
    where : str
        What to call it in an error.
    """

    dataset: Any
    kinds: Mapping[str, Kind]
    where: str

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns."""
        return tuple(self.dataset.schema.names)

    @property
    def rows(self) -> None:
        """To count them, files of text would have to be read."""

    @property
    def size(self) -> float:
        """Not known, either."""
        return 0.0

    @property
    def key(self) -> None:
        """Nobody can tell whether rows have changed."""

    def each(self, reading: Reading[A], seen: Seen, skip: int = 0) -> Iterator[A]:
        """Read all rows as one shard."""
        if not skip:
            yield reading(self, seen).result

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Yield all rows of some columns."""
        batches = self.dataset.to_batches(
            columns=list(names),
            batch_size=rows_at_once(len(names)),
            batch_readahead=AHEAD,
            fragment_readahead=AHEAD,
        )
        for batch in batches:
            columns = {n: batch.column(n) for n in names}
            yield Part(columns, batch.num_rows, self.where, float(batch.nbytes))


def open_frame(
    table: Any, where: str, texts: Mapping[str, bool], response: str | None
) -> StreamedTable:
    """Open a dataset as a table; see :func:`poolwise.tables.clusters.open_frame`."""
    types = {field.name: field.type for field in table.schema}
    if len(types) < len(table.schema):
        raise DuplicateColumns(table.schema.names, where)
    kinds = kinds_wanted(types, kind_of, where, texts, response)
    return StreamedTable(DatasetBatches(table, kinds, where), where)
