r"""The range of predictions: how far responses reach, and how far a linear relation is trusted.

A row far from the data can have any prediction, by an error in one number or because the relation
bends. So predictions stay within the range of responses. It begins with the target's. A source
shows how far responses reach in standard deviations, whatever its level and spread: its ends, at
as many of the target's deviations from the target's mean, count too. If a source agrees with the
target, its range counts as it is, in proportion to the probability of that.

The range :math:`R` is widened by a share :math:`b` of it. The relation that was found may be nearly
exact, and then it holds further out. With :math:`s_T^2` the variance of the target's response and
:math:`\sigma^2` the noise, the range is widened on both sides by

.. math:: b\,R\,\Bigl(1 + 0.06\,\Bigl(\frac{s_T^2}{\sigma^2} - 1\Bigr)_{\!+}\Bigr) .
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from poolwise.linear.problem import Problem
from poolwise.methods.bayes.priors import EXACT_REACH
from poolwise.moments.moments import Moments


def response_range(problem: Problem) -> tuple[float, float]:
    """Return the least and the greatest response of all tables."""
    tables = [problem.target, *problem.sources.values()]
    at = [(table, table.place[problem.response]) for table in tables]
    return min(float(t.low[j]) for t, j in at), max(float(t.high[j]) for t, j in at)


def widened_range(
    problem: Problem, share: float, agree: Mapping[str, float], noise: float
) -> tuple[float, float]:
    """Return the range of predictions.

    ``agree`` has the probability that a source agrees with the target; sources that are not in it
    are ignored.
    """
    mean, deviation, (low, high) = _response(problem.target, problem)
    ends = np.array([low, high])
    sign = np.array([-1.0, 1.0])
    for name, probability in agree.items():
        theirs, spread, given = _response(problem.sources[name], problem)
        ratio = deviation / spread if spread else 0.0
        moved = mean + ratio * (np.array(given) - theirs)
        moved += probability * sign * np.maximum(sign * (given - moved), 0.0)
        ends = sign * np.maximum(sign * ends, sign * moved)
    explained = max(deviation**2 / noise - 1.0, 0.0) if noise else np.inf
    further = share * (1.0 + EXACT_REACH * explained) if share else 0.0
    low, high = (ends + sign * further * (ends[1] - ends[0])).tolist()
    return low, high


def _response(table: Moments, problem: Problem) -> tuple[float, float, tuple[float, float]]:
    """Return mean, standard deviation and range of the response of a table."""
    y = table.place[problem.response]
    square = float(table.scatter.high[y, y]) / max(table.weight - 1.0, 1.0)
    return float(table.mean[y]), float(np.sqrt(square)), (float(table.low[y]), float(table.high[y]))
