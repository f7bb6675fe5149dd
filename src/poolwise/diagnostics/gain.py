"""Gain: how much better predictions for target rows are, thanks to the sources."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from scipy.special import stdtr

from poolwise.diagnostics.risk import Risk, solved, without_sources
from poolwise.diagnostics.subject import problem_of
from poolwise.fit import LinearFit
from poolwise.fit.powers_of_two import held
from poolwise.problem import Problem
from poolwise.text_tables import text_table

SURE = 0.95  # probability that is called clear


@dataclass(frozen=True)
class GainLine:
    """The gain of one fit over another.

    Parameters
    ----------
    fit, over : str
        What is compared: a fit with history, and one without.
    gain : float or None
        Expected fall of the squared error of a prediction, in squared units of the response; None
        where no double can hold it.
    relative : float
        The same, as a share of the noise variance.
    low, high : float
        Ends of its 95 % interval, as shares of the noise variance.
    probability : float
        That the fit with history is the better one.
    error_without, error_with : float
        Expected squared error of a prediction for a new response, as multiples of the noise
        variance: one is the least that is possible.
    """

    fit: str
    over: str
    gain: float | None
    relative: float
    low: float
    high: float
    probability: float
    error_without: float
    error_with: float

    @property
    def fall(self) -> float:
        """Share by which the root mean squared error of predictions falls."""
        return 1.0 - math.sqrt(self.error_with / self.error_without)


@dataclass(frozen=True, repr=False)
class Gain:
    """What history is worth, according to the model of Bayes pooling. Print it, or use its fields.

    Parameters
    ----------
    lines : tuple of GainLine
        Over the target alone by the same method; over least squares on the target, where the
        target determines it; and of another fit, if one was given.
    """

    lines: tuple[GainLine, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, numbers and strings."""
        return asdict(self)

    def __str__(self) -> str:
        if not self.lines:
            return "Gain: none, since there is no history or no noise."
        title = (
            "Gain, model-based: expected fall of the squared error at the target's rows "
            "(as a share of the noise variance)"
        )
        head = ["with", "gain", "95% interval", "probably better", "RMSE", "against"]
        rows = [
            [
                x.fit,
                f"{x.relative:.2g}",
                f"{x.low:.2g} to {x.high:.2g}",
                f"{x.probability:.0%}",
                f"{-x.fall:+.1%}",
                x.over,
            ]
            for x in self.lines
        ]
        return "\n".join([title, *text_table(head, rows)])

    def __repr__(self) -> str:
        return str(self)


def gain(
    problem: Problem,
    fit: LinearFit | None = None,
    *,
    posterior: LinearFit | None = None,
    name: str = "this fit",
) -> Gain:
    r"""Return the expected transfer gain, with its uncertainty.

    The gain of a fit is the squared error of predictions without history, less that with it,
    averaged over the target's own rows. It depends on coefficients that nobody knows; their
    posterior by Bayes pooling gives its mean and its standard deviation,

    .. math:: \lVert a - \hat\theta\rVert_D^2 - \lVert b - \hat\theta\rVert_D^2, \qquad
       2 \sqrt{(a - b)^\top D C D (a - b)},

    see ``poolwise.diagnostics.risk``. For Bayes pooling itself, :math:`b = \hat\theta`, the mean is
    never negative: a method that weighs history by the evidence expects no harm from it. What can
    go wrong is in the interval, and in what the model assumes: linearity, independent rows, a
    target like the rows that will be predicted. It is no measurement; ``compare`` measures.
    On new rows, the gain is larger where the target has hardly more rows than features: least
    squares is at its worst away from its rows.

    Parameters
    ----------
    problem : Problem or fitted regressor
        Target and sources.
    fit : LinearFit, optional
        A fit of this problem by any method, to be judged beside Bayes pooling.
    posterior : LinearFit, optional
        Of Bayes pooling, if it is known already.
    name : str, default="this fit"
        What to call ``fit``.

    Returns
    -------
    Gain
        Of Bayes pooling and, where one is given, of the fit; it prints as a table.
    """
    problem = problem_of(problem)
    risk = Risk.of(problem, posterior)
    if not problem.sources or not risk.noise:
        return Gain(())
    alone = without_sources(problem)
    bases = {"the target alone": solved(alone)}
    least_squares = problem.target_fit
    if least_squares.noise is not None and not least_squares.cautions:
        bases["least squares on the target"] = least_squares
    lines = [_line(problem, risk, "history", risk.posterior, n, base) for n, base in bases.items()]
    if fit is not None:
        over, base = list(bases.items())[-1]
        lines.append(_line(problem, risk, name, fit, over, base))
    return Gain(tuple(lines))


def _line(
    problem: Problem, risk: Risk, name: str, fit: LinearFit, over: str, base: LinearFit
) -> GainLine:
    mean, deviation = risk.gain(fit, base)
    wide, noise = risk.half_width(deviation), risk.noise
    unit = problem.units.get(problem.response, 0)
    return GainLine(
        fit=name,
        over=over,
        gain=held(mean, 2 * unit),
        relative=mean / noise,
        low=(mean - wide) / noise,
        high=(mean + wide) / noise,
        probability=_above_zero(mean, deviation, risk.posterior.tails.freedom),
        error_without=1.0 + (risk.own + risk.distance(base)) / noise,
        error_with=1.0 + (risk.own + risk.distance(fit)) / noise,
    )


def _above_zero(mean: float, deviation: float, freedom: float) -> float:
    if deviation == 0.0:
        return 0.5 if mean == 0.0 else float(mean > 0.0)
    return float(stdtr(min(freedom, 1e9), mean / deviation))
