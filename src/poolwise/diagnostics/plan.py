"""Plan: what more target rows will bring, and when history stops mattering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np

from poolwise.diagnostics.future import Features, Future
from poolwise.diagnostics.outcome import Outcome, gain_range, outcome_of
from poolwise.diagnostics.risk import solved
from poolwise.diagnostics.subject import problem_of
from poolwise.errors import BadOption, TooFewRows
from poolwise.fit import LinearFit
from poolwise.options import check_number, check_seed
from poolwise.problem import Problem
from poolwise.progress import tracked
from poolwise.text_tables import paragraph, text_table

DOUBLINGS = 12  # of the rows of today, at most
FEWEST = 5  # target rows: fewer say nothing about the spread of those to come


@dataclass(frozen=True, repr=False)
class Plan:
    """What more target rows will bring, according to the model. Print it, or use its fields.

    All tuples have one entry for each number of rows.

    Parameters
    ----------
    rows : tuple of float
        Rows of the target, those of today first.
    gain : tuple of float
        Expected fall of the squared error of a prediction thanks to history, as a share of the
        noise variance.
    gain_low, gain_high : tuple of float
        The range in which eight out of ten drawn futures have it.
    width : tuple of float
        Mean width of the 95 % interval of a new response, with history.
    width_alone : tuple of float
        The same without history.
    errors : mapping of str to tuple of float
        Standard error of each coefficient, as a share of today's.
    enough : float
        Gain below which history does not matter, as a share of the noise variance.
    stops_at : float or None
        Rows from which the gain is below; None where it stays above, as far as was looked.
    stops_low, stops_high : float or None
        The same for the range of the gain.
    draws : int
        Number of drawn futures.
    has_trees : bool
        Whether the model has trees: the plan is about linear models of the same tables then, too.
    """

    rows: tuple[float, ...]
    gain: tuple[float, ...]
    gain_low: tuple[float, ...]
    gain_high: tuple[float, ...]
    width: tuple[float, ...]
    width_alone: tuple[float, ...]
    errors: dict[str, tuple[float, ...]]
    enough: float
    stops_at: float | None
    stops_low: float | None
    stops_high: float | None
    draws: int
    has_trees: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, numbers and strings."""
        return asdict(self)

    @property
    def answer(self) -> str:
        """Whether history will stop mattering, in a word that stays.

        One of stops, stopped (with today's rows), still_matters, nothing_to_plan.
        """
        if not self.rows:
            return "nothing_to_plan"
        if self.stops_at is None:
            return "still_matters"
        return "stopped" if self.stops_at <= self.rows[0] else "stops"

    @property
    def verdict(self) -> str:
        """When history stops mattering, in words."""
        if self.answer == "nothing_to_plan":
            return "Plan: there is nothing to plan, since there is no history or no noise."
        limit = f"its gain is below {self.enough:.0%} of the noise variance"
        now, last = self.rows[0], self.rows[-1]
        if self.stops_at is None:
            return f"History still matters with {last:,.0f} target rows, according to the model."
        if self.answer == "stopped":
            return f"History does not matter any more with {now:,.0f} target rows: {limit}."
        low = f"{self.stops_low:,.0f}" if self.stops_low is not None else f"{now:,.0f}"
        high = f"{self.stops_high:,.0f}" if self.stops_high is not None else f"over {last:,.0f}"
        return (
            f"History stops mattering at about {_round(self.stops_at):,.0f} target rows ({low} to "
            f"{high}): from there {limit}, according to the model."
        )

    def __str__(self) -> str:
        if not self.rows:
            return paragraph(self.verdict)
        parts = [paragraph(self.verdict), "", *text_table(*self.cells()), "", paragraph(self.note)]
        return "\n".join(parts)

    @property
    def note(self) -> str:
        """What a reader of the table should know."""
        of_lines = " This is about linear models of the same tables; the model itself has trees."
        return (
            f"Means over {self.draws} random futures: small differences between lines may be "
            f"chance, less so with more draws.{of_lines if self.has_trees else ''}"
        )

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the table as it is printed: names of its columns, and its rows."""
        head = ["target rows", "gain", "in most futures", "interval width", "without history"]
        cells = zip(
            self.rows,
            self.gain,
            self.gain_low,
            self.gain_high,
            self.width,
            self.width_alone,
            strict=True,
        )
        rows = [
            [f"{n:,.0f}", f"{g:.2%}", f"{low:.1%} to {high:.1%}", f"{w:.4g}", f"{a:.4g}"]
            for n, g, low, high, w, a in cells
        ]
        return head, rows

    def __repr__(self) -> str:
        return str(self)


def plan(
    problem: Any,
    rows: Sequence[float] | None = None,
    *,
    enough: float = 0.01,
    draws: int = 16,
    random_state: int = 0,
    progress: bool | None = None,
) -> Plan:
    r"""Say how gain and width of intervals change as more target rows arrive.

    New rows are drawn from the model as it is known today, added to the target, and Bayes pooling
    is fitted with and without history, several times over. Gain and width of the interval are those
    for rows like the target's, on average over the draws; for the rows of today, the gain is that
    of ``poolwise.diagnostics.gain``.

    Assumes that new rows come from where the target's rows came from, and all that Bayes pooling
    assumes. From few rows, a plan is rough: what it says about many is as uncertain as the noise
    and the relation of new features to old ones are today.

    Parameters
    ----------
    problem : Problem or PooledRegressor
        Target and sources, or a fitted model that has them.
    rows : sequence of float, optional
        Numbers of target rows to look at, not below that of today. Unless given: today's, twice as
        many, and so on until history has stopped mattering.
    enough : float, default=0.01
        Gain below which history does not matter, as a share of the noise variance.
    draws : int, default=16
        Number of futures that are drawn.
    random_state : int, default=0
        Seed of the draws.
    progress : bool, optional
        Whether to show a progress bar; unless given, on a terminal.

    Returns
    -------
    Plan
        Gain and width of intervals for each number of rows; it prints as a table.

    Examples
    --------
    >>> import numpy as np
    >>> from poolwise import PooledRegressor, plan
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(330, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.normal(size=330)
    >>> model = PooledRegressor().fit(X[300:], y[300:], sources=(X[:300, :2], y[:300]))
    >>> found = plan(model, rows=[30, 60])
    >>> found.gain[0] > found.gain[1]
    True
    """
    own = problem_of(problem)
    check_number("enough", enough, positive=True)
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 1:
        raise BadOption("draws", draws, "a whole number, one at least")
    check_seed(random_state)
    now = own.target.weight
    if now < FEWEST:
        raise TooFewRows("plan", now, FEWEST, "diagnose, which is about today")
    wanted = _wanted(rows, now)
    today = solved(own)
    if not own.sources or not today.noise:
        return _nothing(enough, draws)
    features = Features.of(own)
    futures = [
        Future(own, today, features, (k + 0.5) / draws, [random_state, k]) for k in range(draws)
    ]
    jobs = ((n, future) for n in wanted for future in (futures if n > now else futures[:1]))
    seen: dict[float, list[Outcome]] = {}
    for n, future in tracked(jobs, len(wanted) * draws, "Planning", show=progress):
        outcomes = seen.setdefault(n, [])
        outcomes.append(outcome_of(own, future, n, features, today.noise))
        complete = n <= now or len(outcomes) == draws
        if rows is None and complete and gain_range(outcomes)[1] < enough:
            break
    has_trees = getattr(problem, "derived_", None) is not None
    return replace(_plan(own, today, seen, enough, draws), has_trees=has_trees)


def _plan(
    problem: Problem,
    today: LinearFit,
    seen: dict[float, list[Outcome]],
    enough: float,
    draws: int,
) -> Plan:
    rows = tuple(seen)
    gain = [fmean([o.gain for o in found]) for found in seen.values()]
    low, high = zip(*(gain_range(found) for found in seen.values()), strict=True)
    assert today.covariance is not None
    now = np.sqrt(np.maximum(today.covariance.diagonal()[1:], 0.0))
    mean = np.array([np.mean([o.errors for o in found], axis=0) for found in seen.values()])
    shares = np.divide(mean, now, out=np.ones_like(mean), where=now > 0.0).T
    y = problem.response
    return Plan(
        rows=rows,
        gain=tuple(gain),
        gain_low=low,
        gain_high=high,
        width=tuple(problem.true(y, fmean([o.width for o in f])) for f in seen.values()),
        width_alone=tuple(
            problem.true(y, fmean([o.width_alone for o in f])) for f in seen.values()
        ),
        errors={n: tuple(s.tolist()) for n, s in zip(problem.features, shares, strict=True)},
        enough=enough,
        stops_at=_crossing(rows, gain, enough),
        stops_low=_crossing(rows, low, enough),
        stops_high=_crossing(rows, high, enough),
        draws=draws,
    )


def _nothing(enough: float, draws: int) -> Plan:
    return Plan((), (), (), (), (), (), {}, enough, None, None, None, draws)


def _wanted(rows: Sequence[float] | None, now: float) -> list[float]:
    if rows is None:
        return [now * 2.0**k for k in range(DOUBLINGS + 1)]
    given = np.unique(np.asarray(rows, dtype=np.float64))
    if not len(given) or not np.isfinite(given).all() or given[0] < now:
        raise BadOption("rows", rows, f"numbers of target rows, none below the {now:g} of today")
    return [now, *(n for n in given.tolist() if n > now)]


def _crossing(rows: Sequence[float], gain: Sequence[float], enough: float) -> float | None:
    """Return the rows from which the gain stays below, between the numbers looked at."""
    above = [k for k, g in enumerate(gain) if g >= enough]
    if not above:
        return rows[0]
    if (k := above[-1]) == len(rows) - 1:
        return None
    # A gain falls like a power of the rows; one that is not positive, like the rows themselves.
    later = max(gain[k + 1], 1e-3 * enough)
    share = np.log(gain[k] / enough) / np.log(gain[k] / later)
    return float(rows[k] * (rows[k + 1] / rows[k]) ** share)


def _round(rows: float) -> float:
    """Return a number of rows with two digits."""
    return float(f"{rows:.2g}")
