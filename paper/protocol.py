"""The protocol of the tables: columns, splits, runs, and the test error of each fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ShuffleSplit

from paper import datasets
from paper.errors import PaperError, check_name
from paper.estimators import ESTIMATORS, PUBLISHED, Sample, library_fit
from paper.specs import SETUPS, Protocol, Sizes, TableSpec, read_statistics, read_toml
from poolwise._typing import AnyPath, Array
from poolwise.methods import METHODS

SMALL, LARGE = (SimpleNamespace(**words) for words in read_toml(SETUPS).values())
# Parameters that depend on the protocol. Published noise is RSS / n; Algorithm 1 has RSS / (n - d).
QUIRKS = {"published": {"data_pooling": {"ddof": "mle"}}, "corrected": {}}

Index = NDArray[np.intp]


class Split(NamedTuple):
    """Row numbers of source, target and test set in one run."""

    source: Index
    target: Index
    test: Index


def run_errors(
    spec: TableSpec,
    dataset: str,
    label: str,
    protocol: Protocol,
    *,
    data: AnyPath | None = None,
    runs: int | None = None,
) -> list[float]:
    """Return the root mean squared test error of a method in each run; ``labels`` has its names.

    Under ``"published"`` the columns are those of the published program, and its solvers fit the
    methods of the paper. Under ``"corrected"`` the columns are the intended ones, and
    ``poolwise`` fits every method.
    """
    rows = _rows(dataset, None if data is None else str(data), protocol)
    shared, method = rows.shape[1] - 1 - spec.new_features, spec.methods.get(label, label)
    if spec.product:
        rows = with_product(rows, spec.new_features)
    errors = []
    for split in splits_of(spec, dataset)[:runs]:
        source, target, test = rows[split.source], rows[split.target], rows[split.test]
        arrays = (source[:, :shared], source[:, -1], target[:, :-1], target[:, -1])
        sample = Sample(*(a[None] for a in arrays), product=spec.product)
        error = test[:, -1] - predictions(sample, method, protocol, test[:, :-1])
        errors.append(float(np.sqrt(np.mean(error**2))))
    return errors


def predictions(sample: Sample, method: str, protocol: Protocol, X: Array) -> Array:
    """Fit a method to one problem, and return its predictions."""
    if protocol == "published" and method in ESTIMATORS:
        options = QUIRKS[protocol].get(method, {})
        return ESTIMATORS[method](sample, PUBLISHED, **options).predict(X)[0]
    return library_fit(sample, method).predict(X)


def labels(spec: TableSpec, methods: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the names of methods in results: the paper's where it has one, else ours."""
    ours = {name: label for label, name in spec.methods.items()}
    if methods is not None and not any(methods):
        raise PaperError("methods needs at least one name, or must be left out.")
    wanted = list(spec.methods) if methods is None else [ours.get(m, m) for m in methods]
    for name in wanted:
        check_name("method", name, [*spec.methods, *METHODS])
    return tuple(dict.fromkeys(wanted))


def run_count(spec: TableSpec, dataset: str, runs: int | None = None) -> int:
    """Return the number of runs of a dataset, or ``runs`` if that is less."""
    check_name("dataset", dataset, spec.datasets)
    if runs is not None and runs < 1:
        raise PaperError(f"runs={runs} must be a positive number.")
    whole = LARGE.runs if spec.split == "large" else _sizes(spec, dataset).runs
    return min(whole, runs or whole)


def splits_of(spec: TableSpec, dataset: str) -> list[Split]:
    """Return the splits of a dataset, the same whether it runs alone or with the whole table."""
    if spec.split == "large":
        own = read_statistics()[dataset]
        return large_splits(own.total, spec.target_rows(own.features))
    before = spec.datasets[: spec.datasets.index(dataset)]
    return small_splits(_sizes(spec, dataset), [_sizes(spec, name) for name in before])


def _sizes(spec: TableSpec, dataset: str) -> Sizes:
    known = read_statistics()[dataset]
    return small_sizes(known.total, known.features, spec.target_rows(known.features))


def small_sizes(total: int, features: int, target_rows: int | None = None) -> Sizes:
    """Return the sizes of the small setup.

    The source has three times the rows of a usual target, ``features + 30``, but at least 100. The
    numbers are in ``specs/setups.toml``.
    """
    usual = features + SMALL.extra_rows
    target = usual if target_rows is None else target_rows
    source = max(SMALL.targets_in_source * usual, SMALL.least_source_rows)
    test = total // SMALL.test_share
    runs = min((total - source - test) // target, SMALL.runs)
    return Sizes(total, source, target, test, features, runs)


def small_splits(sizes: Sizes, before: Iterable[Sizes]) -> list[Split]:
    """Return the runs of the small setup: one source, one test set, disjoint targets.

    The rows are shuffled; the first are the source, the next the test set. The rest is shuffled
    once more, by one stream of numbers for all datasets of a table in alphabetical order.
    """
    # As DataFrame.sample(frac=1, random_state=seed) of pandas does, by NumPy's old generator.
    rows = np.random.RandomState(SMALL.seed).permutation(sizes.total)
    source, test, rest = np.split(rows, [sizes.source, sizes.source + sizes.test])
    stream, n = np.random.RandomState(SMALL.target_seed), sizes.target
    for other in before:
        stream.permutation(other.total - other.source - other.test)
    shuffled = rest[stream.permutation(len(rest))]
    return [Split(source, shuffled[k * n : (k + 1) * n], test) for k in range(sizes.runs)]


def large_splits(total: int, target_rows: int) -> list[Split]:
    """Return the runs of the large setup: a tenth to test, few target rows, the rest is source."""
    shuffle = ShuffleSplit(LARGE.runs, test_size=total // LARGE.test_share, random_state=LARGE.seed)
    return [
        Split(train[:-target_rows], train[-target_rows:], test)
        for train, test in shuffle.split(np.empty(total))
    ]


def ordered(rows: Array, protocol: Protocol) -> Array:
    """Return the features by absolute correlation with the response, ascending, and the response.

    Constant columns are left out. Under ``"published"`` positions in the matrix without constant
    columns are looked up in the matrix with them, as the published program does. With constant
    columns, which only sml has, this selects other columns than intended, constant ones included.
    """
    X, y = rows[:, :-1], rows[:, -1]
    varying = np.ptp(X, axis=0) > 0.0
    correlations = [np.corrcoef(x, y)[0, 1] for x in X[:, varying].T]
    order = np.argsort(np.abs(correlations), kind="stable")
    taken = X[:, order] if protocol == "published" else X[:, varying][:, order]
    return np.column_stack((taken, y))


def with_product(rows: Array, new_features: int) -> Array:
    """Append the best shared feature times the best new one, and add it to the response."""
    X, y = rows[:, :-1], rows[:, -1]
    product = X[:, -new_features - 1] * X[:, -1]
    return np.column_stack((X, product, y + product))


@lru_cache(maxsize=1)  # the methods of one dataset come one after the other
def _rows(dataset: str, data: str | None, protocol: Protocol) -> Array:
    rows = ordered(datasets.load(dataset, data), protocol)
    rows.setflags(write=False)
    return rows
