"""The verdict on "does history help?", written here and nowhere else.

``diagnose``, ``plan``, ``compare``, ``report`` and the command line turn what they know into a
:class:`HistoryEffect` and call :func:`verdict`. In its sentences *history* means the sources and
*recent rows* the target.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any, Literal, TypeAlias

from poolwise.wording import change_range, change_words, number, plural, probability, than

Level: TypeAlias = Literal[
    "helps", "probably_helps", "no_clear_difference", "hurts", "no_history", "unknown"
]
Basis: TypeAlias = Literal["expected", "measured"]

SURE = 0.975  # confidence of "helps" and "hurts"
LIKELY = 0.8  # confidence of "probably helps"
UNSURE = 0.79  # largest confidence, either way, where measurement and expectation differ in sign
UNMEASURED = (
    0.94  # largest confidence of an expectation, since the model cannot doubt itself enough
)
SMALL = 0.005  # relative change of the RMSE below which there is no difference
FEWEST_ROWS = 10  # recent rows for "helps" and "hurts"
EXPECTED_SPREAD = 0.73  # deviation of an expected change, over that of its interval
ON_ALL_ROWS = 0.8  # share of a measured fall that is left: folds are fitted on a fifth fewer rows

SAID = {
    "helps": "history helps",
    "probably_helps": "history probably helps",
    "no_clear_difference": "no clear difference with history",
    "hurts": "history hurts",
}
NOT_MEASURED = "This follows from the model and was not measured; compare and report measure it."


@dataclass(frozen=True)
class HistoryEffect:
    """Change of the error of predictions by history, expected or measured.

    Parameters
    ----------
    basis : {"expected", "measured"}
        Whether the change follows from the model or was measured on held-out target rows.
    method : str
        The method that is compared with itself without history.
    change : float
        RMSE with history over RMSE without it, less one: negative where history helps.
    low, high : float or None
        Ends of the 95 % interval of the change; None without a test.
    confidence : float or None
        Confidence that history helps. Expected: the posterior probability. Measured: one minus half
        the p-value if the error fell, half the p-value if it rose. None without a test.
    rows : int
        Target rows; those that were held out, if the change was measured.
    folds : int, default=0
        Folds in which a change was measured.
    over : str
        What the change is against.
    scale : str
        The response on whose scale the error is, if it was transformed: the transformed one for an
        expected change, the response itself for a measured one.
    error : float or None
        RMSE with history, if known.
    """

    basis: Basis
    method: str
    change: float
    low: float | None
    high: float | None
    confidence: float | None
    rows: int
    folds: int = 0
    over: str = "without history"
    scale: str = ""
    error: float | None = None

    @property
    def level(self) -> Level:
        """One of the four levels; :func:`verdict` states the thresholds."""
        sure = self.confidence
        if sure is None or abs(self.change) < SMALL:
            return "no_clear_difference"
        enough = self.rows >= FEWEST_ROWS
        if self.change > 0.0:
            return "hurts" if sure <= 1.0 - SURE and enough else "no_clear_difference"
        if sure >= SURE and enough:
            return "helps"
        return "probably_helps" if sure >= LIKELY else "no_clear_difference"

    @property
    def deviation(self) -> float:
        """Standard deviation of the change, from its 95 % interval; infinite without a test."""
        low, high = self.interval
        return (high - low) / (2.0 * NormalDist().inv_cdf(0.975))

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends of the interval; infinite without a test."""
        if self.low is None or self.high is None:
            return -math.inf, math.inf
        return self.low, self.high

    @property
    def of(self) -> str:
        """Phrase after "error", such as " of log(price)"; empty without a transform."""
        return self.scale and f" of {self.scale}"

    @property
    def interval_in_words(self) -> str:
        """The interval in words, or "no test"."""
        if self.low is None or self.high is None:
            return "no test"
        return f"95% interval: {change_range(self.low, self.high)}"

    def in_words(self) -> str:
        """Return size and interval of the change, to be followed by a full stop."""
        size = than(self.change)
        if self.error is not None:
            size = f"{number(self.error)}, {size}"
        if self.basis == "measured":
            where = (
                f"on {plural(self.rows, 'recent row')}, held out in {plural(self.folds, 'fold')},"
            )
            sized = f"{where} the error (RMSE){self.of} was {size} {self.over}"
            return f"{sized} ({self.interval_in_words})"
        of = self.of or " of predictions"
        sized = f"the error (RMSE){of} is {size} without history"
        sure = f"history helps with probability {probability(self.confidence or 0.0)}"
        return f"{sized} ({self.interval_in_words}; {sure})"


