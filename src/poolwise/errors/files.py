"""Errors about files and streams of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from poolwise.errors.family import TransferError
from poolwise.errors.numbers import NotFinite
from poolwise.wording import capital, counted, listed, plural


class FilesNotFound(TransferError):
    """A path, a pattern or a folder that stands for no file."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"No file to read at {path!r}. {why} Relative paths begin at the working directory."
        )


class UnknownFormat(TransferError):
    """A file whose name does not say how it is written."""

    def __init__(self, file: str, there: Sequence[str]) -> None:
        super().__init__(
            f"The suffix of {file!r} does not say how it is written. Known are {listed(there)}. "
            "Rename it, or say Files(..., format='csv'), 'parquet' or 'feather'. Files of moments "
            "end in .moments.json."
        )


class UnreadableFile(TransferError):
    """A file that is broken, cut short, or not what its name says."""

    def __init__(
        self, file: str, form: str, why: str, column: str | None = None, then: str = ""
    ) -> None:
        self.file, self.form, self.why, self.column = file, form, why, column
        name = {"csv": "CSV", "parquet": "Parquet", "feather": "Feather"}.get(form, form)
        advice = (
            "Write it again if it was cut short; if it is of another kind, rename it or say "
            "Files(..., format=...); how CSV is written (delimiter, decimal_point, encoding) can "
            "be said by Files(..., csv=...)."
        )
        if "UTF8" in why:
            advice = "It is in another encoding: say which by encoding of Files(..., csv=...)."
        elif column is not None:
            advice = (
                "Mend it; or, if it stands for a missing number, say so by null_values of "
                "Files(..., csv=...)."
            )
        super().__init__(f"{file!r} cannot be read as {name}: {why}. {advice}{then and f' {then}'}")


class NotACheckpoint(TransferError):
    """A file where a checkpoint should be is none."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"{path!r} should be the checkpoint of a reading, but is not ({why}). Remove it to "
            "begin anew, or name another file."
        )


class NotInFile(TransferError):
    """A column that a file must have and lacks."""

    def __init__(self, file: str, column: str, there: Sequence[str], why: str) -> None:
        lower = {n.lower(): n for n in there}
        near = get_close_matches(column.lower(), lower, n=1)
        hint = f" Did you mean {lower[near[0]]!r}?" if near else ""
        super().__init__(
            f"{file!r} has no column {column!r}, {why}; it has {listed(there)}.{hint} Add or "
            "rename the column, or leave the file out."
        )


class NullsInFile(TransferError):
    """Missing values in a file or a stream, where they are not to be."""

    def __init__(self, file: str, counts: Mapping[str, int], rows: int) -> None:
        where = capital(file) if file.startswith("source ") else repr(file)  # a stream
        super().__init__(
            f"{where} has missing values in {plural(rows, 'row')}: {counted(counts)}. "
            'nulls="drop" leaves such rows out; nulls="split" makes a source of each pattern of '
            "missing features."
        )


class NullResponse(NotFinite):
    """Rows of files or of a stream without a response, where those that lack features are used."""

    def __init__(self, where: str, response: str, count: int, rows: int) -> None:
        self.counts, self.rows = {response: count}, rows
        TransferError.__init__(
            self,
            f"{capital(where)} lacks the response {response!r} in {count:,} of {rows:,} rows, and "
            "such rows are of no use. Of files, leave them out with Files(..., filter="
            f"~pyarrow.dataset.field({response!r}).is_null(nan_is_null=True)), or leave out all "
            'that lack any value with Files(..., nulls="drop"). Of a data frame or a stream, '
            "filter them out before.",
        )


class TooManyPatterns(TransferError):
    """Missing values so scattered that their patterns cannot all be kept."""

    def __init__(self, where: str, most: int) -> None:
        super().__init__(
            f"The rows of {where} lack columns in more than {most:,} different patterns, and each "
            'would be a source. Read them with Files(..., nulls="drop"), read fewer columns with '
            "Files(..., columns=...), or impute the values first."
        )
