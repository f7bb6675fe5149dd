"""PatternSums: moments of each pattern of missing columns, added up shard by shard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from poolwise.errors import TooManyPatterns
from poolwise.moments import Moments
from poolwise.precision import Kept
from poolwise.tables.row_splitter import Lacks, RowSplitter, Tally
from poolwise.tables.streamed import Part

MOST_PATTERNS = 1000  # each is a source, and holds a matrix


@dataclass(frozen=True, eq=False)
class PatternSums:
    """Moments of the rows that lack the same columns, and how many rows lack a value.

    Parameters
    ----------
    moments : dict of tuple of str to Moments
        By the raw columns that the rows lack.
    tally : Tally
        Rows and nulls.
    """

    moments: dict[Lacks, Moments]
    tally: Tally

    def __add__(self, other: PatternSums) -> PatternSums:
        moments, tally = dict(self.moments), Tally()
        for lacks, more in other.moments.items():
            moments[lacks] = moments[lacks] + more if lacks in moments else more
        tally.add(self.tally)
        tally.add(other.tally)
        return PatternSums(moments, tally)

    def plain(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        moments = [[list(lacks), own.text()] for lacks, own in self.moments.items()]
        return {"moments": moments, "tally": vars(self.tally)}

    @classmethod
    def of_plain(cls, plain: Any) -> PatternSums:
        """Return what :meth:`plain` was made of."""
        where = "the checkpoint"
        moments = {tuple(lacks): Moments.of_text(text, where) for lacks, text in plain["moments"]}
        return cls(moments, Tally(**plain["tally"]))


@dataclass(frozen=True)
class SumByPattern:
    """The task of adding up the rows of a shard.

    Parameters
    ----------
    splitter : RowSplitter
        How rows become numbers.
    precision : {"fast", "accurate", "exact"}
        Digits of the sums.
    only : tuple of tuple of str or None
        The patterns to add up; all unless given.
    where : str
        What to call the table in an error.
    """

    splitter: RowSplitter
    precision: Kept
    only: tuple[Lacks, ...] | None
    where: str

    @property
    def names(self) -> Sequence[str]:
        """The columns to read."""
        return self.splitter.names

    @property
    def key(self) -> str:
        """Text that is another one for every other task."""
        return repr(self)

    def __call__(self, parts: Iterator[Part]) -> PatternSums:
        """Read all rows of a shard once."""
        total: dict[Lacks, Moments] = {}
        tally = Tally()
        pieces = self.splitter.pieces(parts, tally)
        for lacks, run in groupby(pieces, lambda piece: piece.lacks):
            if self.only is not None and lacks not in self.only:
                continue
            names = self.splitter.names_of(lacks)
            blocks = ((piece.arrays, piece.weights) for piece in run)
            own = Moments.of_blocks(names, blocks, precision=self.precision)
            total[lacks] = total[lacks] + own if lacks in total else own
            check_few(total, self.where)
        return PatternSums(total, tally)

    def restored(self, plain: Any) -> PatternSums:
        """Return sums that were written as JSON."""
        return PatternSums.of_plain(plain)


def check_few(patterns: Sized, where: str) -> None:
    """Refuse a table with more patterns of missing columns than can be held."""
    if len(patterns) > MOST_PATTERNS:
        raise TooManyPatterns(where, MOST_PATTERNS)
