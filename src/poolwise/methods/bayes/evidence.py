r"""Log evidence at each point of the grid of scales, with coefficients integrated out.

At one point everything is Gaussian. With the target's products :math:`S_T, b_T, y_T^\top y_T`, the
rows :math:`M, k` of a frame with variances :math:`v = 1 + c^2\varepsilon`, and the prior precision
:math:`D^{-1}`,

.. math:: \Lambda = \tfrac1{\sigma^2} S_T + M^\top v^{-1} M + D^{-1}, \quad
   h = \tfrac1{\sigma^2} b_T + M^\top v^{-1} k, \quad
   Q = \tfrac1{\sigma^2} y_T^\top y_T + k^\top v^{-1} k,

.. math:: \log p = -\tfrac12\bigl(n_T\log\sigma^2 + \textstyle\sum\log v + \log|D| + \log|\Lambda|
   + Q - h^\top\Lambda^{-1}h\bigr) + \text{const} .

Columns with rare values add :math:`R`, a pseudo-observation that their coefficient is zero, to
:math:`\Lambda`, and the size of new coefficients has a prior of its own; see `Grid`.

One Cholesky factor of :math:`\begin{pmatrix}\Lambda & h\\ h^\top & Q + 1\end{pmatrix}` gives all of
it. New coefficients come last: their block, before their prior is added, is shared by all shapes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.methods.bayes.priors import ALIKE, LEVEL_VARIANCE, SHAPE_PRIOR, SHAPES, ZELLNER, Grid
from poolwise.methods.bayes.pseudo_rows import Frames

JITTER = 2e-13  # relative to each entry of the diagonal, never to the largest
SLACK = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5)  # added where that is too little
NEAR = 9.0  # nats below the best from which the search continues
ROUNDS = 8  # of the search
USUAL = 2  # place of the size of shared coefficients where it begins
COARSE = 5  # steps between the ratios where it begins: one, unless the source has little noise
AT_ONCE = 2**17  # numbers in one stack of matrices, which then stays in the cache

Places = NDArray[np.intp]
Cells = NDArray[np.intp]  # of shape (m, 4): frame, share, ratio, size


@dataclass(frozen=True, eq=False)
class Factored:
    """Factors at some points of the grid."""

    root: Array  # (m, p + 1, p + 1): Cholesky factor, small prior precision of new coefficients
    tail: Array  # (m, shapes, q + 1, q + 1): the same of their block, for each shape of their prior
    log_evidence: Array  # (m, shapes)
    noise: Array  # (m,): sigma^2
    signal: Array  # (m,): c^2


@dataclass(frozen=True, eq=False)
class Evidence:
    """The model at every point of the grid."""

    target: Array  # (p + 1, p + 1): products of intercept, shared features, new ones, response
    rows: float  # of the target
    frames: Frames  # information of the sources
    grid: Grid
    noise: float  # of a source: the unit of the noise
    size: float  # mean square of its coefficients: the unit of shared ones
    spread: Array  # (accounts,): residual variance of new features given shared ones
    zellner: Array  # (accounts, q, q): prior precision of new coefficients, trace q, by Zellner
    lead: int  # one with an intercept
    rare: Array | float  # (q,): precision that rare values add to the prior of new coefficients
    alone: float | None  # mean square of coefficients in the fit without history, if there is one

    @property
    def new(self) -> int:
        """Number of new coefficients."""
        return len(self.zellner[0])

    @cached_property
    def _shapes(self) -> tuple[Array, Array, Array, Array]:
        """Return what each shape adds to a base precision, the base, and log prior weights.

        The first is a multiple of the identity for each shape, the second a matrix for the last.
        """
        q, accounts = self.new, len(self.spread)
        log_weight = np.tile(np.log(SHAPE_PRIOR) - 0.5 * q * np.log(SHAPES), (accounts, 1))
        least = np.full(accounts, 1.0 / SHAPES[-1])
        multiple = np.tile(1.0 / SHAPES, (accounts, 1))
        if q > 1:
            values = np.linalg.eigvalsh(self.zellner)
            other = np.log(ZELLNER) + 0.5 * np.log(values).sum(axis=1)
            log_weight = np.column_stack((log_weight + np.log1p(-ZELLNER), other))
            least = np.minimum(least, 0.5 * values[:, 0])
            multiple = np.column_stack((multiple, least))
        if not q:
            multiple, log_weight = multiple[:, :1], np.zeros((accounts, 1))
        last = self.zellner - least[:, None, None] * np.eye(q)
        return multiple - least[:, None], last, least, log_weight

    def scales(self, share: Places, ratio: Places, account: Places) -> tuple[Array, Array]:
        r"""Return :math:`\sigma^2` and :math:`c^2` at some points."""
        noise = self.noise * self.grid.noise[share, ratio]
        return noise, noise * self.grid.signal[share] / self.spread[account]

    def factored(self, cells: Cells) -> Factored:
        """Return factors and log evidence at some points."""
        first, of = runs(cells[:, :3])
        frame, share, ratio = cells[first, :3].T
        account = self.frames.account[frame]
        _, signal = self.scales(share, ratio, account)
        products, log_weight = products_of(self.frames, frame, signal)
        return self.joined(products, log_weight, account, share, ratio, of, cells[:, 3])

    def joined(
        self,
        products: Array,
        log_weight: Array,
        account: Places,
        share: Places,
        ratio: Places,
        of: Places,
        size: Places,
    ) -> Factored:
        """Combine the target, the information of the sources, and the prior.

        The first five have one entry for each point of the grid without its size: ``products`` and
        ``log_weight``, as ``products_of`` returns them (the products are overwritten), account and
        places. ``of`` and ``size`` have one for each point: which of these, and the last place.
        """
        p, q, lead = self.target.shape[0] - 1, self.new, self.lead
        first = p - q
        noise, signal = self.scales(share, ratio, account)
        multiple, last, least, shape_weight = self._shapes
        products += self.target / noise[:, None, None]
        diagonal = np.einsum("kii->ki", products)
        diagonal[:, :p] *= 1.0 + JITTER
        diagonal[:, :lead] += 1.0 / (LEVEL_VARIANCE * self.noise)
        if q:
            diagonal[:, first:p] += (least[account] / signal)[:, None] + self.rare
        diagonal[:, p] += 1.0
        prior = self.grid.log_prior[share, ratio] + log_weight
        prior -= 0.5 * (self.rows * np.log(noise) + (q * np.log(signal) if q else 0.0))

        A, noise, signal, account = products[of], noise[of], signal[of], account[of]
        precision = 1.0 / (self.size * self.grid.size)
        np.einsum("mii->mi", A)[:, lead:first] += precision[size, None]
        by_size = self.grid.log_size_prior + 0.5 * (first - lead) * np.log(precision)
        root = _root(A)
        block = root[:, first:, first:]
        S = np.repeat((block @ block.swapaxes(1, 2))[:, None], multiple.shape[1], axis=1)
        if q:
            np.einsum("msii->msi", S)[:, :, :q] += (multiple[account] / signal[:, None])[..., None]
        if q > 1:
            S[:, -1, :q, :q] += last[account] / signal[:, None, None]
        tail = _root(S)
        log_root = np.log(np.einsum("mii->mi", root)[:, :first]).sum(axis=1)
        log_tail = np.log(np.einsum("msii->msi", tail)[:, :, :q]).sum(axis=2)
        log_evidence = -0.5 * tail[:, :, q, q] ** 2 - log_tail + shape_weight[account]
        log_evidence += (prior[of] + by_size[size] - log_root)[:, None]
        if q and self.alone is not None:
            own = np.append(SHAPES, 1.0)[: multiple.shape[1]] * signal[:, None]
            log_evidence -= 0.5 * (np.log(own / self.alone) / ALIKE) ** 2
        return Factored(root, tail, log_evidence, noise, signal)

    @property
    def at_once(self) -> int:
        """Number of points in one stack."""
        p, rows = len(self.target), self.frames.rows.shape[1]
        return max(AT_ONCE // int(p * (4 * p + rows)), 1)

    def stacks(self, cells: Cells) -> Iterator[Cells]:
        """Cut points into stacks."""
        for k in range(0, len(cells), self.at_once):
            yield cells[k : k + self.at_once]

    def log_evidence(self, cells: Cells) -> Array:
        """Return the log evidence at some points, for each shape of the prior."""
        return np.concatenate([self.factored(c).log_evidence for c in self.stacks(cells)])

    def search(self) -> tuple[Cells, Array]:
        """Return the points that matter, and their log evidence.

        The search begins with a coarse grid and adds all neighbours of points near the best.
        """
        shape = (len(self.frames.log_weight), *self.grid.shape)
        shares = np.arange(1, shape[1], 2) if shape[1] > 1 else np.zeros(1, dtype=np.intp)
        # Mostly the middle, and the noise of the target alone.
        ratios = np.union1d(np.arange(self.grid.middle, shape[2], COARSE), [self.grid.likely])
        start = np.meshgrid(np.arange(shape[0]), shares, ratios, [USUAL], indexing="ij")
        found = [np.stack(start, axis=-1).reshape(-1, 4)]
        values = [self.log_evidence(found[0])]
        done = _marked(found[0], shape)
        best = -np.inf
        for step in range(ROUNDS):
            top = values[-1].max(axis=1)
            best = max(best, float(top.max()))
            near = found[-1][top > best - (NEAR if step == 0 else NEAR - 2.0)]
            here = _marked(near, shape)  # neighbours of points found earlier are done already
            # Share and ratio vary together along a ridge; the size hardly depends on either.
            wanted = _widened(_widened(here, 0), 1) | _widened(here, 2)
            more = np.flatnonzero(np.moveaxis(wanted & ~done, -1, 0))
            if not len(more):
                break
            found.append(np.stack(np.unravel_index(more, shape), axis=-1))
            values.append(self.log_evidence(found[-1]))
            done |= wanted
        return np.concatenate(found), np.concatenate(values)


def products_of(frames: Frames, frame: Places, signal: Array) -> tuple[Array, Array]:
    """Return the products of the rows of frames, and their part of the log evidence.

    ``signal`` is :math:`c^2` in each frame.
    """
    rows, variance = frames.rows[frame], 1.0 + signal[:, None] * frames.error[frame]
    products = (rows / variance[:, :, None]).swapaxes(1, 2) @ rows
    return products, frames.log_weight[frame] - 0.5 * np.log(variance).sum(axis=1)


def runs(places: Places) -> tuple[Places, Places]:
    """Return the first of each run of equal rows, and to which run each row belongs."""
    begins = np.ones(len(places), dtype=np.bool_)
    begins[1:] = (places[1:] != places[:-1]).any(axis=1)
    return np.flatnonzero(begins), np.cumsum(begins) - 1


def _marked(cells: Cells, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return a mask of points; frames are the last axis, which is fast to widen."""
    frame, *places = cells.T
    at = np.zeros((*shape[1:], shape[0]), dtype=np.bool_)
    at[*places, frame] = True
    return at


