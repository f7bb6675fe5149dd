"""Excel files (.xlsx), of which the first sheet is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from zipfile import BadZipFile

from poolwise.errors import NotInstalled
from poolwise.tables.file_reader import Batch, Reader
from poolwise.tables.rows import rows_at_once
from poolwise.wording import listed


class ExcelReader(Reader):
    """The first sheet of an Excel file, whose first row holds the names of the columns."""

    table: Any  # pyarrow.Table: a sheet has at most a million rows

    def _schema(self) -> Any:
        import pyarrow as pa

        names, columns = self._cells()
        self.table = pa.Table.from_arrays([_array(column) for column in columns], names)
        self.known_rows = self.table.num_rows
        return self.table.schema

    def _batches(self, names: list[str], types: Mapping[str, Any], rows: Any) -> Iterator[Batch]:
        per_row = self.size / max(self.known_rows, 1)
        for batch in self.table.select(names).to_batches(rows_at_once(len(names))):
            yield Batch(batch, batch.num_rows * per_row)

    def _cells(self) -> tuple[list[str], list[list[Any]]]:
        """Return the names of the columns and their values; an error in a cell counts as empty."""
        from pyarrow.csv import ConvertOptions

        try:
            from openpyxl import load_workbook
            from openpyxl.cell.cell import ERROR_CODES
            from openpyxl.utils.exceptions import InvalidFileException
        except ImportError:
            otherwise = "Or save the sheet as CSV."
            raise NotInstalled.of("Reading Excel files", "openpyxl", "excel", otherwise) from None
        missing = self.words.get("null_values", ConvertOptions().null_values)
        try:
            book = load_workbook(self.path, read_only=True, data_only=True)
            sheets = book.worksheets
            empty = {None, "", *ERROR_CODES, *missing}
            found = sheets[0].iter_rows(values_only=True) if sheets else iter(())
            rows = [[None if cell in empty else cell for cell in row] for row in found]
            book.close()
        except (BadZipFile, InvalidFileException, KeyError, ValueError) as error:
            raise self._bad(str(error)) from error
        rows = [row for row in rows if any(cell is not None for cell in row)]
        if not rows:
            raise self._bad("its first sheet is empty")
        if len(sheets) > 1:
            others = listed([sheet.title for sheet in sheets[1:]])
            self.note = (
                f"has several sheets: the first, {sheets[0].title!r}, was read, not {others}"
            )
        columns = [[*column] for column in zip(*_as_long(rows), strict=True)]
        kept = [column for column in columns if any(cell is not None for cell in column)]
        return ["" if c[0] is None else str(c[0]) for c in kept], [c[1:] for c in kept]


def _as_long(rows: Sequence[list[Any]]) -> list[list[Any]]:
    width = max(map(len, rows))
    return [[*row, *[None] * (width - len(row))] for row in rows]


def _array(cells: list[Any]) -> Any:
    """Return a column of numbers, dates or truth values; of texts if its cells are of two kinds."""
    import pyarrow as pa

    try:
        return pa.array(cells)
    except (pa.ArrowException, TypeError):
        return pa.array([None if cell is None else str(cell) for cell in cells])
