"""Our tables with the paper's marks beside the printed ones, in three formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from paper import agreement, datasets
from paper.agreement import NONE, Mark, Marks, marks_of, printed_marks, shown
from paper.challenge import PAPERS, Challenge
from paper.protocol import ordered, small_sizes
from paper.results import Errors, write_file
from paper.specs import Protocol, Sizes, TableSpec, read_statistics, read_toml
from poolwise._typing import AnyPath, Array

Numbers = Mapping[str, tuple[str, ...]]  # mean and standard deviation by method

CAPTIONS = read_toml("captions")
SIZES_HEAD = ("dataset", "n_total", "n_S", "n_T", "n_test", "d_T", "runs")


LATEX = {
    "\\": r"\textbackslash{}",
    "†": r"\textsuperscript{\textdagger}",
    "±": r"$\pm$",
    "–": "--",
    "<": "$<$",
    ">": "$>$",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}
TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=StrictUndefined,
    trim_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,  # each template escapes for its own format
)
TEMPLATES.filters |= {
    "html": escape,
    "latex": lambda text: "".join(LATEX.get(c, c) for c in text),
    "markdown": lambda text: "".join(f"\\{c}" if c in "\\*_|<" else c for c in text),
}


@dataclass(frozen=True)
class Cell:
    """Text with marks."""

    text: str
    underlined: bool = False
    italic: bool = False
    bold: frozenset[int] = frozenset()  # which of its words, counted from 0


@dataclass(frozen=True)
class GridLine:
    """One line of a grid; the first cell is its name."""

    cells: tuple[Cell, ...]
    aside: bool = False  # whether it belongs to the line above


@dataclass(frozen=True)
class Grid:
    """A table with a title above and notes below."""

    title: str
    head: tuple[str, ...]
    lines: tuple[GridLine, ...]
    notes: tuple[str, ...]

    def text(self, ending: str) -> str:
        """Return the table as Markdown (md), LaTeX (tex) or a page of its own (html)."""
        return TEMPLATES.get_template(f"table.{ending}").render(vars(self))

    def write(self, folder: Path, name: str) -> tuple[Path, ...]:
        """Write the three formats, and return the files."""
        folder.mkdir(parents=True, exist_ok=True)
        files = {ending: folder / f"{name}.{ending}" for ending in ("html", "md", "tex")}
        for ending, file in files.items():
            write_file(file, self.text(ending))
        return tuple(files.values())


def table_grid(spec: TableSpec, protocol: Protocol, errors: Errors) -> Grid:
    """Return a table: for each dataset a line of ours and a printed one."""
    names = list(dict.fromkeys(m for by_method in errors.values() for m in by_method))
    columns = [m for m in spec.methods if m in names] + [m for m in names if m not in spec.methods]
    lines = (line for d, found in errors.items() for line in _lines(spec, d, columns, found))
    other = agreement.other_marks(spec, errors)
    differing = [f"Marks that differ from the printed ones: {'; '.join(other)}."] if other else []
    return Grid(
        title=f"{spec.title} ({spec.where}, {protocol} protocol)",
        head=("dataset", *(_name(m) for m in columns)),
        lines=tuple(lines),
        notes=(str(agreement.agreement(spec, errors)), *differing, *CAPTIONS["table"]),
    )


def challenge_grid(challenge: Challenge) -> Grid:
    """Return a line for each cell, with lost comparisons in bold."""
    lines = []
    for duel in challenge.duels:
        best = f"{shown(duel.best_error)} {_name(duel.best)}"
        words = (
            f"{duel.table} {duel.dataset}",
            shown(duel.error),
            best,
            f"{duel.error / duel.best_error:.3f}",
        )
        judged = (_judged(duel.marks[m]) for m in (duel.best, *PAPERS))
        lines.append(GridLine((*map(Cell, words), *judged)))
    against = ("against it", *(f"against {_name(m)}" for m in PAPERS))
    return Grid(
        title=f"{challenge.method} against the published methods: test RMSE",
        head=("cell", challenge.method, "best published", "ratio", *against),
        lines=tuple(lines),
        notes=(*str(challenge).splitlines(), CAPTIONS["challenge"]),
    )


def count_sizes(data: AnyPath | None = None) -> dict[str, Sizes]:
    """Count rows and features of the nine datasets of the tables."""
    shapes = {d: ordered(datasets.load(d, data), "corrected").shape for d in read_statistics()}
    return {name: small_sizes(n, columns - 1) for name, (n, columns) in shapes.items()}


def statistics_grid(ours: Mapping[str, Sizes], printed: Mapping[str, Sizes]) -> Grid:
    """Return the dataset statistics, each followed by the printed number if that differs."""
    lines, same = [], []
    for name, sizes in ours.items():
        pairs = list(zip(sizes, printed[name], strict=True))
        numbers = (f"{a}" if a == b else f"{a} (printed {b})" for a, b in pairs)
        lines.append(GridLine(tuple(map(Cell, (name, *numbers)))))
        same += [a == b for a, b in pairs]
    notes = (f"Agree with the paper: {sum(same)} of {len(same)} numbers.", CAPTIONS["sizes"])
    return Grid("Dataset statistics (Table 1)", SIZES_HEAD, tuple(lines), notes)


def _judged(mark: Mark) -> Cell:
    text = {"better": "won", "worse": "lost", "none": "tied"}[mark]
    return Cell(text, bold=frozenset({0}) if mark == "worse" else frozenset())


def _lines(
    spec: TableSpec, dataset: str, columns: list[str], errors: Mapping[str, Array]
) -> list[GridLine]:
    """Return our line, the same by ranks where its marks differ, and the printed line."""
    ours = {m: tuple(map(shown, pair)) for m, pair in agreement.summaries(errors).items()}
    line = spec.published[dataset]
    printed = {m: (shown(line.means[m]), shown(line.sds[m])) for m in spec.methods}
    by_means, by_ranks = marks_of(errors, "means"), marks_of(errors, "ranks")
    lines = [_line(dataset, by_means, ours, columns, ours, aside=False)]
    if by_ranks != by_means:
        lines.append(_line("by ranks", by_ranks, ours, columns, ours, aside=True))
    return [*lines, _line("printed", printed_marks(line), printed, columns, ours, aside=True)]


def _line(
    name: str, marks: Marks, numbers: Numbers, columns: list[str], beside: Numbers, *, aside: bool
) -> GridLine:
    """Return a line of numbers with marks, bold where the line beside it has other numbers."""

    def cell(m: str) -> Cell:
        if m not in numbers:
            return Cell(NONE)
        (mean, sd), other = numbers[m], beside.get(m, numbers[m])
        differs = mean != other[0], False, sd != other[1] and other[1] != NONE  # mean, ±, deviation
        bold = frozenset(place for place, is_bold in enumerate(differs) if is_bold)
        return Cell(f"{mean} ± {sd}", m == marks.underlined, m == marks.italic, bold)

    return GridLine((Cell(name + marks.sign), *map(cell, columns)), aside)


def _name(method: str) -> str:
    return method.replace("_", "-") if method == "dsft_nl" else method