def _widened(near: NDArray[np.bool_], axis: int) -> NDArray[np.bool_]:
    """Add the neighbours along one axis."""
    wide = near.copy()
    here = np.moveaxis(near, axis, 0)
    there = np.moveaxis(wide, axis, 0)
    there[1:] |= here[:-1]
    there[:-1] |= here[1:]
    return wide


def _root(A: Array) -> Array:
    """Return Cholesky factors, of a little more than A where rounding leaves it indefinite."""
    try:
        return np.linalg.cholesky(A).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        if A.ndim > 2:  # one of them: find it, and leave the others as they are
            return np.stack([_root(one) for one in A])
    at = np.arange(len(A))
    for more in SLACK:
        slack = A.copy()
        slack[at, at] *= 1.0 + more
        try:
            return np.linalg.cholesky(slack).astype(np.float64, copy=False)
        except np.linalg.LinAlgError:
            continue
    return np.linalg.cholesky(A).astype(np.float64, copy=False)  # raises NumPy's error


WORTH = 1e-4  # weight of a point, relative to the largest, below which it is left out


@dataclass(frozen=True, eq=False)
class Posterior:
    """Posterior of coefficients, noise and conflict."""

    mean: Array  # (p,): intercept, if there is one, and coefficients
    covariance: Array  # (p, p): within and between points of the grid
    noise: float  # its mean
    noise_variance: float
    conflict: Array  # (K, L): probability of each level of conflict of each source


