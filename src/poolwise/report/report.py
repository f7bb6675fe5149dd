"""Fit, comparison, diagnosis and plan of a model on one page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from poolwise._typing import AnyPath
from poolwise.errors import BadOption
from poolwise.evaluation.splitting import split_by
from poolwise.evaluation.verdict import Verdict
from poolwise.linear.problem import Method
from poolwise.methods import DEFAULT_METHOD
from poolwise.model.fitted_model import fit_kept, warn
from poolwise.model.regressor import PooledRegressor
from poolwise.moments.atomic_write import write
from poolwise.numerics.options import Precision, check_seed
from poolwise.report.contents import contents
from poolwise.report.html import page
from poolwise.report.provenance import GivenFiles, provenance
from poolwise.tables.encoding import MAX_LEVELS
from poolwise.wording import paragraph


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """The report of a model with history. Print it, save it, or use its data.

    Parameters
    ----------
    data : dict
        The contents of the page, as plain dicts, lists, numbers and strings.
    model : PooledRegressor
        The fitted model.
    """

    data: dict[str, Any]
    model: PooledRegressor

    @property
    def verdict(self) -> Verdict:
        """Whether history helps: measured where that was possible, else expected."""
        told = {k: v for k, v in self.data["verdict"].items() if k != "text"}
        return Verdict(**{**told, "sentences": tuple(told["sentences"])})

    def html(self) -> str:
        """Return one self-contained page: no script, and nothing to load."""
        return page(self.data)

    def json(self) -> str:
        """Return the data as JSON."""
        return json.dumps(self.data, indent=1, allow_nan=False) + "\n"

    def save(self, path: AnyPath, *, overwrite: bool = False) -> None:
        """Write the page, or the data where the name ends in ``.json``.

        The file is written completely or not at all.

        Parameters
        ----------
        path : str or path
            The file to write; its name ends in ``.html``, ``.htm`` or ``.json``.
        overwrite : bool, default=False
            Whether a file of that name may be replaced.
        """
        ending = Path(path).suffix.lower()
        if ending not in (".html", ".htm", ".json"):
            raise BadOption.of("path", str(path), "a name that ends in .html or .json")
        write(path, self.json() if ending == ".json" else self.html(), overwrite=overwrite)

    def __str__(self) -> str:
        return paragraph(self.verdict.text)

    def __repr__(self) -> str:
        return str(self)


def report(
    X: Any,
    y: Any,
    *,
    sources: Any = None,
    method: str | Method = DEFAULT_METHOD,
    sample_weight: Any = None,
    fit_intercept: bool = True,
    response: str = "y",
    response_transform: Any = None,
    max_levels: int = MAX_LEVELS,
    strict: bool = False,
    precision: Precision = "auto",
    methods: Any = None,
    cv: Any = None,
    groups: Any = None,
    time: Any = None,
    repeats: int | None = None,
    random_state: int = 0,
    title: str | None = None,
    files: GivenFiles | None = None,
    command: str | Sequence[str] | None = None,
    date: datetime | str | None = None,
    progress: bool | None = None,
) -> Report:
    """Fit a model and report on one page whether history helps.

    Collects the fit, :func:`poolwise.compare` on target rows, :func:`poolwise.diagnose` and
    :func:`poolwise.plan`; the tables are read once. The page begins with the verdict; its reasons
    follow.

    Parameters
    ----------
    X, y, sources, sample_weight, fit_intercept, response, response_transform, max_levels, strict
        As in :func:`poolwise.compare`.
    precision, cv, groups, time, repeats
        As in :func:`poolwise.compare`.
    method : str or object, default="bayes_pooling"
        Method of the model; see :class:`PooledRegressor`.
    methods : list or mapping, optional
        Methods to compare the model with on target rows, as in :func:`poolwise.compare`; by default
        all that are quick enough.
    random_state : int, default=0
        Seed of the folds and of the plan. The same data, seed and date give the same page.
    title : str, optional
        Title of the page.
    files : mapping or sequence of paths, optional
        The files of the tables, to be listed with sizes and checksums, if wanted by role:
        ``{"target": "recent.csv", "history": ["2019.csv", "2020.csv"]}``.
    command : str or sequence of str, optional
        The command that was typed, to be quoted.
    date : datetime or str, optional
        Date of the report; now by default.
    progress : bool, optional
        Whether to show progress bars; by default on a terminal.

    Returns
    -------
    Report
        The page, its data and the fitted model.

    Examples
    --------
    >>> import numpy as np
    >>> import poolwise
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(330, 3))
    >>> y = X @ [1.0, 2.0, 1.0] + rng.normal(size=330)
    >>> sources = {"last year": (X[:300, :2], y[:300])}
    >>> made = poolwise.report(X[300:], y[300:], sources=sources, methods=["data_pooling"])
    >>> made.verdict.level
    'probably_helps'
    """
    check_seed(random_state)
    came_from = provenance(
        files=files,
        command=command,
        date=date,
        options={"seed": random_state, "precision": precision, "intercept": fit_intercept},
        progress=progress,
    )
    model = PooledRegressor(
        method,
        fit_intercept=fit_intercept,
        response=response,
        response_transform=response_transform,
        max_levels=max_levels,
        strict=strict,
        precision=precision,
    )
    X, splitting, about_rows = split_by(X, groups=groups, time=time, cv=cv, repeats=repeats)
    warn(about_rows)  # before the tables are read, as in compare
    given = {"sources": sources, "target_name": "the recent rows"}
    intake, told = fit_kept(model, X, y, sample_weight=sample_weight, **given)
    warn(told)
    assert intake.account is not None  # the target came as rows
    account = replace(intake.account, notes=tuple(map(str, about_rows)))
    data = contents(
        model,
        replace(intake, account=account),
        (*about_rows, *told),
        came_from,
        title=title,
        methods=methods,
        splitting=splitting,
        random_state=random_state,
        progress=progress,
    )
    return Report(data, model)
