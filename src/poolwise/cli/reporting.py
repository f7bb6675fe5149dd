"""Reporting: the report of tables that were given, for the verbs that write one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from poolwise.cli.given import Given
from poolwise.cli.seeded import seeded

if TYPE_CHECKING:
    from poolwise.precision import Precision
    from poolwise.report import Report

PAGES = (".html", ".htm", ".json")


def report_on(
    given: Given,
    *,
    method: str,
    precision: Precision,
    seed: int,
    folds: int | None = None,
    title: str | None = None,
) -> Report:
    """Fit, compare and diagnose; say from which files and by which command.

    Parameters
    ----------
    given : Given
        The tables.
    method, precision, seed, folds, title
        As in :func:`poolwise.report`, where they are ``random_state`` and ``cv``.
    """
    from poolwise.report import report

    return report(
        given.X,
        given.y,
        sources=given.sources,
        sample_weight=given.weights,
        method=seeded(method, seed),
        response=given.account.response,
        precision=precision,
        cv=folds,
        random_state=seed,
        title=title,
        files=given.files,
        command=["poolwise", *sys.argv[1:]],
    )
