"""Right digits on the reference sets of NIST, side by side: ``python -m benchmarks.accuracy``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from benchmarks.ceiling import ceiling
from benchmarks.reference_sets import ReferenceSet, reference_sets
from benchmarks.report import versions
from benchmarks.solvers import OURS, PEERS, Solver, quietly

SOLVERS: dict[str, Solver] = {"ceiling": ceiling, **OURS, **PEERS}
JUDGED = ("auto", "accurate", "exact")
NEAR = 0.3  # digits that may be missing to the ceiling
FIRST = 10  # width of the names of the sets

PACKAGES = ("poolwise", "numpy", "scipy", "scikit-learn", "statsmodels")
NOTES = (
    "Digits: the smallest log relative error over the coefficients or standard errors of a set, "
    "at most 15. Data: NIST Statistical Reference Datasets, https://www.itl.nist.gov/div898/strd/",
    "ceiling: the exact solution (rational arithmetic) of the data as rounded to double, rounded "
    "once at the end. A solver above it is so by chance: its rounding cancels some of the data's.",
    "poolwise: its precisions, of which fast is here as information.",
    "numpy, scipy and scikit-learn give no standard errors. Theirs are made from their "
    "coefficients: the residual variance times inv(X'X).",
)


@dataclass(frozen=True)
class Line:
    """Digits of every solver in one kind of number of one set."""

    name: str
    digits: dict[str, float]

    @property
    def missed(self) -> list[str]:
        """Precisions of poolwise that are too far from the ceiling."""
        return [s for s in JUDGED if self.digits[s] < self.digits["ceiling"] - NEAR]


def main() -> int:
    """Print the tables; return 1 if a target is missed."""
    lines = measured(reference_sets())
    print(as_text(lines))
    return int(any(line.missed for part in lines.values() for line in part))


def measured(sets: Sequence[ReferenceSet]) -> dict[str, list[Line]]:
    """Return a line for each set, of coefficients and of standard errors."""
    lines: dict[str, list[Line]] = {"Coefficients": [], "Standard errors": []}
    for s in sets:
        X, y = s.as_doubles()
        digits = {
            name: quietly(solver, X, y, intercept=s.intercept).digits(s.certified)
            for name, solver in SOLVERS.items()
        }
        for k, part in enumerate(lines.values()):
            part.append(Line(s.name, {name: both[k] for name, both in digits.items()}))
    return lines


def as_text(lines: dict[str, list[Line]]) -> str:
    """Return both tables, and as the last line how many targets are met."""
    text = [versions(PACKAGES)]
    for title, part in lines.items():
        text += ["", f"{title}: right digits", ""]
        text += [*_headings(), *(_row(line.name, _cells(line)) for line in part)]
    text.append("")
    for note in NOTES:
        text += wrap(note, 100, subsequent_indent="  ")
    text.append("")
    missed = [
        f"MISSED: {title.lower()} of {line.name}, {solver}: {line.digits[solver]:.2f} digits, "
        f"the ceiling has {line.digits['ceiling']:.2f}"
        for title, part in lines.items()
        for line in part
        for solver in line.missed
    ]
    every = [line for part in lines.values() for line in part]
    met = sum(not line.missed for line in every)
    rule = f"Target of each line: {', '.join(JUDGED)} within {NEAR} digits of the ceiling."
    return "\n".join([*text, *missed, rule, f"Targets met: {met} of {len(every)}"])


def _headings() -> list[str]:
    names = list(SOLVERS)
    first, last = names.index(next(iter(OURS))), names.index(next(iter(PEERS)))
    before, within = (sum(map(_width, part)) for part in (names[:first], names[first:last]))
    above = " " * (FIRST + before + 3) + " poolwise ".center(within - 3, "-")
    return [above, _row("", names)]


def _cells(line: Line) -> list[str]:
    return [f"{line.digits[name]:.1f}" for name in SOLVERS]


def _row(first: str, cells: Sequence[str]) -> str:
    pairs = zip(SOLVERS, cells, strict=True)
    return first.ljust(FIRST) + "".join(cell.rjust(_width(name)) for name, cell in pairs)


def _width(name: str) -> int:
    return max(len(name), 6) + 3


if __name__ == "__main__":
    sys.exit(main())
