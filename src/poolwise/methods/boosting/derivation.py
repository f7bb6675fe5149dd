"""Columns of predictions from history by trees, which are grown on all rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.errors import BadSource
from poolwise.linear.problem import Problem, Rows
from poolwise.methods.boosting.booster import BinnedRows, Grown, Growth
from poolwise.methods.boosting.learning_rows import FOLDS, Folds, LearningRows, counted, marked
from poolwise.methods.boosting.trees import DerivedColumn
from poolwise.moments.moments import Moments
from poolwise.moments.progress import tracked

STAGES = (12, 40, 110)  # numbers of trees, of which the history's own rows choose one
BINS = 255  # of the values of a column
POOLED = Growth(trees=STAGES[-1], leaves=31, rate=0.2, rows_per_leaf=10)
NAME = "boosted"


@dataclass(frozen=True, eq=False)
class Derivation:
    """A problem with derived columns, and the trees that predict them."""

    problem: Problem  # with the columns in the target and in each source that can have them
    columns: tuple[DerivedColumn, ...]
    target: LearningRows  # without derived columns
    derived: Array  # (n, columns): of the target's rows, by trees that were grown without the row
    grown: tuple[Grown, ...]  # on the rows of all tables, each without one fold


def derive(problem: Problem, *, seed: int, most_rows: int) -> Derivation:
    """Learn from all rows, and add one column for each set of features that sources have.

    For each of five folds, trees are boosted on the rows of all tables that are outside the fold.
    They give the rows in the fold their values, with all features masked that the set lacks. So the
    column is known in the sources, and no row was used for its own value. Trees learn from at most
    ``most_rows`` rows of the history, drawn at random; all rows get values.
    """
    features, response = problem.features, problem.response
    assert problem.target_rows is not None
    target = LearningRows.read(
        problem.target_rows, features, features, response, seed=seed, share=1.0
    )
    history = _history(problem, seed, most_rows)
    rows = LearningRows.stacked([target, *history])
    binned = BinnedRows(rows.X, rows.weights, seed, BINS)
    grown = tuple(binned.grow(rows.y, rows.fold != k, POOLED) for k in _folds())
    columns = [
        DerivedColumn(name, inputs, features, (), STAGES[-1])
        for name, inputs in _named_sets(problem).items()
    ]
    marks = {name: part.mark for name, part in zip(_readable(problem), history, strict=True)}
    staged, sums = _staged(problem, columns, grown, target, seed, marks)
    chosen = [_best_stage(c, sums, response) for c in columns]
    columns = [
        replace(c, trees=STAGES[j], boosters=tuple(g.trees.first(STAGES[j]) for g in grown))
        for c, j in zip(columns, chosen, strict=True)
    ]
    derived = np.column_stack(
        [np.zeros((len(target.y), 0)), *(s[:, j] for s, j in zip(staged, chosen, strict=True))]
    )
    names: dict[str, str | None] = dict.fromkeys(
        _staged_name(c.name, j) for c in columns for j in range(len(STAGES))
    )
    names |= {_staged_name(c.name, j): c.name for c, j in zip(columns, chosen, strict=True)}
    own_names = (*features, *(c.name for c in columns), response)
    own = Moments.of_rows(
        own_names,
        np.column_stack((target.X, derived, target.y)),
        target.weights,
        precision=problem.target.precision,
    )
    sources = {
        name: _picked(sums[name], names) if name in sums else source
        for name, source in problem.sources.items()
    }
    with_columns = replace(problem, target=own, sources=sources, target_rows=None, source_rows={})
    return Derivation(with_columns, tuple(columns), target, derived, grown)


def _folds() -> Iterator[int]:
    """Yield the folds, with a progress bar."""
    return tracked(range(FOLDS), FOLDS, "Growing trees")


def _history(problem: Problem, seed: int, most_rows: int) -> list[LearningRows]:
    """Read the rows of the sources, as many as trees learn from."""
    total = sum(problem.sources[n].rows for n in _readable(problem))
    share = min(1.0, most_rows / max(total, 1))
    return [
        LearningRows.read(
            rows,
            problem.shared(problem.sources[name]),
            problem.features,
            problem.response,
            seed=_seed_of(problem, name, seed),
            share=share,
        )
        for name, rows in _readable(problem).items()
    ]


def _readable(problem: Problem) -> dict[str, Rows]:
    """Return the rows of those sources that came as rows."""
    return {n: problem.source_rows[n] for n in problem.sources if n in problem.source_rows}


def _seed_of(problem: Problem, source: str, seed: int) -> int:
    return seed + 1 + list(problem.sources).index(source)


def by_fold(grown: Sequence[Grown], X: Array, fold: NDArray[np.intp]) -> Array:
    """Return predictions for each row, at each stage, by the trees grown without its fold."""
    found = np.empty((len(X), len(STAGES)))
    for k, trees in enumerate(grown):
        found[fold == k] = trees.staged(X[fold == k], STAGES)
    return found


def _named_sets(problem: Problem) -> dict[str, tuple[str, ...]]:
    """Name the different sets of features that sources have, those of most rows first."""
    weight: dict[tuple[str, ...], float] = {}
    for name in _readable(problem):
        features = problem.shared(problem.sources[name])
        weight[features] = weight.get(features, 0.0) + problem.sources[name].weight
    named: dict[str, tuple[str, ...]] = {}
    for inputs in sorted(weight, key=lambda s: (-weight[s], s)):
        name, count = NAME, 1
        taken = {*named, *problem.target.names}
        while name in taken or any(_staged_name(name, j) in taken for j in range(len(STAGES))):
            count += 1
            name = f"{NAME} {count}"
        named[name] = inputs
    return named


def _staged_name(name: str, stage: int) -> str:
    return f"{name} at stage {stage}"


def _staged(
    problem: Problem,
    columns: Sequence[DerivedColumn],
    grown: Sequence[Grown],
    target: LearningRows,
    seed: int,
    marks: dict[str, int],
) -> tuple[list[Array], dict[str, Moments]]:
    """Return the columns at each stage for the target's rows, and the moments of each source.

    The rows of a source must have the same order as when trees were grown on them: otherwise a row
    would get its value from trees that were grown on it.
    """
    own = [by_fold(grown, c.masked(target.X, problem.features), target.fold) for c in columns]
    sums = {}
    for name, rows in _readable(problem).items():
        source = problem.sources[name]
        known = [c for c in columns if set(c.inputs) <= set(source.names)]
        new = [_staged_name(c.name, j) for c in known for j in range(len(STAGES))]
        has = problem.shared(source)
        scored = _Scored(
            rows, (*has, problem.response), known, grown, _seed_of(problem, name, seed)
        )
        sums[name] = Moments.of_blocks(
            (*has, *new, problem.response), scored.blocks(), precision=source.precision
        )
        if scored.mark != marks[name]:
            raise BadSource(
                f"The rows of table {name!r} were not the same, or not in the same order, when "
                "they were read again: a row would get its value from trees that have already seen "
                "it.",
                "Write the rows to files and give these, sort a Spark DataFrame, or persist a Dask "
                "DataFrame.",
            )
    return own, sums


@dataclass(eq=False)
class _Scored:
    """A source that is read again, with each column at each stage beside its features."""

    rows: Rows
    names: Sequence[str]
    columns: Sequence[DerivedColumn]
    grown: Sequence[Grown]
    seed: int
    mark: int = 0

    def blocks(self) -> Iterator[tuple[tuple[Array, ...], Array | None]]:
        """Read the rows and compute their checksum."""
        folds, has = Folds(self.seed), self.names[:-1]
        for block, weights in counted(self.rows, self.names):
            fold, self.mark = folds.next(len(block)), marked(block, weights, self.mark)
            scores = [by_fold(self.grown, c.masked(block, has), fold) for c in self.columns]
            yield (block[:, :-1], *scores, block[:, -1]), weights


def _best_stage(column: DerivedColumn, sums: dict[str, Moments], response: str) -> int:
    """Return the stage that predicts the history best, on rows that the trees had not seen."""
    errors = np.zeros(len(STAGES))
    for moments in sums.values():
        for j in range(len(STAGES)):
            name = _staged_name(column.name, j)
            if name in moments:
                errors[j] += _squared_error(moments, name, response)
    return int(np.argmin(errors))


def _squared_error(moments: Moments, name: str, response: str) -> float:
    scatter = moments.scatter_between((name, response), (name, response))
    apart = moments.mean_of(name) - moments.mean_of(response)
    spread = scatter[0, 0] - 2.0 * scatter[0, 1] + scatter[1, 1]
    return float(spread + moments.weight * apart * apart)


def _picked(moments: Moments, names: dict[str, str | None]) -> Moments:
    """Return moments with the chosen stages only; ``names`` has None for the others."""
    own = moments.select([n for n in moments.names if names.get(n, n) is not None])
    return replace(own, names=tuple(names.get(n) or n for n in own.names))