@dataclass(frozen=True, eq=False)
class Points:
    """The points of the grid that matter."""

    cells: Cells
    weight: Array  # (m, shapes): posterior probability of each point and shape of the prior


def points(evidence: Evidence) -> Points:
    """Search the grid and keep the points that matter."""
    cells, log_evidence = evidence.search()
    weight = np.exp(log_evidence - log_evidence.max())
    total = weight.sum(axis=1)
    kept = total > WORTH * total.max()
    weight = weight[kept]
    return Points(cells[kept], weight / weight.sum())


def posterior(evidence: Evidence, at: Points) -> Posterior:
    """Return the posterior of all coefficients."""
    parts, noises = [], []
    for _, of_points, means, covariances, factored in answers(evidence, at):
        parts.append((of_points, means, np.tensordot(of_points, covariances, axes=1)))
        noises.append(factored.noise)
    mean, covariance = mixed(parts)
    weight, noise = at.weight.sum(axis=1), np.concatenate(noises)
    average = float(weight @ noise)
    return Posterior(
        mean=mean,
        covariance=covariance,
        noise=average,
        noise_variance=float(weight @ (noise - average) ** 2),
        conflict=np.tensordot(weight, evidence.frames.conflict[at.cells[:, 0]], axes=1),
    )


def stacked(share: float, one: Posterior, other: Posterior) -> Posterior:
    r"""Return the posterior of a weighted mean of two fits, with the conflict of the first.

    With :math:`a` the share of the first, the more efficient fit, the mean has the covariance
    :math:`(1 - (1-a)^2)\,C_1 + (1-a)^2 C_0`, since the errors of an efficient fit and of another
    one have the covariance :math:`C_1` (Hausman 1978). The difference :math:`\delta` of the fits
    may also be a bias of the first: :math:`a (1 - a)\,\delta\delta^\top` is added.
    """
    least = (1.0 - share) ** 2
    weight = np.array([1.0 - least, least])
    apart = one.mean - other.mean
    covariance = weight[0] * one.covariance + weight[1] * other.covariance
    covariance += share * (1.0 - share) * np.outer(apart, apart)
    noise = np.array([one.noise, other.noise])
    average = float(weight @ noise)
    variance = float(weight @ [one.noise_variance, other.noise_variance])
    variance += float(weight @ (noise - average) ** 2)
    return Posterior(other.mean + share * apart, covariance, average, variance, one.conflict)


