"""Rendering: our table with the paper's marks, the printed numbers beside ours, and a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from poolwise.double_double import Array
from poolwise.experiments.challenge import PAPERS, Challenge
from poolwise.experiments.dataset_statistics import HEAD, Statistics
from poolwise.experiments.grids import Cell, Grid, GridLine
from poolwise.experiments.marks import Mark, Marks, marks_of, printed_marks
from poolwise.experiments.runs import Errors, read_runs
from poolwise.experiments.specs import STATISTICS, Protocol, TableSpec
from poolwise.experiments.verdict import NONE, Verdict, other_marks, shown, summaries, verdict
from poolwise.experiments.whole_files import replace_file

LEGEND = (
    "Mean ± standard deviation over runs of the root mean squared error on test rows. "
    "ols: the target alone; dsft and dsft-nl: feature transfer, linear and by kernel; "
    "dp: data pooling. Lines 'printed' hold the paper's numbers, bold where they differ from ours.",
    "After a name: * no significant difference between dp and ols, † ols significantly better; "
    "without a sign dp is; ? dp or ols was not run. Underlined: the significantly better one of dp "
    "and dsft-nl. Italic: the significantly better one of dp and dsft.",
    "Significant: two-sided Wilcoxon signed-rank test, p < 0.05 / 3; which is better is read from "
    "the means, as in the paper. A line 'by ranks' has the marks by ranks where these differ; "
    "elsewhere they are the same.",
    "The paper: Silvestrin, van Zanten, Hoogendoorn, Koole, Transfer Learning Across Datasets with "
    "Different Input Dimensions, arXiv 2202.05069.",
)
CHALLENGE = (
    "Won and lost: two-sided Wilcoxon signed-rank test over the runs at 0.05 / 3, directed by the "
    "ranks. The best published method of a cell is the one of smallest mean error."
)
SIZES = (
    "Rows in all (n_total); in the small data setup rows of the source (n_S), of each target (n_T) "
    "and of the test set (n_test), and runs; features of the target (d_T)."
)


def write_table(spec: TableSpec, protocol: Protocol, folder: Path) -> Verdict:
    """Render the runs in a folder next to them, in three formats, and return the verdict.

    Parameters
    ----------
    spec : TableSpec
        Which table.
    protocol : {"published", "corrected"}
        How the runs were made.
    folder : path
        Where ``runs.csv`` is.
    """
    errors = read_runs(folder)
    write_grid(table_grid(spec, protocol, errors), folder, spec.name)
    return verdict(spec, errors)


def write_grid(grid: Grid, folder: Path, name: str) -> None:
    """Write a grid in three formats.

    Parameters
    ----------
    grid : Grid
        What to write.
    folder : path
        Where.
    name : str
        Name of the files without their endings.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for ending, text in grid.formats().items():
        replace_file(folder / f"{name}.{ending}", text)


def table_grid(spec: TableSpec, protocol: Protocol, errors: Errors) -> Grid:
    """Return a table: for each dataset a line of ours and a printed one.

    Parameters
    ----------
    spec : TableSpec
        Which table.
    protocol : {"published", "corrected"}
        How the runs were made.
    errors : mapping
        Errors by dataset and method, as ``read_runs`` gives them.
    """
    names = list(dict.fromkeys(m for by_method in errors.values() for m in by_method))
    columns = [m for m in spec.methods if m in names] + [m for m in names if m not in spec.methods]
    lines = [
        line for d, by_method in errors.items() for line in _lines(spec, d, columns, by_method)
    ]
    other = other_marks(spec, errors)
    differing = [f"Marks that differ from the printed ones: {'; '.join(other)}."] if other else []
    return Grid(
        title=f"{spec.title} ({spec.where}, {protocol} protocol)",
        head=("dataset", *(_name(m) for m in columns)),
        lines=tuple(lines),
        notes=(str(verdict(spec, errors)), *differing, *LEGEND),
    )


