"""Second reading: when tables that are good enough one by one are too poor together."""

from __future__ import annotations

from poolwise.least_squares import rounding_error
from poolwise.moments import Moments
from poolwise.precision import PRECISIONS, Kept, chosen, needed
from poolwise.problem import Problem
from poolwise.tables.patterns import Pattern


def digits_needed(problem: Problem) -> Kept:
    """Say how well all tables must be read, given that each by itself is read well enough.

    All of them together may have columns that nearly depend on each other though none has; and
    where one had to be exact, so must the others, since a sum has the digits of its poorest part.
    """
    tables = (problem.target, *problem.sources.values())
    if any(table.precision == "exact" for table in tables):
        return "exact"
    lacking = len(problem.features) - len(problem.seen_by_all())
    if not problem.sources or problem.target.rows <= lacking + 1:  # too few: no digits would help
        return "fast"
    pool = problem.target
    for source in problem.sources.values():
        pool += problem.filled(source)
    return needed(rounding_error(pool.scatter if problem.intercept else pool.about_zero()))


def read_again(moments: Moments, rows: Pattern, better: Kept) -> Moments:
    """Read a table with more digits, exactly only where that is cheap."""
    if better == "exact" and chosen("auto", moments.rows, len(moments.names)) == "fast":
        better = "accurate"
    if PRECISIONS.index(moments.precision) < PRECISIONS.index(better):
        return rows.moments(better)
    return moments
