"""poolwise moments: write summary statistics of files that can be shared without rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from poolwise.cli.input_tables import MOMENTS, paths_of
from poolwise.cli.interrupts import import_pandas, stop_if_interrupted
from poolwise.cli.messages import harmless, running
from poolwise.cli.options import (
    AsJson,
    Force,
    ReadingOptions,
    check_out,
    csv_options,
    label_option,
    names_in,
    nulls_option,
    out_option,
    with_options,
)
from poolwise.cli.screen import say_json
from poolwise.errors import LeftOut, PoolwiseWarning, TooFewToShare
from poolwise.wording import listed, plural

if TYPE_CHECKING:  # at run time, help would wait for numpy
    from poolwise.moments.moments import Moments
    from poolwise.tables.row_splitter import Lacks

FEW = 10  # rows per column: moments of fewer may disclose single rows
LONGEST = 100  # bytes of the columns in the name of a file


@with_options
def write_moments(
    *,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Files, patterns or folders that form one table; - reads CSV from standard input.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, out_option(f"The file to write ({MOMENTS}).")],
    label: Annotated[str | None, label_option("The column that a model will predict.")] = None,
    nulls: Annotated[
        Literal["raise", "drop", "split"],
        nulls_option(
            "Rows with missing values: raise is an error, drop leaves them out and counts them, "
            "split writes a file for each pattern of missing columns."
        ),
    ] = "raise",
    min_rows: Annotated[
        int, typer.Option(min=0, help="Write no moments of fewer rows, or of smaller groups.")
    ] = 20,
    options: ReadingOptions,
    parts: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep the moments of each file here, and skip files that have not changed.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the moments of files: summary statistics that can be shared without rows.

    With --parts, the same command continues after an interrupt, and skips files that have not
    changed since an earlier run.

    For example:

    poolwise moments clinic_b.csv --label y -o clinic_b.moments.json

    poolwise moments "history/*.parquet" --drop patient --nulls drop -o history.moments.json
    """
    check_out(out, [MOMENTS], force=force, why=", the suffix of moments")
    csv = csv_options(options.csv)
    features = None if options.features is None else names_in(options.features)
    drop, text = names_in(options.drop), names_in(options.text)
    with (
        running(quiet=as_json, written=(), kept=parts, lacks=("--strict",)) as cautions,
        paths_of(sources) as paths,
    ):
        from poolwise.tables.all_columns import Wanted
        from poolwise.tables.files import Files
        from poolwise.tables.moments_of import MomentsJob
        from poolwise.tables.parts import Parts

        import_pandas()
        job = MomentsJob(
            Files(paths, csv=csv),
            Wanted(features, drop, text, label, options.weights),
            nulls,
            out.name.removesuffix(MOMENTS),
            options.precision,
            options.jobs,
        )
        kept = None if parts is None else Parts(parts)
        found = job.run(kept)
        stop_if_interrupted()
        written, left_out = _save(found, out, min_rows=min_rows, force=force)
    is_resumed = kept is not None and kept.reused > 0
    if as_json:
        say_json("moments report", _result(written, left_out, cautions, is_resumed), cautions)
        return
    if is_resumed:
        typer.echo("Used files of moments of an earlier run.")
    for sentence in _sentences(written, left_out):
        typer.echo(harmless(sentence))


class Written(NamedTuple):
    """Moments of the rows that lack some columns, and their file."""

    path: Path
    lacks: Lacks
    moments: Moments


class NotShared(NamedTuple):
    """Rows whose moments were not written, and why."""

    lacks: Lacks
    rows: int
    why: str


def _save(
    found: Mapping[Lacks, Moments], out: Path, *, min_rows: int, force: bool
) -> tuple[list[Written], list[NotShared]]:
    """Write a file for each pattern of missing columns, without patterns of too few rows."""
    paths = _paths(out, list(found))
    if there := [path for path in paths.values() if path.exists() and not force]:
        from poolwise.moments.atomic_write import already_there

        raise already_there(there[0])
    written: list[Written] = []
    left_out: list[NotShared] = []
    error: TooFewToShare | None = None
    for lacks, moments in found.items():
        try:
            moments.save(paths[lacks], overwrite=force, min_rows=min_rows)
        except TooFewToShare as few:
            error = few
            left_out.append(NotShared(lacks, moments.rows, few.about["short"]))
        else:
            written.append(Written(paths[lacks], lacks, moments))
    if error is not None and not written:
        raise error
    return written, left_out


def _paths(out: Path, patterns: Sequence[Lacks]) -> dict[Lacks, Path]:
    """Return a file for each pattern; names are distinct even if case is ignored."""
    stem, taken = out.name.removesuffix(MOMENTS), set[str]()
    paths: dict[Lacks, Path] = {}
    for lacks in patterns:
        words = "_".join(re.sub(r"[^\w-]+", "-", name) for name in lacks)
        own = f".without_{words.encode()[:LONGEST].decode(errors='ignore')}" if lacks else ""
        more = next(k for k in range(1, len(patterns) + 1) if f"{own}{k}".lower() not in taken)
        taken.add(f"{own}{more}".lower())
        paths[lacks] = out.with_name(f"{stem}{own}{f'-{more}' if more > 1 else ''}{MOMENTS}")
    return paths


def _sentences(written: Sequence[Written], left_out: Sequence[NotShared]) -> list[str]:
    said = []
    for path, lacks, moments in written:
        without = f" without {', '.join(lacks)}" if lacks else ""
        rows, columns = plural(moments.rows, "row"), plural(len(moments.names), "column")
        said.append(
            f"{path}: {rows}{without}, {moments.precision} sums of {columns}: "
            f"{listed(moments.names)}."
        )
        if moments.rows < FEW * len(moments.names):
            said.append(
                f"  Moments of {rows} in {columns} may disclose single rows: check that you may "
                "share them."
            )
    for lacks, count, why in left_out:
        without = f"without {', '.join(lacks)}" if lacks else "with all columns"
        said.append(f"Left out: {plural(count, 'row')} {without} ({why}).")
    return said


def _result(
    written: Sequence[Written],
    left_out: Sequence[NotShared],
    cautions: Sequence[PoolwiseWarning],
    is_resumed: bool,
) -> dict[str, Any]:
    drops = [c.about for c in cautions if isinstance(c, LeftOut) and "dropped" in c.about]
    kept = sum(own.moments.rows for own in written) + sum(own.rows for own in left_out)
    dropped = sum(drop["dropped"] for drop in drops)
    return {
        "files": [
            {
                "path": str(path),
                "without": list(lacks),
                "rows": moments.rows,
                "weight": moments.weight,
                "precision": moments.precision,
                "columns": list(moments.names),
            }
            for path, lacks, moments in written
        ],
        "left_out": [
            {"without": list(lacks), "rows": rows, "why": why} for lacks, rows, why in left_out
        ],
        "rows": {
            "read": kept + dropped,
            "dropped": dropped,
            "missing": {name: count for drop in drops for name, count in drop["counts"].items()},
        },
        "resumed": is_resumed,
    }
