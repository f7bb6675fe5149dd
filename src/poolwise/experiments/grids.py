"""Grids: a table of cells with marks, as Markdown, LaTeX and HTML."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

STYLE = """\
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .15rem .8rem; text-align: right; white-space: nowrap }
th:first-child { font-weight: inherit; text-align: left }
thead th, thead th:first-child { border-bottom: 1px solid; font-weight: bold }
tr.aside { color: #555 }
tr:not(.aside) > * { padding-top: .5rem }
div { overflow-x: auto }"""
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


@dataclass(frozen=True)
class Cell:
    """Text with marks.

    Parameters
    ----------
    text : str
        Plain text.
    underlined, italic : bool, default=False
        Marks of the whole text.
    bold : frozenset of int, default=frozenset()
        Which of its words are bold, counted from 0.
    """

    text: str
    underlined: bool = False
    italic: bool = False
    bold: frozenset[int] = frozenset()

    def marked(self, escaped: Callable[[str], str], underline: str, italic: str, bold: str) -> str:
        """Return the text, escaped, within its marks, each given as "before|after"."""
        words = [escaped(word) for word in self.text.split(" ")]
        text = " ".join(_within(bold, w) if k in self.bold else w for k, w in enumerate(words))
        text = _within(italic, text) if self.italic else text
        return _within(underline, text) if self.underlined else text


@dataclass(frozen=True)
class GridLine:
    """One line of a grid.

    Parameters
    ----------
    cells : tuple of Cell
        The first is the name of the line.
    aside : bool, default=False
        Whether it belongs to the line above.
    """

    cells: tuple[Cell, ...]
    aside: bool = False


@dataclass(frozen=True)
class Grid:
    """A table and what is to be said of it.

    Parameters
    ----------
    title : str
        Above it.
    head : tuple of str
        Names of the columns.
    lines : tuple of GridLine
        The table.
    notes : tuple of str
        Sentences below it.
    """

    title: str
    head: tuple[str, ...]
    lines: tuple[GridLine, ...]
    notes: tuple[str, ...]

    def formats(self) -> dict[str, str]:
        """Return the grid in each format, by the ending of its file."""
        return {"md": self.markdown(), "tex": self.latex(), "html": self.html()}

    def markdown(self) -> str:
        """Return a table of GitHub's Markdown."""

        def row(cells: list[str]) -> str:
            return f"| {' | '.join(cells)} |"

        head = [
            row([_markdown(h) for h in self.head]),
            row([":--"] + ["--:"] * (len(self.head) - 1)),
        ]
        body = [
            row([c.marked(_markdown, "<u>|</u>", "_|_", "**|**") for c in line.cells])
            for line in self.lines
        ]
        notes = [f"{_markdown(note)}\n" for note in self.notes]
        return "\n".join([f"## {_markdown(self.title)}", "", *head, *body, "", *notes])

    def latex(self) -> str:
        """Return a table environment that needs no package."""
        marks = ("\\underline{|}", "\\textit{|}", "\\textbf{|}")
        body = [
            " & ".join(c.marked(_latex, *marks) for c in line.cells) + r" \\" for line in self.lines
        ]
        return "\n".join(
            [
                r"\begin{table}[t]",
                rf"\caption{{{_latex(' '.join((f'{self.title}.', *self.notes)))}}}",
                r"\begin{center}",
                rf"\begin{{tabular}}{{{'l' * len(self.head)}}}",
                " & ".join(rf"\textbf{{{_latex(h)}}}" for h in self.head) + r" \\ \hline",
                *body,
                r"\end{tabular}",
                r"\end{center}",
                r"\end{table}",
                "",
            ]
        )

    def html(self) -> str:
        """Return a page that needs no other file."""
        head = "".join(f'<th scope="col">{escape(h)}</th>' for h in self.head)
        body = [
            f'<tr{aside}><th scope="row">{_html(name)}</th>'
            f"{''.join(f'<td>{_html(cell)}</td>' for cell in cells)}</tr>"
            for line in self.lines
            for name, *cells in [line.cells]
            for aside in [' class="aside"' if line.aside else ""]
        ]
        return "\n".join(
            [
                '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
                '<meta name="viewport" content="width=device-width">',
                f"<title>{escape(self.title)}</title>\n<style>\n{STYLE}\n</style>\n</head>",
                f"<body>\n<h1>{escape(self.title)}</h1>\n<div>\n<table>",
                f"<thead><tr>{head}</tr></thead>\n<tbody>",
                *body,
                "</tbody>\n</table>\n</div>",
                *(f"<p>{escape(note)}</p>" for note in self.notes),
                "</body>\n</html>\n",
            ]
        )


def _markdown(text: str) -> str:
    return "".join(f"\\{c}" if c in "\\*_|<" else c for c in text)


def _latex(text: str) -> str:
    return "".join(LATEX.get(c, c) for c in text)


def _html(cell: Cell) -> str:
    return cell.marked(escape, "<u>|</u>", "<i>|</i>", "<b>|</b>")


def _within(mark: str, text: str) -> str:
    before, after = mark.split("|")
    return f"{before}{text}{after}"