@dataclass(frozen=True)
class Verdict:
    """Whether history helps. Print it, or use its fields.

    Parameters
    ----------
    level : str
        One of helps, probably_helps, no_clear_difference, hurts; no_history without sources, and
        unknown without an expectation and a measurement.
    basis : {"expected", "measured"} or None
        Basis of the headline.
    method : str or None
        The method that the headline is about.
    headline : str
        The answer in one sentence, which begins with its basis.
    sentences : tuple of str
        Reasons and advice.
    probability : float or None
        Probability that history helps: of the measurement and the expectation together, if there
        are both.
    change : float or None
        RMSE with history over RMSE without it, less one, as measured or else as expected.
    """

    level: Level
    basis: Basis | None
    method: str | None
    headline: str
    sentences: tuple[str, ...] = ()
    probability: float | None = None
    change: float | None = None

    @property
    def text(self) -> str:
        """All sentences."""
        return " ".join((self.headline, *self.sentences))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, numbers and strings."""
        return {**asdict(self), "sentences": list(self.sentences), "text": self.text}

    def __str__(self) -> str:
        return self.text


def verdict(
    expected: HistoryEffect | None,
    measured: HistoryEffect | None = None,
    *,
    reasons: Sequence[str] = (),
    not_measured: str = NOT_MEASURED,
    is_linear: bool = True,
) -> Verdict:
    """Return the verdict on whether history helps.

    A change has one of four levels:

    - *helps*: the error falls by at least 0.5 % (``SMALL``), with a confidence of at least 97.5 %
      (``SURE``), on ten target rows or more (``FEWEST_ROWS``);
    - *probably helps*: the error falls by at least 0.5 %, with a confidence of at least 80 %
      (``LIKELY``);
    - *hurts*: the error rises by at least 0.5 %, with a confidence of at most 2.5 %, on ten target
      rows or more;
    - *no clear difference*: everything else.

    A measurement with a test and an expectation of the same method are two estimates of one
    change. The verdict is about their mean, each weighted by its precision: a few held-out rows
    alone prove little, and the model alone can be wrong. A measured fall is multiplied by 0.8
    (``ON_ALL_ROWS``), because folds have a fifth fewer rows, and limited to the expected fall plus
    one standard deviation of the difference. The expected deviation is multiplied by 0.73
    (``EXPECTED_SPREAD``, calibrated by ``benchmarks.honesty``). Where the estimates differ in sign,
    the confidence is between 21 and 79 % (``UNSURE``). A measurement that says *hurts* decides
    alone, and so does an expectation without a measurement, whose confidence is at most 94 %
    (``UNMEASURED``), so that it never says *helps*. The headline names its basis. The sentence
    after it says whether the expected change is inside the measured interval.

    Assumes that the two estimates are independent. They share the target's rows, so the
    probability of both together is a little too sure; ``benchmarks.honesty`` measures by how much.

    Parameters
    ----------
    expected : HistoryEffect or None
        The effect that the model expects.
    measured : HistoryEffect, optional
        The effect on held-out target rows.
    reasons : sequence of str
        Sentences that explain the answer.
    not_measured : str, optional
        Why there is no measurement.
    is_linear : bool, default=True
        Whether the model is linear; if not, the expectation is about a linear model.
    """
    about = "" if is_linear else ", a linear model of the same tables"
    first, said, both, alone = measured, [], None, expected
    if expected is not None and expected.confidence is not None:
        alone = replace(expected, confidence=min(expected.confidence, UNMEASURED))
    if measured is None:
        first = alone
        said = [not_measured]
    elif expected is not None and measured.confidence is None:
        first = alone
        said = [f"There is no test of the measurement: {measured.in_words()}."]
    elif expected is not None:
        changed = f"error{expected.of} {change_words(expected.change)}"
        size = f"{changed}, {expected.interval_in_words}"
        assert alone is not None
        low, high = measured.interval
        where = "inside" if low <= expected.change <= high else "outside"
        said = [f"{_begun(alone, about)} ({size}), {where} the measured interval."]
        if is_linear and _can_be_weighed(expected, measured):
            both = _together(expected, measured)
    if first is None:
        return unknown("the response does not vary, or the columns explain all of it")
    judged = first if both is None else both
    begun = _begun(first, about if first.basis == "expected" else "")
    if both is not None:
        sure = probability(both.confidence or 0.0)
        begun = f"Measured and expected with {both.method}: {SAID[both.level]}"
        unclear = both.level not in ("helps", "probably_helps")
        begun += f" ({'helps with ' if unclear else ''}probability {sure})"
    return Verdict(
        judged.level,
        first.basis,
        first.method,
        headline=f"{begun}; {first.in_words()}.",
        sentences=(*said, *reasons, *_advice(judged)),
        probability=judged.confidence,
        change=first.change,
    )


def _can_be_weighed(expected: HistoryEffect, measured: HistoryEffect) -> bool:
    """Return whether two effects are of one method and uncertain, and none is a sure harm."""
    return (
        expected.method == measured.method
        and measured.level != "hurts"
        and min(expected.deviation, measured.deviation) > 0.0
    )


def _together(expected: HistoryEffect, measured: HistoryEffect) -> HistoryEffect:
    """Return the mean of two estimates of one change, weighted by precision.

    History helps a fold more than all rows, since it replaces rows that the fold lacks. A fall that
    is far larger than expected proves no more than one within the errors of both. However precise
    both are, other rows will differ by as much as counts as no difference.
    """
    variance = (EXPECTED_SPREAD * expected.deviation) ** 2, measured.deviation**2
    found = measured.change
    if found < 0.0:
        least = expected.change - math.sqrt(sum(variance))
        found = min(max(ON_ALL_ROWS * found, least), 0.0)
    total = 1.0 / variance[0] + 1.0 / variance[1]
    change = (expected.change / variance[0] + found / variance[1]) / total
    own = NormalDist(change, math.hypot(total**-0.5, SMALL))
    confidence = own.cdf(0.0)
    if expected.change * measured.change < 0.0:
        confidence = min(max(confidence, 1.0 - UNSURE), UNSURE)
    return replace(
        measured,
        change=change,
        low=own.inv_cdf(0.025),
        high=own.inv_cdf(0.975),
        confidence=confidence,
    )


def no_history(headline: str) -> Verdict:
    """Return the verdict on a model without sources."""
    return Verdict("no_history", None, None, headline)


def unknown(why: str) -> Verdict:
    """Return the verdict without an expectation and a measurement."""
    return Verdict("unknown", None, None, f"Nothing can be said about history: {why}.")


def _begun(effect: HistoryEffect, others: str) -> str:
    return f"{effect.basis.capitalize()} with {effect.method}{others}: {SAID[effect.level]}"


def _advice(effect: HistoryEffect) -> list[str]:
    if effect.level == "hurts":
        return [
            "Leave the history out (method target_ridge) or use bayes_pooling, which can ignore "
            "it, and check how the history was measured."
        ]
    low, high = effect.interval
    if effect.level == "no_clear_difference" and high - low > 0.1:
        return ["More recent rows would narrow the interval."]
    return []
