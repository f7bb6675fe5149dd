"""Warnings about the data: what looks like a mistake, and what was left out or assumed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from poolwise.errors.family import TransferWarning
from poolwise.wording import capital, counted, listed, plural, rows_for


class DroppedColumns(TransferWarning):
    """Columns of a source that the target lacks."""

    def __init__(self, source: str, names: Sequence[str], lacking: Sequence[str] = ()) -> None:
        lower = {str(n).lower(): n for n in lacking}
        near = [m for n in names for m in get_close_matches(str(n).lower(), lower, n=1, cutoff=0.8)]
        hint = f" Is it {listed([lower[m] for m in near])} by another name?" if near else ""
        self.source, self.names = source, tuple(str(n) for n in names)
        self.near = tuple(lower[m] for m in near)
        super().__init__(
            f"Source {source!r} has {listed(names)}, which the target lacks: left out. "
            f"A model for the target cannot use them.{hint}"
        )


class SwappedTables(TransferWarning):
    """A recent table that looks like the history, and history that looks like the recent table."""

    def __init__(self, names: Sequence[str], history_rows: int, target_rows: int) -> None:
        super().__init__(
            f"History has {listed(names)}, which the recent table lacks, and the recent table has "
            f"no column of its own, but more rows: {target_rows:,} beside {history_rows:,}. Are "
            "they swapped? History comes first, the recent table last."
        )


class OtherSpelling(TransferWarning):
    """Columns to predict from that a table lacks, and has under names that look alike."""

    def __init__(self, where: str, spelled: Mapping[str, str]) -> None:
        pairs = ", ".join(f"{own!r} for {name!r}" for name, own in spelled.items())
        super().__init__(
            f"{capital(where)} has {pairs}: names must be alike to the letter, so what it holds "
            "there was not used. Rename it if it is the same column."
        )


class ModelAssumes(TransferWarning):
    """What stands in for numbers that a published model does not tell."""

    def __init__(self, what: str) -> None:
        super().__init__(f"The published model does not tell everything: {what}")


class EmptySource(TransferWarning):
    """A source without rows."""

    def __init__(self, source: str) -> None:
        super().__init__(
            f"Source {source!r} has no rows, or their weights are all zero: it changes nothing. "
            "Was it filtered too far, or is it a stream that was read before?"
        )


class LevelAssumed(TransferWarning):
    """A level of a text column that moments do not name, and the one that stands in for it."""

    def __init__(self, source: str, column: str, what: str) -> None:
        super().__init__(
            f"The moments of {source} do not name all levels of {column!r}: {what}. Moments with "
            "an indicator for every level leave nothing to assume."
        )


class RowsDropped(TransferWarning):
    """Rows left out because a value is missing."""

    def __init__(self, source: str, counts: Mapping[str, int], dropped: int, rows: int) -> None:
        self.counts, self.dropped, self.rows = dict(counts), dropped, rows
        super().__init__(
            f"{dropped:,} of {rows:,} rows of source {source!r} were dropped because a value is "
            f'missing: {counted(counts)}. nulls="split" would make use of those that lack a '
            "feature."
        )


class BeginsAnew(TransferWarning):
    """A checkpoint of something else than what is read now."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path!r} is the checkpoint of a reading of other files, of these files before they "
            "changed, of other columns, or by another version of poolwise: all was read anew."
        )


class FragmentsLeftOut(TransferWarning):
    """Rows whose pattern of missing columns is too rare to be a source."""

    def __init__(self, where: str, rows: int, patterns: int) -> None:
        super().__init__(
            f"{plural(rows, 'row')} of {where} with missing values, in "
            f"{plural(patterns, 'pattern')} of too few rows to estimate a noise from: left out. "
            "Impute or drop these values to use the rows."
        )


class LevelsApart(TransferWarning):
    """A text column with no level in common between a source and the target."""

    def __init__(
        self, source: str, column: str, theirs: Sequence[str], ours: Sequence[str]
    ) -> None:
        super().__init__(
            f"Column {column!r} has the levels {listed(theirs)} in source {source!r} and "
            f"{listed(ours)} in the target, none in common. Spelt differently, or filled in? Then "
            "map them, or leave the column out of the source."
        )


class OtherUnits(TransferWarning):
    """A column whose location or scale is far from the target's."""

    def __init__(
        self, source: str, column: str, theirs: tuple[float, float], ours: tuple[float, float]
    ) -> None:
        super().__init__(
            f"Column {column!r} of source {source!r} has mean {theirs[0]:.3g} and standard "
            f"deviation {theirs[1]:.3g}; in the target they are {ours[0]:.3g} and {ours[1]:.3g}. "
            "Other units, or scaled on one side only? (A Pipeline transforms X and not sources: "
            "there, stack the rows with NaN instead.)"
        )


class FilledColumn(TransferWarning):
    """A source column that is constant although the target's varies."""

    def __init__(self, source: str, column: str, value: float) -> None:
        super().__init__(
            f"Column {column!r} is {value:.6g} in every row of source {source!r} but varies in "
            "the target: it looks filled in. If it was not measured, leave it out of the source "
            "(or set it to NaN), so that it counts as unseen."
        )


class ConstantFeatures(TransferWarning):
    """Features that do not vary in any table."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"One value in every row: {listed(names)}. Such columns explain nothing and "
            "get coefficient zero. Are they the right ones?"
        )


class ConstantResponse(TransferWarning):
    """A response that does not vary."""

    def __init__(self, where: str, value: float) -> None:
        super().__init__(
            f"The response is {value:.6g} in every row of {where}: there is nothing to explain. "
            "Is it the right column?"
        )


class FewRows(TransferWarning):
    """A target with fewer rows than coefficients."""

    def __init__(self, weight: float, coefficients: int, rows: int = 0) -> None:
        said = (
            f"The target has {rows_for(weight, coefficients)}: the target alone "
            "does not determine the model, nor its noise."
        )
        if weight < 0.999 * rows:  # not by rounding alone
            said += (
                f" The weights of its {rows:,} rows sum to {weight:.5g}: scale them to a mean of "
                "one, since a weight counts as repetitions."
            )
        super().__init__(said)
