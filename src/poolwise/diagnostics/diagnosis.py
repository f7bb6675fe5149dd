"""Diagnosis: whether history helps, by how much, how surely, and why."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from poolwise.boosting.evidence import Evidence
from poolwise.diagnostics.conflict import Conflict, conflict
from poolwise.diagnostics.gain import SURE, Gain, GainLine, gain
from poolwise.diagnostics.influence import Influence, influence
from poolwise.diagnostics.predictability import Predictability, predictability
from poolwise.diagnostics.risk import solved
from poolwise.diagnostics.shift import Shift, shift
from poolwise.diagnostics.subject import problem_of
from poolwise.fit import LinearFit
from poolwise.methods import name_of_method
from poolwise.text_tables import paragraph
from poolwise.wording import listed, probability

SMALL = 0.01  # gain, as a share of the noise variance, that matters little
NAMED = 5  # names in a sentence
FEWEST_SURE = 10  # target rows: with fewer the model is not taken at its word, however sure it is
ON_TARGET_ALONE = ("target_line", "target_trees", "deep_target_trees")  # they see no history


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """All that moments tell about whether to transfer. Print it, or use its fields.

    Parameters
    ----------
    target_rows : int
        Rows of the target.
    history_rows : int
        Rows of all sources.
    sources : int
        Number of sources.
    gain : Gain
        What history is worth.
    predictability : Predictability
        How well old features predict new ones.
    shift : Shift
        Whether shared columns lie and spread alike.
    conflict : Conflict
        Whether a source contradicts the target.
    influence : Influence
        What the answer would be without each source.
    has_trees : bool, default=False
        Whether the model has trees. Then all that is above is about linear models of the same
        tables: moments tell nothing of trees.
    evidence : Evidence or None
        Of a weighted mean of linear models and trees: its errors on target rows that it had not
        seen, and those of its candidates.
    """

    target_rows: int
    history_rows: int
    sources: int
    gain: Gain
    predictability: Predictability
    shift: Shift
    conflict: Conflict
    influence: Influence
    has_trees: bool = False
    evidence: Evidence | None = None

    @property
    def answer(self) -> str:
        """Whether history helps, in a word that stays.

        One of helps, probably_helps, matters_little, no_history, unknown where the response does
        not vary, and not_measured where the model has trees: a report measures that.
        """
        if not self.sources:
            return "no_history"
        if self.has_trees:
            return "not_measured"
        return _word(self.gain.lines[0], self.target_rows) if self.gain.lines else "unknown"

    @property
    def verdict(self) -> str:
        """Whether history helps, by how much, how surely, and why, in words."""
        if not self.sources:
            return "There is no history: nothing was transferred."
        if self.has_trees:
            return " ".join(_of_trees(self))
        if not self.gain.lines:
            return "Nothing can be said about a gain: the response does not vary."
        said = [_answer(self.gain.lines[0], self.target_rows), *_reasons(self)]
        if (line := self.gain.lines[-1]).fit not in ("history", "bayes_pooling"):
            said.append(_of_own(line))
        said.append(
            "This follows from the model and is no measurement; compare measures it on target rows."
        )
        return " ".join(said)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, numbers and strings."""
        return asdict(self)

    def __str__(self) -> str:
        parts = [paragraph(self.verdict)]
        if self.sources and self.has_trees:
            parts.append("What follows is about linear models of the same tables, without trees.")
        if self.sources:
            parts += map(
                str, (self.gain, self.conflict, self.influence, self.predictability, self.shift)
            )
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        return str(self)


