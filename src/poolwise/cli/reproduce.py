"""poolwise reproduce: the tables and figures of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table

from poolwise.cli.messages import tell_left_out, told_plainly
from poolwise.experiments import airfare
from poolwise.experiments.reproduction import NAMES, Outcome, entry_of, missing_data, reproduce
from poolwise.experiments.verdict import Verdict, total

OUT = Path("reproduction")


def reproduce_papers_results(
    names: Annotated[
        list[str], typer.Argument(help="'list', 'all', or names that 'list' shows.", metavar="NAME")
    ],
    protocol: Annotated[
        Literal["published", "corrected"],
        typer.Option(help="The published solvers and columns, or Algorithm 1 as written."),
    ] = "published",
    methods: Annotated[
        list[str] | None,
        typer.Option(
            help="Methods of tables, further curves of figures, with commas between them: names of "
            "the paper (ols, dsft, dsft_nl, dp) or of poolwise.METHODS."
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes; numbers do not depend on it.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = OUT,
    runs: Annotated[
        int | None,
        typer.Option(
            min=1, help="At most so many runs or repetitions, in a folder of their own (-runsN)."
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder with the datasets; else POOLWISE_DATA, or download.")
    ] = None,
) -> None:
    """Compute tables and figures of the founding paper again, and hold them against it.

    What is finished is kept: after an interrupt the same command goes on where it was, and methods
    of earlier commands stay in a table.
    """
    console = Console(soft_wrap=True, highlight=False, markup=False)
    for word in ("list", "all"):
        if word in names and names != [word]:
            alone = f"'{word}' is about every name: give it alone."
            raise typer.BadParameter(alone, param_hint="NAME")
    if names == ["list"]:
        with told_plainly(""):
            console.print(_listed(data))
        return
    chosen = list(NAMES) if names == ["all"] else list(dict.fromkeys(names))
    kept = f"Interrupted. What was finished is kept in {out}; the same command goes on from there."
    left_out: dict[str, list[str]] = {}  # names by the reason
    with told_plainly(kept), _added_up(console, protocol) as verdicts:
        for outcome in reproduce(
            chosen,
            protocol=protocol,
            methods=_split(methods) if methods else None,
            jobs=jobs,
            out=out,
            runs=runs,
            data=data,
        ):
            if outcome.left_out is not None:
                left_out.setdefault(str(outcome.left_out), []).append(outcome.name)
                continue
            _tell(console, outcome)
            if outcome.verdict is not None:
                verdicts.append(outcome.verdict)
    if left_out:
        tell_left_out(left_out)
        raise typer.Exit(1)


@contextmanager
def _added_up(console: Console, protocol: str) -> Iterator[list[Verdict]]:
    """Tell the verdict on all tables in the end, also where a later figure fails."""
    verdicts: list[Verdict] = []
    try:
        yield verdicts
    finally:
        if len(verdicts) > 1:
            console.print(
                f"{len(verdicts)} tables together, {protocol} protocol. {total(verdicts)}"
            )


def _split(methods: Sequence[str]) -> list[str]:
    """Return the names between commas; dsft-nl is what rendered tables call dsft_nl."""
    names = [m.strip() for given in methods for m in given.split(",")]
    return [m.replace("-", "_") for m in names if m]


def _tell(console: Console, outcome: Outcome) -> None:
    console.print(outcome.name)
    for sentence in outcome.says:
        console.print(f"  {sentence}")
    console.print(f"  Written: {', '.join(str(file) for file in outcome.files)}")


def _listed(data: Path | None) -> Table:
    table = Table("name", "in the paper", "what it shows", "data", box=None, pad_edge=False)
    for name in NAMES:
        entry = entry_of(name)
        missing = missing_data(name, data)
        state = "here" if entry.needs else "none needed"
        if missing:
            to_come = f"{len(missing)} of {len(entry.needs)} to download"
            state = "from a local file only" if airfare.NAME in missing else to_come
        table.add_row(name, entry.where, entry.title, state)
    return table
