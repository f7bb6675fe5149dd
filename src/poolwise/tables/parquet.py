"""Parquet and Feather files, read in batches of a few columns by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, Self

from poolwise.tables.file_reader import Batch, Reader
from poolwise.tables.rows import rows_at_once

PIECE = 2**26  # bytes of row groups, before compression, that one worker reads
BUFFER = 2**16  # bytes read at a time per column; more is slower, and held throughout


class ParquetReader(Reader):
    """A Parquet file, or some of its row groups."""

    groups: tuple[int, ...] | None = None  # all of them unless given
    group_sizes: Sequence[int] = ()

    def _schema(self) -> Any:
        import pyarrow.parquet as pq

        about = pq.read_metadata(self.path)
        self.known_rows = about.num_rows
        self.group_sizes = [about.row_group(k).total_byte_size for k in range(about.num_row_groups)]
        return about.schema.to_arrow_schema()

    def pieces(self) -> list[Self]:
        """Return readers of runs of row groups, if the file is long."""
        runs, size = [list[int]()], 0
        for group, own in enumerate(self.group_sizes):
            if size >= PIECE:
                runs.append([])
                size = 0
            runs[-1].append(group)
            size += own
        if len(runs) == 1:
            return [self]
        pieces = []
        for run in runs:
            piece = copy(self)
            piece.groups, piece.group_sizes = tuple(run), ()
            piece.where = f"{self.where} (row groups {run[0]} to {run[-1]})"
            share = sum(self.group_sizes[g] for g in run) / sum(self.group_sizes)
            piece.size = self.size * share
            pieces.append(piece)
        return pieces

    def _batches(self, names: list[str], types: Mapping[str, Any], rows: Any) -> Iterator[Batch]:
        import pyarrow.parquet as pq

        # Not through pyarrow.dataset, which decodes whole row groups ahead of the reader.
        with pq.ParquetFile(self.path, pre_buffer=False, buffer_size=BUFFER) as file:
            groups: Sequence[int]
            groups = range(file.num_row_groups) if self.groups is None else self.groups
            count = sum(file.metadata.row_group(g).num_rows for g in groups)
            per_row = self.size / max(count, 1)
            if rows is not None:
                matching = self._row_groups(*rows)
                groups = [g for g in groups if g in matching]
            for batch in file.iter_batches(rows_at_once(len(names)), list(groups), names):
                yield Batch(batch, batch.num_rows * per_row)

    def _row_groups(self, expression: Any, schema: Any) -> set[int]:
        import pyarrow.dataset as ds
        import pyarrow.fs as fs

        local = fs.LocalFileSystem()
        fragment = ds.ParquetFileFormat().make_fragment(str(self.path), local)
        parts = fragment.split_by_row_group(expression, schema)
        return {group.id for part in parts for group in part.row_groups}


class FeatherReader(Reader):
    """A Feather (Arrow IPC) file."""

    def _schema(self) -> Any:
        import pyarrow as pa

        with pa.OSFile(str(self.path)) as raw, pa.ipc.open_file(raw) as file:
            return file.schema

    def _batches(self, names: list[str], types: Mapping[str, Any], rows: Any) -> Iterator[Batch]:
        import pyarrow as pa

        at = [self.schema.get_field_index(n) for n in names]
        options = pa.ipc.IpcReadOptions(included_fields=at)
        with (
            pa.OSFile(str(self.path)) as raw,
            pa.ipc.open_file(raw, options=options) as file,
        ):
            for k in range(file.num_record_batches):
                yield Batch(file.get_batch(k), self.size / file.num_record_batches)
