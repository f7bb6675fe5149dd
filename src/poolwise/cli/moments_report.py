"""MomentsReport: which files of moments were written, in words and in JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import typer
from rich.console import Console

from poolwise.cli.messages import harmless, tell
from poolwise.cli.wording import as_typed
from poolwise.errors import NotOverwritten, RowsDropped, TooFewToShare, TransferWarning
from poolwise.moments import Moments
from poolwise.store import SUFFIX
from poolwise.tables.row_splitter import Lacks
from poolwise.wording import listed, plural

FORMAT, VERSION = "poolwise moments report", 1
FEW = 10  # rows per column: of fewer, moments tell a good deal about single rows
LONGEST = 100  # bytes of a file's name that tell which columns are missing


class Written(NamedTuple):
    """Moments and where they are."""

    path: Path
    lacks: Lacks
    moments: Moments


class LeftOut(NamedTuple):
    """Rows that no file tells of, and why."""

    lacks: Lacks
    rows: int
    why: str


@dataclass
class MomentsReport:
    """What came of a reading.

    Parameters
    ----------
    cautions : sequence of TransferWarning
        What was noticed on the way.
    is_resumed : bool
        Whether it went on from where an earlier run was.
    """

    cautions: Sequence[TransferWarning]
    is_resumed: bool
    files: list[Written] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def save(
        self, found: Mapping[Lacks, Moments], out: Path, *, min_rows: int, force: bool
    ) -> None:
        """Write a file for each pattern of missing columns; of several, leave too small ones out.

        Parameters
        ----------
        found : mapping of tuple of str to Moments
            Moments, by the columns that rows lack.
        out : Path
            The file for the rows that lack none.
        min_rows : int
            The least number of rows; see :meth:`poolwise.Moments.save`.
        force : bool
            Whether files may be replaced.
        """
        paths = _paths(out, list(found))
        if there := [path for path in paths.values() if path.exists() and not force]:
            raise NotOverwritten(str(there[0]))
        refused: TooFewToShare | None = None
        for lacks, moments in found.items():
            try:
                moments.save(paths[lacks], overwrite=force, min_rows=min_rows)
            except TooFewToShare as error:
                refused = error
                self.left_out.append(LeftOut(lacks, moments.rows, error.short))
            else:
                self.files.append(Written(paths[lacks], lacks, moments))
        if refused is not None and not self.files:
            raise refused

    def tell(self, *, as_json: bool) -> None:
        """Say what was done on standard output, and what was noticed on standard error."""
        if as_json:
            typer.echo(json.dumps(self.as_dict(), indent=1, allow_nan=False))
            return
        console = Console(soft_wrap=True, highlight=False, markup=False)
        for caution in self.cautions:
            tell(f"{type(caution).__name__}: {as_typed(str(caution))}")
        for sentence in self.sentences():
            console.print(harmless(sentence))

    def sentences(self) -> list[str]:
        """Return what was done, in words."""
        said = ["Went on from where an earlier run was."] if self.is_resumed else []
        for path, lacks, moments in self.files:
            without = f" without {', '.join(lacks)}" if lacks else ""
            said.append(
                f"{path}: {plural(moments.rows, 'row')}{without}, {moments.precision} sums of "
                f"{plural(len(moments.names), 'column')}: {listed(moments.names)}."
            )
            if moments.rows < FEW * len(moments.names):
                said.append(
                    f"  Of {plural(moments.rows, 'row')} in "
                    f"{plural(len(moments.names), 'column')}, moments tell a good deal about "
                    "single rows: think twice before they leave the house."
                )
        for lacks, rows, why in self.left_out:
            without = f"without {', '.join(lacks)}" if lacks else "with all columns"
            said.append(f"Left out: {plural(rows, 'row')} {without} ({why}).")
        return said

    def as_dict(self) -> dict[str, Any]:
        """Return what was done, as JSON can hold it."""
        drops = [c for c in self.cautions if isinstance(c, RowsDropped)]
        kept = sum(own.moments.rows for own in self.files) + sum(own.rows for own in self.left_out)
        dropped = sum(c.dropped for c in drops)
        return {
            "format": FORMAT,
            "version": VERSION,
            "files": [
                {
                    "path": str(path),
                    "without": list(lacks),
                    "rows": moments.rows,
                    "weight": moments.weight,
                    "precision": moments.precision,
                    "columns": list(moments.names),
                }
                for path, lacks, moments in self.files
            ],
            "left_out": [
                {"without": list(lacks), "rows": rows, "why": why}
                for lacks, rows, why in self.left_out
            ],
            "rows": {
                "read": kept + dropped,
                "dropped": dropped,
                "missing": {name: count for c in drops for name, count in c.counts.items()},
            },
            "resumed": self.is_resumed,
            "warnings": [
                {"kind": type(c).__name__, "message": as_typed(str(c))} for c in self.cautions
            ],
        }


def _paths(out: Path, patterns: Sequence[Lacks]) -> dict[Lacks, Path]:
    """Return a file for each pattern, no two alike in any file system."""
    stem, taken = out.name.removesuffix(SUFFIX), set[str]()
    paths: dict[Lacks, Path] = {}
    for lacks in patterns:
        words = "_".join(re.sub(r"[^\w-]+", "-", name) for name in lacks)
        own = f".without_{words.encode()[:LONGEST].decode(errors='ignore')}" if lacks else ""
        more = next(k for k in range(1, len(patterns) + 1) if f"{own}{k}".lower() not in taken)
        taken.add(f"{own}{more}".lower())
        paths[lacks] = out.with_name(f"{stem}{own}{f'-{more}' if more > 1 else ''}{SUFFIX}")
    return paths
