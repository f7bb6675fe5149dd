"""Command line of the reproduction: ``python -m paper small5``, or ``make reproduce``."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from paper import datasets
from paper.agreement import total
from paper.errors import OutOfReach, PaperError
from paper.reproduction import NAMES, Outcome, entry_of, missing_data, reproduce
from poolwise.cli.screen import show_table

FORMAT, VERSION = "poolwise reproduction", 1

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command()
def main(
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
            help="Methods of tables, further curves of figures, separated by commas: names of "
            "the paper (ols, dsft, dsft_nl, dp) or of poolwise.METHODS.",
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes; numbers do not depend on it.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("reproduction"),
    runs: Annotated[
        int | None,
        typer.Option(
            min=1, help="At most this many runs or repetitions, in a folder of their own (-runsN)."
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder with the datasets; else POOLWISE_DATA, or download.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Recompute tables and figures of the founding paper, and compare them with it.

    Finished results are kept: after an interrupt the same command resumes, and methods of earlier
    commands stay in a table.

    For example:

    python -m paper list

    python -m paper small5 --jobs 2
    """
    for word in ("list", "all"):
        if word in names and names != [word]:
            alone = f"'{word}' stands for every name: use it alone."
            raise typer.BadParameter(alone, param_hint="NAME")
    kept = f"Interrupted. Finished results are kept in {out}; the same command continues."
    with _plain_errors("Interrupted." if names == ["list"] else kept):
        if names == ["list"]:
            _list(data, as_json=as_json)
            return
        outcomes = reproduce(
            list(NAMES) if names == ["all"] else list(dict.fromkeys(names)),
            protocol=protocol,
            methods=None if methods is None else _split(methods),
            jobs=jobs,
            out=out,
            runs=runs,
            data=data,
        )
        left_out = _show(outcomes, protocol, as_json=as_json)
    if left_out:
        raise typer.Exit(1)


def _show(outcomes: Iterable[Outcome], protocol: str, *, as_json: bool) -> bool:
    """Print each outcome; return whether something was left out."""
    left_out: dict[str, list[str]] = {}  # names by the reason
    done: list[Outcome] = []
    try:
        for outcome in outcomes:
            if outcome.left_out is not None:
                left_out.setdefault(str(outcome.left_out), []).append(outcome.name)
                continue
            done.append(outcome)
            written = f"Written: {', '.join(map(str, outcome.files))}"
            if not as_json:
                print("\n  ".join((outcome.name, *outcome.says, written)), flush=True)
    finally:  # also if a later figure fails
        tables = [outcome.agreement for outcome in done if outcome.agreement is not None]
        if len(tables) > 1 and not as_json:
            print(f"{len(tables)} tables together, {protocol} protocol. {total(tables)}")
    if as_json:
        results = [
            {"name": x.name, "says": list(x.says), "files": list(map(str, x.files))} for x in done
        ]
        missing = [{"name": n, "why": why} for why, those in left_out.items() for n in those]
        _print_json(FORMAT, protocol=protocol, results=results, left_out=missing)
    else:
        for reason, those in left_out.items():
            print(f"Left out: {', '.join(those)} ({reason})", file=sys.stderr)
    return bool(left_out)


def _list(data: Path | None, *, as_json: bool) -> None:
    """Show the tables and figures that can be reproduced, and which data is missing."""
    found = {name: (entry_of(name), missing_data(name, data)) for name in NAMES}
    if as_json:
        results = [{**vars(entry), "missing": missing} for entry, missing in found.values()]
        _print_json(f"{FORMAT} list", results=results)
        return
    rows = []
    for entry, missing in found.values():
        state = "here" if entry.needs else "none needed"
        if missing:
            to_come = f"{len(missing)} of {len(entry.needs)} to download"
            state = "from a local file only" if datasets.AIRFARE in missing else to_come
        rows.append([entry.name, entry.where, entry.title, state])
    show_table(["name", "in the paper", "what it shows", "data"], rows)


@contextmanager
def _plain_errors(interrupted: str) -> Iterator[None]:
    """End with one sentence after an error about input, or an interrupt."""
    try:
        yield
    except (PaperError, OSError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        raise typer.Exit(1 if isinstance(error, OutOfReach | OSError) else 2) from None
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print(interrupted, file=sys.stderr)
        raise typer.Exit(130) from None


def _split(methods: Sequence[str]) -> list[str]:
    """Return the names between commas; rendered tables write dsft-nl for dsft_nl."""
    names = ",".join(methods).replace("-", "_").split(",")
    return [name.strip() for name in names if name.strip()]


def _print_json(name: str, **found: Any) -> None:
    print(json.dumps({"format": name, "version": VERSION, **found}, indent=1))


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")  # for letters that the terminal lacks
    app(prog_name="python -m paper")
