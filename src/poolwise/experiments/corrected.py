"""Our own methods on the rows of one run."""

from __future__ import annotations

import math

import numpy as np

from poolwise.answer import Answer, answered
from poolwise.double_double import Array
from poolwise.experiments.published import MEAN_WEIGHT, RIDGE, kernel_inputs, linear_inputs
from poolwise.experiments.training_rows import TrainingRows
from poolwise.methods import method_of
from poolwise.problem import Problem
from poolwise.tables.arrays import ArrayTable
from poolwise.tables.columns import Column
from poolwise.tables.rows import TableRows

INPUTS = {"feature_transfer": linear_inputs, "kernel_transfer": kernel_inputs}


def solve(sample: TrainingRows, method: str) -> Answer:
    """Return the answer of a method of ours.

    A product is a new feature like the others, except to the two methods that impute: they
    impute what it is made of and multiply, as the paper says.

    Parameters
    ----------
    sample : TrainingRows
        The training rows.
    method : str
        Its name.
    """
    if sample.product and method in INPUTS:
        source, method = sample.filled(_imputed(sample, *INPUTS[method](sample))), "mean_fill"
    else:
        source = sample.source
    target_rows = _rows(sample.target, sample.target_y, "the target")
    source_rows = _rows(source, sample.source_y, "the source")
    problem = Problem(
        target_rows.moments(),
        {"source": source_rows.moments()},
        "y",
        target_rows=target_rows,
        source_rows={"source": source_rows},
    )
    return answered(method_of(method), problem).restored()


def _rows(X: Array, y: Array, where: str) -> TableRows:
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    return TableRows(ArrayTable(X, names), tuple(map(Column, names)), "y", y, None, where)


def _imputed(sample: TrainingRows, target: Array, source: Array) -> Array:
    """Impute by the map of the published program, found as least squares over a few more rows."""
    p, q = target.shape[1], sample.new.shape[1]
    mean_row, new_mean = source.mean(axis=0), sample.new.mean(axis=0)
    a, b = math.sqrt(MEAN_WEIGHT), math.sqrt(RIDGE)
    left = np.vstack((target, a * mean_row, b * np.eye(p)))
    right = np.vstack((sample.new, a * new_mean, np.zeros((p, q))))
    imputed: Array = source @ np.linalg.lstsq(left, right, rcond=None)[0]
    return imputed
