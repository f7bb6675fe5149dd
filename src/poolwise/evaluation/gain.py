"""Expected reduction of the error of predictions for target rows by the sources."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from scipy.special import stdtr

from poolwise.evaluation.comparison import RIVALS
from poolwise.evaluation.risk import Findings, Risk, Shown, problem_of, solved, without_sources
from poolwise.evaluation.verdict import EXPECTED_SPREAD, UNMEASURED, HistoryEffect
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.problem import Problem
from poolwise.methods import DEFAULT_METHOD, name_of_method

ROUNDING = 1e-12  # share of the noise up to which a gain is zero

FAR_OFF = 1.5  # times the error of the target alone: least squares that is worse is no rival


@dataclass(frozen=True)
class GainLine:
    """The gain of one fit over another.

    Parameters
    ----------
    fit, over : str
        A fit with history, and a fit without.
    gain : float
        Expected reduction of the squared error of a prediction, in squared units of the response.
    relative : float
        The same, as a share of the noise variance.
    low, high : float
        Ends of its 95 % interval, as shares of the noise variance.
    probability : float
        Probability that the fit with history is the better one, by 0.73 of the deviation that the
        interval has: with it, probabilities come true (``benchmarks.honesty``).
    error_without, error_with : float
        Expected squared error of a prediction for a new response, as multiples of the noise
        variance: one is the least possible.
    noise : float
        The noise variance.
    """

    fit: str
    over: str
    gain: float
    relative: float
    low: float
    high: float
    probability: float
    error_without: float
    error_with: float
    noise: float

    @property
    def fall(self) -> float:
        """Share by which the root mean squared error of predictions falls."""
        return 1.0 - math.sqrt(self.error_with / self.error_without)

    def effect(self, rows: int, scale: str = "") -> HistoryEffect:
        """Return the expected change of the error, for a verdict.

        Parameters
        ----------
        rows : int
            Rows of the target.
        scale : str, default=""
            Name of the transformed response, if there is a transform.

        Returns
        -------
        HistoryEffect
        """
        method = DEFAULT_METHOD if self.fit == "history" else self.fit
        low, high = self._change(self.high), self._change(self.low)
        change, error = (-self.fall, low, high), math.sqrt(self.noise * self.error_with)
        known: dict[str, Any] = {"scale": scale, "error": error}
        return HistoryEffect("expected", method, *change, self.probability, rows, **known)

    def _change(self, gain: float) -> float:
        """Convert a reduction of the squared error to a relative change of its root."""
        return math.sqrt(max(self.error_without - gain, 0.0) / self.error_without) - 1.0


@dataclass(frozen=True, repr=False)
class Gain(Findings):
    """The gain from history, according to the model of Bayes pooling. Print it, or use its fields.

    Parameters
    ----------
    lines : tuple of GainLine
        Over Bayes pooling of the target alone; over least squares on the target, unless its
        expected error is more than 1.5 times as large; and the gain of another fit, if one was
        given.
    scale : str
        Name of the transformed response, if there is a transform.
    """

    lines: tuple[GainLine, ...]
    scale: str = ""

    def effect(self, rows: int) -> HistoryEffect | None:
        """Return the expected change of the error for a target of this many rows, if known.

        It is about the fit that was given, if that uses history; otherwise about Bayes pooling.
        """
        own = [x for x in self.lines if x.fit not in ("history", *RIVALS)]
        line = own[-1] if own else next(iter(self.lines), None)
        return None if line is None else line.effect(rows, self.scale)

    def shown(self) -> Shown:
        """Return what is printed."""
        if not self.lines:
            return ["Gain: not defined without history or noise."]
        of = self.scale and f" of {self.scale}"
        title = (
            f"Gain, model-based: expected reduction of the squared error{of} at the target's rows "
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
        return [title, (head, rows)]


def gain(
    problem: Problem,
    fit: LinearFit | None = None,
    *,
    posterior: LinearFit | None = None,
    name: str = "this fit",
) -> Gain:
    r"""Return the expected transfer gain, with its uncertainty.

    The gain of a fit is the squared error of predictions without history minus the error with it,
    averaged over the target's own rows. Its mean and standard deviation under the posterior of
    Bayes pooling are

    .. math:: \lVert a - \hat\theta\rVert_D^2 - \lVert b - \hat\theta\rVert_D^2, \qquad
       2 \sqrt{(a - b)^\top D C D (a - b)},

    see ``poolwise.evaluation.risk``. For Bayes pooling itself, :math:`b = \hat\theta`, the mean is
    never negative: a method that weighs history by the evidence expects no harm from it.

    Assumes linearity, independent rows, and a target like the rows that will be predicted. It is
    not a measurement; ``compare`` measures. On new rows the gain is larger where the target has
    hardly more rows than features: least squares is at its worst away from its rows.

    Parameters
    ----------
    problem : Problem or fitted regressor
        Target and sources.
    fit : LinearFit, optional
        A fit of this problem by another method, which is compared as well.
    posterior : LinearFit, optional
        The fit of Bayes pooling, if it is known already.
    name : str, default="this fit"
        Name of ``fit``.

    Returns
    -------
    Gain
        The gain of Bayes pooling and of the fit, if one was given; it prints as a table.
    """
    problem = problem_of(problem)
    risk = Risk.of(problem, posterior)
    if not problem.sources or not risk.noise:
        return Gain(())
    alone, least_squares = solved(without_sources(problem)), problem.target_fit
    bases = {"the target alone": alone}
    if least_squares.noise is not None and not least_squares.cautions:
        errors = [risk.noise + risk.own + risk.distance(base) for base in (least_squares, alone)]
        if errors[0] <= FAR_OFF**2 * errors[1]:
            bases["least squares on the target"] = least_squares
    lines = [_line(risk, "history", risk.posterior, n, base) for n, base in bases.items()]
    if fit is not None:
        over, base = list(bases.items())[-1]
        lines.append(_line(risk, name, fit, over, base))
    return Gain(tuple(lines))


def gain_of_model(model: Any, posterior: LinearFit) -> tuple[Gain, bool]:
    """Return the gain of a problem or a fitted model, and whether the model is linear.

    A linear fit by another method is compared beside Bayes pooling. No theory covers other models.
    """
    problem, fit = problem_of(model), getattr(model, "fit_", None)
    if fit is None:
        return gain(problem, posterior=posterior), True
    line, name = fit.parts().line, name_of_method(model.method_)
    own = None if name == DEFAULT_METHOD else line
    found = gain(problem, own, posterior=posterior, name=name)
    scale = problem.response if problem.response != model.response_ else ""
    return replace(found, scale=scale), line is not None


def _line(risk: Risk, name: str, fit: LinearFit, over: str, base: LinearFit) -> GainLine:
    return GainLine(
        fit=name,
        over=over,
        **risk.gain_interval(fit, base),
        probability=min(
            _above_zero(*risk.gain(fit, base), risk.noise, risk.posterior.distribution.freedom),
            UNMEASURED,
        ),
        error_without=1.0 + (risk.own + risk.distance(base)) / risk.noise,
        error_with=1.0 + (risk.own + risk.distance(fit)) / risk.noise,
        noise=risk.noise,
    )


def _above_zero(mean: float, deviation: float, noise: float, freedom: float) -> float:
    if max(abs(mean), deviation) <= ROUNDING * noise:
        return 0.5
    if deviation == 0.0:
        return float(mean > 0.0)
    return float(stdtr(min(freedom, 1e9), mean / (EXPECTED_SPREAD * deviation)))
