"""poolwise moments: the moments of files, in a file that may leave the house."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Literal

import typer

from poolwise.cli.arguments import check_out, names_in, words_in
from poolwise.cli.given import MOMENTS
from poolwise.cli.interrupts import import_pandas, stop_if_interrupted
from poolwise.cli.messages import Refused, tell, told_plainly
from poolwise.cli.recent import paths_of
from poolwise.cli.wording import as_typed
from poolwise.errors import TooFewToShare, TransferWarning


def take_moments(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="Files, patterns or folders; together one table. - is standard input, as CSV.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help=f"The file to write; its name ends in {MOMENTS}.")
    ],
    label: Annotated[
        str | None, typer.Option(help="The column that is the response in a model.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            "--features",
            metavar="NAME,...",
            help="Columns to take, beside the label; else all.",
        ),
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="NAME,...", help="Columns to leave out.")
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,...", help="Columns of CSV that are text, such as codes."),
    ] = None,
    weights: Annotated[str | None, typer.Option(help="The column of row weights.")] = None,
    nulls: Annotated[
        Literal["raise", "drop", "split"],
        typer.Option(
            help="A missing value is an error; or its row is left out and counted; or rows that "
            "lack the same columns get a file of their own."
        ),
    ] = "raise",
    precision: Annotated[
        Literal["auto", "fast", "accurate", "exact"], typer.Option(help="Digits of the sums.")
    ] = "auto",
    min_rows: Annotated[
        int, typer.Option(min=0, help="Write no moments of fewer rows, or of smaller groups.")
    ] = 20,
    csv_words: Annotated[
        list[str] | None,
        typer.Option("--csv", metavar="KEY=VALUE", help="How CSV is written: 'delimiter=;'."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Threads; numbers do not depend on it.")] = 1,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Where to keep what was read so far.", show_default="OUT.part"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Say in JSON what was done.")] = False,
) -> None:
    """Write the moments of files: what a house may hand over when its rows must stay.

    After a kill or an interrupt, the same command goes on from where it was.

    For example:

    poolwise moments clinic_b.csv --label y -o clinic_b.moments.json

    poolwise moments "history/*.parquet" --drop patient --nulls drop -o history.moments.json
    """
    check_out(out, [MOMENTS], force=force, why=", by which it is known as moments")
    from poolwise.cli.moments_report import MomentsReport
    from poolwise.moments_job import MomentsJob
    from poolwise.tables.checkpoint import Checkpoint
    from poolwise.tables.every_column import Wanted
    from poolwise.tables.files import Files

    words = words_in(csv_words)
    own = None if columns is None else names_in(columns)
    wanted = Wanted(own, names_in(drop), names_in(text), label, weights)
    part = checkpoint or Path(f"{out}.part")
    with told_plainly(lambda: _interrupted(part)), paths_of(sources) as paths:
        import_pandas()
        files = Files(paths, csv=words)
        job = MomentsJob(files, wanted, nulls, out.name.removesuffix(MOMENTS), precision, jobs)
        kept = Checkpoint(part)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always", TransferWarning)
            found = job.run(kept)
        cautions = [w.message for w in seen if isinstance(w.message, TransferWarning)]
        report = MomentsReport(cautions, is_resumed=kept.is_resumed)
        stop_if_interrupted()
        try:
            report.save(found, out, min_rows=min_rows, force=force)
        except TooFewToShare as error:
            message = as_typed(str(error)) + _if_kept(part)
            tell(f"TooFewToShare: {message}")
            raise Refused("TooFewToShare", message, 1) from None
        kept.remove()
    report.tell(as_json=as_json)


def _interrupted(part: Path) -> str:
    return f"Interrupted. Nothing was written.{_if_kept(part)}"


def _if_kept(part: Path) -> str:
    kept = f" What was read is kept in {part}: the same command goes on from there."
    return kept if part.exists() else ""