def mixed(parts: list[tuple[Array, Array, Array]]) -> tuple[Array, Array]:
    """Return mean and covariance of a mixture, from weights, means, and sums of covariances."""
    weight, mean = (np.concatenate(p) for p in list(zip(*parts, strict=True))[:2])
    average = weight @ mean
    away = mean - average
    within = sum((c for _, _, c in parts), np.zeros_like(parts[0][2]))
    return average, within + (weight[:, None] * away).T @ away


def answers(
    evidence: Evidence, at: Points
) -> Iterator[tuple[Cells, Array, Array, Array, Factored]]:
    """Yield stacks of points with weight, mean, covariance, shapes of the prior averaged."""
    q, done = evidence.new, 0
    first = evidence.target.shape[0] - 1 - q
    for cells in evidence.stacks(at.cells):
        f = evidence.factored(cells)
        by_shape = at.weight[done : done + len(cells)]
        done += len(cells)
        weight = by_shape.sum(axis=1)
        share = by_shape / np.where(weight > 0.0, weight, 1.0)[:, None]
        mean_new, cov_new = _new(f.tail, share)
        # Given the new coefficients the shared ones are Gaussian, whatever the shape.
        half = _lower_inverse(f.root[:, :first, :first]).swapaxes(1, 2)
        slope = half @ f.root[:, first:-1, :first].swapaxes(1, 2)
        level = half @ f.root[:, -1, :first, None] - slope @ mean_new[:, :, None]
        mean = np.concatenate((level[:, :, 0], mean_new), axis=1)
        covariance = np.empty((len(cells), first + q, first + q))
        across = slope @ cov_new
        covariance[:, first:, first:] = cov_new
        covariance[:, :first, first:] = -across
        covariance[:, first:, :first] = -across.swapaxes(1, 2)
        covariance[:, :first, :first] = half @ half.swapaxes(1, 2) + across @ slope.swapaxes(1, 2)
        yield cells, weight, mean, covariance, f


def _new(tail: Array, share: Array) -> tuple[Array, Array]:
    """Return mean and covariance of new coefficients, from the factors for all shapes."""
    m, shapes, q = *tail.shape[:2], tail.shape[2] - 1
    inverse = _lower_inverse(tail[:, :, :q, :q])
    by_shape = (tail[:, :, q:, :q] @ inverse)[:, :, 0]
    mean = (share[:, None] @ by_shape)[:, 0]
    root = np.sqrt(share)[:, :, None]
    within = (root[..., None] * inverse).reshape(m, shapes * q, q)
    parts = np.concatenate((within, root * (by_shape - mean[:, None])), axis=1)
    return mean, parts.swapaxes(1, 2) @ parts


def _lower_inverse(L: Array) -> Array:
    """Return inverses of lower triangular matrices, by halves."""
    n = L.shape[-1]
    if n < 2:
        return 1.0 / L
    k = n // 2
    inverse = np.zeros(L.shape)
    top, bottom = _lower_inverse(L[..., :k, :k]), _lower_inverse(L[..., k:, k:])
    inverse[..., :k, :k], inverse[..., k:, k:] = top, bottom
    inverse[..., k:, :k] = -bottom @ (L[..., k:, :k] @ top)
    return inverse
