"""Simplex: the weights of candidates, averaged over what their errors leave possible."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import numpy as np

from poolwise.double_double import Array

STEPS = {1: 1, 2: 40, 3: 20, 4: 14, 5: 10, 6: 8}  # of a weight, by the number of candidates
FEW = 6  # steps where there are more candidates


def simplex_weights(errors: Array, prior: Array, weights: Array | None = None) -> Array:
    r"""Return the posterior mean of weights that are not negative and sum to one.

    With :math:`R` the second moments of the candidates' errors on :math:`n` rows, the likelihood of
    weights :math:`a` is :math:`(a^\top R a)^{-n/2}`, that of normal errors whose variance is
    unknown; the prior is Dirichlet's.

    Parameters
    ----------
    errors : array of shape (n, candidates)
        Errors on rows that a candidate was not made from.
    prior : array of shape (candidates,)
        Parameters of the prior.
    weights : array of shape (n,) or None
        Of the rows.
    """
    count = errors.shape[1]
    steps = STEPS.get(count, FEW)
    grid = _grid(count, steps)
    w = np.ones(len(errors)) if weights is None else weights
    size = float(np.abs(errors).max(initial=0.0)) or 1.0
    scaled = errors / size
    moments = (scaled * w[:, None]).T @ scaled
    square = np.einsum("gi,ij,gj->g", grid, moments, grid)
    least = max(float(square.max()) * 1e-30, 1e-300)
    log = -0.5 * w.sum() * np.log(np.maximum(square, least))
    log += np.log(grid + 0.5 / steps) @ (prior - 1.0)
    chance = np.exp(log - log.max())
    found: Array = chance @ grid / chance.sum()
    return found


@lru_cache(maxsize=8)
def _grid(count: int, steps: int) -> Array:
    """Return all weights that are multiples of a step."""
    bars = np.array(list(combinations(range(steps + count - 1), count - 1)), dtype=np.intp)
    ends = np.full((len(bars), 1), -1), np.full((len(bars), 1), steps + count - 1)
    grid: Array = (np.diff(np.hstack((ends[0], bars, ends[1])), axis=1) - 1) / steps
    grid.setflags(write=False)
    return grid
