"""Grids: a table of cells with marks, as Markdown, LaTeX and HTML."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

STYLE = """\
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .15rem .8rem; text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left }
thead th { border-bottom: 1px solid }
tr.aside { color: #666 }
tr:not(.aside) td { padding-top: .5rem }"""
LATEX = {
    "\\": r"\textbackslash{}",
    "†": r"\textsuperscript{\textdagger}",
    "±": r"$\pm$",
    "–": "--",
    "<": "$<$",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}


@dataclass(frozen=True)
class Cell:
    """Text with marks.

    Parameters
    ----------
    text : str
        Plain text.
    underlined, italic, bold : bool, default=False
        Its marks.
    """

    text: str
    underlined: bool = False
    italic: bool = False
    bold: bool = False

    def wrapped(self, text: str, underline: str, italic: str, bold: str) -> str:
        """Return escaped text within its marks, each given as "before|after"."""
        for wanted, mark in (
            (self.bold, bold),
            (self.italic, italic),
            (self.underlined, underline),
        ):
            before, after = mark.split("|")
            text = f"{before}{text}{after}" if wanted else text
        return text


@dataclass(frozen=True)
class Line:
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
    lines : tuple of Line
        The table.
    notes : tuple of str
        Sentences below it.
    """

    title: str
    head: tuple[str, ...]
    lines: tuple[Line, ...]
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
            row([c.wrapped(_markdown(c.text), "<u>|</u>", "_|_", "**|**") for c in line.cells])
            for line in self.lines
        ]
        notes = [f"{_markdown(note)}\n" for note in self.notes]
        return "\n".join([f"## {_markdown(self.title)}", "", *head, *body, "", *notes])

    def latex(self) -> str:
        """Return a table environment that needs no package."""
        marks = ("\\underline{|}", "\\textit{|}", "\\textbf{|}")
        body = [
            " & ".join(c.wrapped(_latex(c.text), *marks) for c in line.cells) + r" \\"
            for line in self.lines
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
        head = "".join(f"<th>{escape(h)}</th>" for h in self.head)
        body = [
            f"<tr{aside}>{''.join(f'<td>{_html(cell)}</td>' for cell in line.cells)}</tr>"
            for line in self.lines
            for aside in [' class="aside"' if line.aside else ""]
        ]
        return "\n".join(
            [
                '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
                f"<title>{escape(self.title)}</title>\n<style>\n{STYLE}\n</style>\n</head>",
                f"<body>\n<h1>{escape(self.title)}</h1>\n<table>",
                f"<thead><tr>{head}</tr></thead>\n<tbody>",
                *body,
                "</tbody>\n</table>",
                *(f"<p>{escape(note)}</p>" for note in self.notes),
                "</body>\n</html>\n",
            ]
        )


def _markdown(text: str) -> str:
    return "".join(f"\\{c}" if c in "\\*_|<" else c for c in text)


def _latex(text: str) -> str:
    return "".join(LATEX.get(c, c) for c in text)


def _html(cell: Cell) -> str:
    return cell.wrapped(escape(cell.text), "<u>|</u>", "<i>|</i>", "<b>|</b>")
