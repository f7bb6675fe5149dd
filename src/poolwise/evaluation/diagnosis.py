"""The effect of history and the diagnostics that explain it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from poolwise.evaluation.gain import Gain, gain_of_model
from poolwise.evaluation.influence import Influence, influence
from poolwise.evaluation.predictability import Predictability, predictability
from poolwise.evaluation.risk import Findings, Shown, problem_of, solved
from poolwise.evaluation.shift import Shift, shift
from poolwise.evaluation.source_conflict import Conflict, conflict
from poolwise.evaluation.verdict import FEWEST_ROWS, HistoryEffect, Verdict, no_history, verdict
from poolwise.linear.fit import HeldOutErrors
from poolwise.wording import named, paragraph, plural


@dataclass(frozen=True, repr=False)
class Diagnosis(Findings):
    """The verdict on history and its reasons, from moments. Print it, or use its fields.

    Parameters
    ----------
    target_rows : int
        Rows of the target.
    history_rows : int
        Rows of all sources.
    sources : int
        Number of sources.
    gain : Gain
        Expected reduction of the error by history.
    predictability : Predictability
        How well old features predict new ones.
    shift : Shift
        Whether shared columns have the same location, scale and correlation.
    conflict : Conflict
        Whether a source contradicts the target.
    influence : Influence
        Effect of leaving out each source.
    is_linear : bool, default=True
        Whether the model is linear in its features. If not, all of the above is about linear models
        of the same tables.
    evidence : HeldOutErrors or None
        Errors of a weighted mean of candidates on target rows that were not used for it.
    measured : HistoryEffect or None
        The effect of history on held-out target rows, where the rows were at hand.
    """

    target_rows: int
    history_rows: int
    sources: int
    gain: Gain
    predictability: Predictability
    shift: Shift
    conflict: Conflict
    influence: Influence
    is_linear: bool = True
    evidence: HeldOutErrors | None = None
    measured: HistoryEffect | None = None

    @property
    def effect(self) -> HistoryEffect | None:
        """The expected effect of history; None without history or with a constant response.

        It is about the method of the model if that is linear and uses history; otherwise about
        Bayes pooling.
        """
        return self.gain.effect(self.target_rows)

    @property
    def verdict(self) -> Verdict:
        """Whether history helps, by how much, and why."""
        if not self.sources:
            return no_history("There is no history: nothing was transferred.")
        told = [*reasons(self), *_of_candidates(self)]
        return verdict(self.effect, self.measured, reasons=told, is_linear=self.is_linear)

    def shown(self) -> Shown:
        """Return the verdict and all parts."""
        return [*self._leading(), *(shown for part in self._parts() for shown in part.shown())]

    def __str__(self) -> str:
        return "\n\n".join([*map(paragraph, self._leading()), *map(str, self._parts())])

    def _leading(self) -> list[str]:
        is_about = self.sources and not self.is_linear
        about = ["What follows is about linear models of the same tables."] if is_about else []
        return [self.verdict.text, *about]

    def _parts(self) -> tuple[Findings, ...]:
        parts = self.gain, self.conflict, self.influence, self.predictability, self.shift
        return parts if self.sources else ()


def diagnose(model: Any, *, progress: bool | None = None) -> Diagnosis:
    """Return whether history is expected to help, by how much, with what confidence, and why.

    Collects ``gain``, ``conflict``, ``influence``, ``predictability`` and ``shift`` of
    ``poolwise.evaluation``. All of them follow from moments and from the posterior of Bayes
    pooling, for any method of the model; the gain of another linear method is computed as well.

    Parameters
    ----------
    model : PooledRegressor or Problem
        A fitted model, or target and sources as moments.
    progress : bool, optional
        Whether to show a progress bar if there are many sources; by default on a terminal.

    Returns
    -------
    Diagnosis
        The verdict and its parts: plain data that prints as text.

    Examples
    --------
    >>> import numpy as np
    >>> from poolwise import PooledRegressor, diagnose
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(330, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.normal(size=330)
    >>> model = PooledRegressor().fit(X[300:], y[300:], sources=(X[:300, :2], y[:300]))
    >>> found = diagnose(model)
    >>> found.conflict.lines[0].verdict
    'agrees'
    """
    problem, fit = problem_of(model), getattr(model, "fit_", None)
    posterior = solved(problem)
    found, is_linear = gain_of_model(model, posterior)
    return Diagnosis(
        target_rows=problem.target.rows,
        history_rows=sum(s.rows for s in problem.sources.values()),
        sources=len(problem.sources),
        gain=found,
        predictability=predictability(problem),
        shift=shift(problem),
        conflict=conflict(problem, posterior=posterior),
        influence=influence(problem, posterior=posterior, progress=progress),
        is_linear=is_linear,
        evidence=None if fit is None else fit.parts().held_out,
    )


def reasons(found: Diagnosis) -> list[str]:
    """Return the findings of the diagnostics that explain the verdict, as sentences."""
    if not found.gain.lines:
        return []
    said = [found.conflict.text]
    if (rows := found.target_rows) < FEWEST_ROWS:
        few = f"{plural(rows, 'recent row')} {'is' if rows == 1 else 'are'} too few"
        said.append(f"{few} to confirm or contradict history.")
    if high := [x for x in found.predictability.lines if x.is_high]:
        columns = list(dict.fromkeys(x.feature for x in high))
        r2 = f"{'up to ' if len(columns) > 1 else ''}{max(x.r2 or 0.0 for x in high):.2f}"
        said.append(
            f"Old columns predict {named(columns)} (R squared {r2}), so methods that fill new "
            "columns with their mean, such as data_pooling, are biased here."
        )
    if moved := found.shift.found:
        columns = list(dict.fromkeys(n for x in moved for n in x.columns))
        said.append(f"History and the recent rows differ in the distribution of {named(columns)}.")
    return said


def _of_candidates(found: Diagnosis) -> list[str]:
    """Report the error of a model that is not linear on target rows that it was not fitted on."""
    if found.is_linear or (evidence := found.evidence) is None:
        return []
    others = f"{evidence.errors['linear']:.4g} by its linear candidate"
    if evidence.alone is not None:
        others += f" and {evidence.alone:.4g} by the best candidate on the recent rows alone"
    return [
        f"This model has RMSE {evidence.error:.4g} on the {plural(evidence.rows, 'recent row')}, "
        f"each predicted by models that had not seen it, against {others}."
    ]
