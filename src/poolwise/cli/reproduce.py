"""poolwise reproduce: the tables and figures of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console

from poolwise.cli.arguments import AsJson
from poolwise.cli.messages import tell_left_out, told_plainly
from poolwise.cli.screen import say_json, show_table

if TYPE_CHECKING:
    from poolwise.experiments.outcomes import Outcome
    from poolwise.experiments.verdict import Verdict

FORMAT, VERSION = "poolwise reproduction", 1
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
            metavar="NAME,...",
            help="Methods of tables, further curves of figures, with commas between them: names of "
            "the paper (ols, dsft, dsft_nl, dp) or of poolwise.METHODS.",
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
    as_json: AsJson = False,
) -> None:
    """Compute tables and figures of the founding paper again, and hold them against it.

    What is finished is kept: after an interrupt the same command goes on where it was, and methods
    of earlier commands stay in a table.

    For example:

    poolwise reproduce list

    poolwise reproduce small5 --jobs 2
    """
    for word in ("list", "all"):
        if word in names and names != [word]:
            alone = f"'{word}' is about every name: give it alone."
            raise typer.BadParameter(alone, param_hint="NAME")
    console = Console(soft_wrap=True, highlight=False, markup=False)
    if names == ["list"]:
        with told_plainly("Interrupted."):
            lines = _entries(data)
        if as_json:
            say_json({"format": f"{FORMAT} list", "version": VERSION, "results": lines})
        else:
            _show(lines)
        return
    from poolwise.experiments.reproduction import NAMES, reproduce

    chosen = list(NAMES) if names == ["all"] else list(dict.fromkeys(names))
    kept = f"Interrupted. What was finished is kept in {out}; the same command goes on from there."
    left_out: dict[str, list[str]] = {}  # names by the reason
    done: list[Outcome] = []
    with told_plainly(kept), _added_up(console, protocol, quiet=as_json) as verdicts:
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
            done.append(outcome)
            if not as_json:
                _tell(console, outcome)
            if outcome.verdict is not None:
                verdicts.append(outcome.verdict)
    if as_json:
        say_json(_as_dict(protocol, done, left_out))
    if left_out:
        tell_left_out({} if as_json else left_out)
        raise typer.Exit(1)


@contextmanager
def _added_up(console: Console, protocol: str, *, quiet: bool) -> Iterator[list[Verdict]]:
    """Tell the verdict on all tables in the end, also where a later figure fails."""
    verdicts: list[Verdict] = []
    try:
        yield verdicts
    finally:
        if len(verdicts) > 1 and not quiet:
            from poolwise.experiments.verdict import total

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


def _as_dict(
    protocol: str, done: Sequence[Outcome], left_out: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "protocol": protocol,
        "results": [
            {"name": x.name, "says": list(x.says), "files": [str(file) for file in x.files]}
            for x in done
        ],
        "left_out": [{"name": n, "why": why} for why, names in left_out.items() for n in names],
    }


def _entries(data: Path | None) -> list[dict[str, Any]]:
    """Return what there is to reproduce, and which data it lacks."""
    from poolwise.experiments.reproduction import NAMES, entry_of, missing_data

    return [
        {
            "name": name,
            "where": entry_of(name).where,
            "title": entry_of(name).title,
            "needs": list(entry_of(name).needs),
            "missing": list(missing_data(name, data)),
        }
        for name in NAMES
    ]


def _show(lines: Sequence[Mapping[str, Any]]) -> None:
    """Print a line for each result; in a narrow window, names stay whole."""
    from poolwise.experiments import airfare

    rows = []
    for line in lines:
        state = "here" if line["needs"] else "none needed"
        if missing := line["missing"]:
            to_come = f"{len(missing)} of {len(line['needs'])} to download"
            state = "from a local file only" if airfare.NAME in missing else to_come
        rows.append([line["name"], line["where"], line["title"], state])
    show_table(["name", "in the paper", "what it shows", "data"], rows)
