"""The gain from history as more target rows arrive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from poolwise.errors import BadOption, TooFewRows
from poolwise.evaluation.future import Features, Future, Outcome, gain_range, outcome_of
from poolwise.evaluation.gain import gain_of_model
from poolwise.evaluation.risk import Findings, Shown, problem_of, solved
from poolwise.evaluation.verdict import HistoryEffect, Verdict, no_history, verdict
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.problem import Problem
from poolwise.methods import DEFAULT_METHOD
from poolwise.moments.progress import tracked
from poolwise.numerics.options import check_number, check_seed
from poolwise.wording import paragraph, text_table

DOUBLINGS = 12  # of today's rows, at most
FEWEST = 5  # target rows from which the spread of future rows can be estimated


@dataclass(frozen=True, repr=False)
class Plan(Findings):
    """The gain from history as more target rows arrive. Print it, or use its fields.

    All tuples have one entry for each number of rows.

    Parameters
    ----------
    rows : tuple of float
        Numbers of target rows, today's first.
    gain : tuple of float
        Expected fall of the squared error of a prediction thanks to history, as a share of the
        noise variance.
    gain_low, gain_high : tuple of float
        The range of the gain in eight of ten random futures.
    width : tuple of float
        Mean width of the 95 % interval of a new response, with history.
    width_alone : tuple of float
        The same without history.
    errors : mapping of str to tuple of float
        Standard error of each coefficient, as a share of today's.
    enough : float
        Gain below which history does not matter, as a share of the noise variance.
    stops_at : float or None
        Rows from which the gain is below ``enough``; None if it stays above.
    stops_low, stops_high : float or None
        The same for the range of the gain.
    draws : int
        Number of random futures.
    is_linear : bool
        Whether the model is linear; if not, the plan is about linear models of the same tables.
    today : HistoryEffect or None
        The expected effect of history with today's rows.
    sources : int
        Number of sources.
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
    is_linear: bool = True
    today: HistoryEffect | None = None
    sources: int = 0

    @property
    def verdict(self) -> Verdict:
        """Whether history is expected to help today, and until when."""
        if not self.sources:
            return no_history("There is no history, so there is no plan.")
        told = [self.outlook] if self.rows else []
        return verdict(self.today, reasons=told, is_linear=self.is_linear)

    @property
    def outlook(self) -> str:
        """The number of rows at which the expected gain is below the limit, in words."""
        if not self.rows:
            return "There is no plan without history or noise."
        limit = f"{100.0 * self.enough:.3g}% of the noise variance"
        now, last = self.rows[0], self.rows[-1]
        if self.stops_at is None:
            return (
                f"With {last:,.0f} recent rows, history is still expected to lower the squared "
                f"error by more than {limit}."
            )
        if round(self.stops_at) <= round(now):
            return (
                f"With today's {now:,.0f} recent rows, history is already expected to lower "
                f"the squared error by less than {limit}."
            )
        low = f"{self.stops_low:,.0f}" if self.stops_low is not None else f"{now:,.0f}"
        high = f"{self.stops_high:,.0f}" if self.stops_high is not None else f"over {last:,.0f}"
        about = float(f"{self.stops_at:.3g}")
        return (
            f"From about {about:,.0f} recent rows on ({low} to {high}), history is expected to "
            f"lower the squared error by less than {limit}."
        )

    def shown(self) -> Shown:
        """Return the verdict and the table."""
        table: Shown = [self.cells(), self.note] if self.rows else []
        return [self.verdict.text, *table]

    def __str__(self) -> str:
        told = paragraph(self.verdict.text)
        if not self.rows:
            return told
        return "\n".join([told, "", *text_table(*self.cells()), "", paragraph(self.note)])

    @property
    def note(self) -> str:
        """What a reader of the table should know."""
        other = "" if self.is_linear else "; the model itself is not linear"
        if self.today is not None and self.today.method != DEFAULT_METHOD:
            other = f", not {self.today.method}"
        about = f" The futures are fitted by {DEFAULT_METHOD}{other}." if other else ""
        if self.today is not None and self.today.scale:
            about += f" Gains and widths are of {self.today.scale}."
        return (
            f"Means over {self.draws} random futures: small differences between lines may be "
            f"chance, less so with more draws.{about}"
        )

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the table as it is printed: names of its columns, and its rows."""
        head = ["recent rows", "gain", "in most futures", "interval width", "without history"]
        gains = zip(self.gain, self.gain_low, self.gain_high, strict=True)
        cells = zip(self.rows, gains, self.width, self.width_alone, strict=True)
        return head, [
            [f"{n:,.0f}", f"{g:.2%}", f"{low:.1%} to {high:.1%}", f"{w:.4g}", f"{a:.4g}"]
            for n, (g, low, high), w, a in cells
        ]


def plan(
    problem: Any,
    rows: Sequence[float] | None = None,
    *,
    enough: float = 0.01,
    draws: int = 16,
    random_state: int = 0,
    progress: bool | None = None,
) -> Plan:
    r"""Estimate the gain from history and the width of intervals as more target rows arrive.

    New rows are drawn from the posterior of today and added to the target, and Bayes pooling is
    fitted with and without history; this is repeated ``draws`` times. Gain and width are averages
    for rows like the target's. For today's rows, the gain is ``poolwise.evaluation.gain``.

    Assumes that new rows have the distribution and the share of gaps of the target's rows, and the
    model of Bayes pooling. With few rows a plan is rough: it is as uncertain as the noise and the
    relation of new features to old ones are today.

    Parameters
    ----------
    problem : Problem or PooledRegressor
        Target and sources, or a fitted model that has them.
    rows : sequence of float, optional
        Numbers of target rows, not below today's. By default today's, twice as many, and so on
        until the gain is below ``enough``.
    enough : float, default=0.01
        Gain below which history does not matter, as a share of the noise variance.
    draws : int, default=16
        Number of random futures.
    random_state : int, default=0
        Seed of the draws.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal.

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
        raise BadOption.of("draws", draws, "a whole number, at least one")
    check_seed(random_state)
    weight = own.target.weight
    now = max(float(own.target.rows), weight)  # rows with gaps weigh less than one each
    if weight < FEWEST:
        few = "" if weight > 0.999 * now else f" that weigh {weight:.3g}, because of gaps"
        raise TooFewRows(
            f"plan needs at least {FEWEST} recent rows; there are {now:g}{few}.",
            "Collect more rows. diagnose says what history does today.",
            planned=now,
        )
    wanted = _wanted(rows, now)
    today, sources = solved(own), len(own.sources)
    if not own.sources or not today.noise:
        return Plan((), (), (), (), (), (), {}, enough, None, None, None, draws, sources=sources)
    features = Features.of(own)
    futures = [
        Future(own, today, features, (k + 0.5) / draws, [random_state, k]) for k in range(draws)
    ]
    jobs = ((n, future) for n in wanted for future in (futures if n > now else futures[:1]))
    seen: dict[float, list[Outcome]] = {}
    for n, future in tracked(jobs, len(wanted) * draws, "Planning", show=progress):
        outcomes = seen.setdefault(n, [])
        then = weight if n <= now else n * weight / now
        outcomes.append(outcome_of(own, future, then, features, today.noise))
        complete = n <= now or len(outcomes) == draws
        if rows is None and complete and gain_range(outcomes)[1] < enough:
            break
    expected, is_linear = gain_of_model(problem, today)
    return Plan(
        **_series(own, today, seen, enough),
        enough=enough,
        draws=draws,
        is_linear=is_linear,
        today=expected.effect(own.target.rows),
        sources=sources,
    )