def write_challenge(challenge: Challenge, folder: Path) -> None:
    """Render a challenge in three formats.

    Parameters
    ----------
    challenge : Challenge
        A method against the published ones.
    folder : path
        Where.
    """
    write_grid(challenge_grid(challenge), folder, challenge.method)


def challenge_grid(challenge: Challenge) -> Grid:
    """Return a line for each cell, with what is lost in bold.

    Parameters
    ----------
    challenge : Challenge
        A method against the published ones.
    """
    lines = [
        GridLine(
            (
                Cell(f"{duel.table} {duel.dataset}"),
                Cell(shown(duel.error)),
                Cell(f"{shown(duel.best_error)} {_name(duel.best)}"),
                Cell(f"{duel.ratio:.3f}"),
                *(_judged(duel.marks[m]) for m in (duel.best, *PAPERS)),
            )
        )
        for duel in challenge.duels
    ]
    return Grid(
        title=f"{challenge.method} against the published methods: test RMSE",
        head=(
            "cell",
            challenge.method,
            "best published",
            "ratio",
            "against it",
            *(f"against {_name(m)}" for m in PAPERS),
        ),
        lines=tuple(lines),
        notes=(*str(challenge).splitlines(), CHALLENGE),
    )


def _judged(mark: Mark) -> Cell:
    text = {"better": "won", "worse": "lost", "none": "tied"}[mark]
    return Cell(text, bold=frozenset({0}) if mark == "worse" else frozenset())


def statistics_grid(statistics: Statistics) -> Grid:
    """Return the dataset statistics.

    Parameters
    ----------
    statistics : Statistics
        As ``count`` gives them.
    """
    lines = tuple(GridLine(tuple(map(Cell, row))) for row in statistics.rows())
    return Grid("Dataset statistics (Table 1)", HEAD, lines, (statistics.verdict, SIZES))


def write_statistics(statistics: Statistics, folder: Path) -> str:
    """Render the dataset statistics in three formats, and return the verdict.

    Parameters
    ----------
    statistics : Statistics
        As ``count`` gives them.
    folder : path
        Where.
    """
    write_grid(statistics_grid(statistics), folder, STATISTICS)
    return statistics.verdict


def _lines(
    spec: TableSpec, dataset: str, columns: list[str], errors: Mapping[str, Array]
) -> list[GridLine]:
    """Return our line, the same by ranks where its marks differ, and the printed line."""
    ours = {m: tuple(map(shown, pair)) for m, pair in summaries(errors).items()}
    line = spec.published[dataset]
    printed = {m: (shown(line.means[m]), shown(line.sds[m])) for m in spec.methods}
    by_means, by_ranks = marks_of(errors, "means"), marks_of(errors, "ranks")
    lines = [_line(dataset, by_means, ours, columns)]
    if by_ranks != by_means:
        lines.append(_line("by ranks", by_ranks, ours, columns, aside=True))
    theirs = _line("printed", printed_marks(line), printed, columns, aside=True, beside=ours)
    return [*lines, theirs]


def _line(
    name: str,
    marks: Marks,
    numbers: Mapping[str, tuple[str, ...]],
    columns: list[str],
    *,
    aside: bool = False,
    beside: Mapping[str, tuple[str, ...]] | None = None,
) -> GridLine:
    """Return a line of numbers with marks, bold where the line beside it has other numbers."""

    def cell(m: str) -> Cell:
        if m not in numbers:
            return Cell(NONE)
        mean, sd = numbers[m]
        other = (beside or {}).get(m, numbers[m])
        # Words of the text: mean, ±, deviation.
        differs = {0: mean != other[0], 2: sd != other[1] and other[1] != NONE}
        bold = frozenset(place for place, is_bold in differs.items() if is_bold)
        return Cell(f"{mean} ± {sd}", m == marks.underlined, m == marks.italic, bold)

    return GridLine((Cell(name + marks.sign), *map(cell, columns)), aside)


def _name(method: str) -> str:
    return method.replace("_", "-") if method == "dsft_nl" else method