def diagnose(model: Any, *, progress: bool | None = None) -> Diagnosis:
    """Say whether history helps, by how much, how surely, and why.

    Collects ``gain``, ``conflict``, ``influence``, ``predictability`` and ``shift`` of
    ``poolwise.diagnostics``. All of it comes from moments and from the posterior of Bayes pooling,
    whatever the method of the model; the model's own fit is judged beside it. Of a model with trees
    the verdict says first how it did on target rows that it had not seen; the rest is about linear
    models of the same tables.

    Parameters
    ----------
    model : PooledRegressor or Problem
        A fitted model, or target and sources as moments.
    progress : bool, optional
        Whether to show a progress bar where there are many sources; unless given, on a terminal.

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
    problem, derived = problem_of(model), getattr(model, "derived_", None)
    posterior = solved(problem)
    name, own = _own_fit(model)
    return Diagnosis(
        target_rows=problem.target.rows,
        history_rows=sum(s.rows for s in problem.sources.values()),
        sources=len(problem.sources),
        gain=gain(problem, None if problem.units else own, posterior=posterior, name=name),
        predictability=predictability(problem),
        shift=shift(problem),
        conflict=conflict(problem),
        influence=influence(problem, posterior=posterior, progress=progress),
        has_trees=derived is not None,
        evidence=None if derived is None or derived.stack is None else derived.stack.evidence,
    )


def _own_fit(model: Any) -> tuple[str, LinearFit | None]:
    """Return name and fit of a model that was fitted by another method than Bayes pooling."""
    fit, method = getattr(model, "fit_", None), getattr(model, "method_", None)
    name = "" if method is None else name_of_method(method)
    is_linear = isinstance(fit, LinearFit) and getattr(model, "derived_", None) is None
    if not is_linear or name == "bayes_pooling":
        return "bayes_pooling", None
    return name, fit


def _of_trees(found: Diagnosis) -> list[str]:
    """Say what is known of a model with trees, and of linear models of the same tables."""
    made_of = "This model is linear in its columns and in what trees learnt from history."
    said = [
        made_of if found.evidence is None else _seen(found.evidence),
        "Whether history helps this model was not measured; a report does that, against the same "
        "method without history.",
    ]
    if not found.gain.lines:
        return said
    linear = _answer(found.gain.lines[0], found.target_rows)
    said.append(
        f"Without trees, by linear models of the same tables, {linear[0].lower()}{linear[1:]}"
    )
    return [
        *said,
        *_reasons(found),
        "What is said of linear models follows from their theory and is no measurement.",
    ]


def _seen(evidence: Evidence) -> str:
    """Say how large errors were on target rows, with trees, without them and without history."""
    others = f"{evidence.errors['linear']:.4g} by its linear candidate"
    own = [evidence.errors[n] for n in ON_TARGET_ALONE if n in evidence.errors]
    if own:
        others += f" and {min(own):.4g} by the best candidate on the target rows alone"
    return (
        f"This model, of linear fits and trees, has RMSE {evidence.error:.4g} on the "
        f"{evidence.rows:,} target rows, each predicted by models that had not seen it, against "
        f"{others}."
    )


def _answer(line: GainLine, rows: int) -> str:
    numbers = (
        f"the RMSE of predictions is expected to be {line.fall:.1%} lower than by Bayes pooling "
        f"without it (squared error lower by {line.relative:.2g} of the noise variance, 95 % "
        f"interval {line.low:.2g} to {line.high:.2g})"
    )
    answer = _word(line, rows)
    if answer == "matters_little":
        return f"History matters little here: {numbers}."
    helps = "History helps" if answer == "helps" else "History probably helps"
    return f"{helps}: {numbers}; it helps with probability {probability(line.probability)}."


def _word(line: GainLine, rows: int) -> str:
    if line.relative < SMALL:
        return "matters_little"
    return "helps" if line.probability >= SURE and rows >= FEWEST_SURE else "probably_helps"


def _reasons(found: Diagnosis) -> list[str]:
    said = []
    if likely := found.conflict.likely:
        names = [x.source for x in likely]
        said.append(
            f"{len(names)} of {found.sources} sources contradict the target, and count for less: "
            f"{listed(names, NAMED)}."
        )
    else:
        said.append("No source is seen to contradict the target.")
    if (rows := found.target_rows) < FEWEST_SURE:
        said.append(f"So few target rows ({rows}) can hardly contradict history, or confirm it.")
    if high := [x.feature for x in found.predictability.lines if x.is_high]:
        new = listed(list(dict.fromkeys(high)), NAMED)
        said.append(f"Old features predict {new}, so that data_pooling would be biased.")
    if moved := found.shift.found:
        columns = list(dict.fromkeys(n for x in moved for n in x.columns))
        said.append(f"Shared columns have shifted: {listed(columns, NAMED)}.")
    return said


def _of_own(line: GainLine) -> str:
    better = "better" if line.relative >= 0.0 else "worse"
    return (
        f"The fit itself, by {line.fit}, is expected to be {abs(line.fall):.1%} {better} in RMSE "
        f"than {line.over} (better with probability {probability(line.probability)})."
    )