def _series(
    problem: Problem, today: LinearFit, seen: dict[float, list[Outcome]], enough: float
) -> dict[str, Any]:
    """Return the means over futures, and where the gain falls below the limit."""
    rows, each = tuple(seen), list(seen.values())
    means = [fmean([o.gain for o in found]) for found in each]
    low, high = zip(*map(gain_range, each), strict=True)
    assert today.covariance is not None
    now = np.sqrt(np.maximum(today.covariance.diagonal()[1:], 0.0))
    mean = np.array([np.mean([o.errors for o in found], axis=0) for found in each])
    shares = np.divide(mean, now, out=np.ones_like(mean), where=now > 0.0).T
    stops = [_crossing(rows, gains, enough) for gains in (low, means, high)]
    return {
        "rows": rows,
        "gain": tuple(means),
        "gain_low": low,
        "gain_high": high,
        "width": tuple(fmean([o.width for o in found]) for found in each),
        "width_alone": tuple(fmean([o.width_alone for o in found]) for found in each),
        "errors": {n: tuple(s.tolist()) for n, s in zip(problem.features, shares, strict=True)},
        "stops_at": stops[1],
        "stops_low": _least(stops[:2]),  # a mean may be beyond most futures
        "stops_high": None if None in stops[1:] else max(s for s in stops[1:] if s),
    }


def _least(stops: Sequence[float | None]) -> float | None:
    return min((s for s in stops if s is not None), default=None)


def _wanted(rows: Sequence[float] | None, now: float) -> list[float]:
    if rows is None:
        return [now * 2.0**k for k in range(DOUBLINGS + 1)]
    given = np.unique(np.asarray(rows, dtype=np.float64))
    if not len(given) or not np.isfinite(given).all() or given[0] < now:
        raise BadOption.of("rows", rows, f"numbers of recent rows, at least the {now:g} of today")
    return [now, *(n for n in given.tolist() if n > now)]


def _crossing(rows: Sequence[float], gain: Sequence[float], enough: float) -> float | None:
    """Return the rows from which the gain stays below ``enough``, by interpolation."""
    above = [k for k, g in enumerate(gain) if g >= enough]
    if not above:
        return rows[0]
    if (k := above[-1]) == len(rows) - 1:
        return None
    # Interpolate on a log-log scale: a gain falls like a power of the rows.
    later = max(gain[k + 1], 1e-3 * enough)
    share = np.log(gain[k] / enough) / np.log(gain[k] / later)
    return float(rows[k] * (rows[k + 1] / rows[k]) ** share)
