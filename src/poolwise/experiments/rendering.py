"""Rendering: our table with the paper's marks, the printed numbers beside ours, and a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from poolwise.double_double import Array
from poolwise.experiments.dataset_statistics import HEAD, Statistics
from poolwise.experiments.grids import Cell, Grid, Line
from poolwise.experiments.marks import Marks, marks_of, printed_marks
from poolwise.experiments.runs import Errors, read_runs
from poolwise.experiments.specs import STATISTICS, Protocol, TableSpec
from poolwise.experiments.verdict import Verdict, other_marks, shown, summaries, verdict
from poolwise.experiments.whole_files import replace_file

LEGEND = (
    "Mean ± standard deviation over runs of the root mean squared error on test rows. "
    "ols: the target alone; dsft and dsft-nl: feature transfer, linear and by kernel; "
    "dp: data pooling. Lines 'printed' hold the paper's numbers, bold where they differ from ours.",
    "After a name: * no significant difference between dp and ols, † ols significantly better; "
    "without a sign dp is. Underlined: the significantly better one of dp and dsft-nl. "
    "Italic: the significantly better one of dp and dsft. Our lines have marks where all four "
    "methods were run.",
    "Significant: two-sided Wilcoxon signed-rank test, p < 0.05 / 3; which is better is read from "
    "the means, as in the paper. A line 'by ranks' shows the marks where the ranks say otherwise.",
    "The paper: Silvestrin, van Zanten, Hoogendoorn, Koole, Transfer Learning Across Datasets with "
    "Different Input Dimensions, arXiv 2202.05069.",
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


def statistics_grid(statistics: Statistics) -> Grid:
    """Return the dataset statistics.

    Parameters
    ----------
    statistics : Statistics
        As ``count`` gives them.
    """
    lines = tuple(Line(tuple(map(Cell, row))) for row in statistics.rows())
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
) -> list[Line]:
    ours = {m: tuple(map(shown, pair)) for m, pair in summaries(errors).items()}
    line = spec.published[dataset]
    printed = {m: (shown(line.means[m]), shown(line.sds[m])) for m in spec.methods}
    by_means, by_ranks = marks_of(errors, "means"), marks_of(errors, "ranks")

    def cell(numbers: Mapping[str, tuple[str, ...]], method: str, marks: Marks | None) -> Cell:
        text = " ± ".join(numbers[method]) if method in numbers else "–"
        if marks is None:
            return Cell(text)
        return Cell(text, method == marks.underlined, method == marks.italic)

    def name(text: str, marks: Marks | None) -> Cell:
        return Cell(text + (marks.sign if marks else ""))

    lines = [Line((name(dataset, by_means), *(cell(ours, m, by_means) for m in columns)))]
    if by_ranks != by_means:
        cells = (name("by ranks", by_ranks), *(cell(ours, m, by_ranks) for m in columns))
        lines.append(Line(cells, aside=True))
    theirs = printed_marks(line)
    cells = (
        name("printed", theirs),
        *(
            Cell(c.text, c.underlined, c.italic, bold=m in printed and ours.get(m) != printed[m])
            for m in columns
            for c in [cell(printed, m, theirs)]
        ),
    )
    return [*lines, Line(cells, aside=True)]


def _name(method: str) -> str:
    return method.replace("_", "-") if method == "dsft_nl" else method
