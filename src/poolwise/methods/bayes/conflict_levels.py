"""The combinations of conflict levels to average over when there are several sources.

With few sources, all combinations. With more, a mean field gives the posterior of each source's
level; then all combinations of the uncertain sources are used, the others averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from poolwise._typing import Array
from poolwise.methods.bayes.evidence import Evidence, Places, products_of, runs
from poolwise.methods.bayes.pseudo_rows import MOST, ConflictLevels, Group, frames

SWEEPS = 3
SETTLED = 0.02  # change of a probability that ends the sweeps
DOMINANT = 12  # points of the grid on which sweeps are made
DOUBT = 0.02  # least probability of a level that is considered


def probable_settings(groups: Sequence[Group], known: ConflictLevels, evidence: Evidence) -> Array:
    """Return the probable combinations of levels, as probabilities (settings, sources, levels)."""
    field = _MeanField(groups, known, evidence)
    return _around(field.settled())


def _around(belief: Array) -> Array:
    """Return all combinations of levels of the most uncertain sources, the others averaged."""
    settings = belief[None]
    surprise = -np.sum(belief * np.log(np.maximum(belief, 1e-300)), axis=1)
    for k in np.argsort(-surprise, kind="stable"):
        levels = np.flatnonzero(belief[k] > DOUBT)
        if len(settings) * len(levels) > MOST:
            break
        settings = np.repeat(settings, len(levels), axis=0)
        settings[:, k] = np.tile(np.eye(belief.shape[1])[levels], (len(settings) // len(levels), 1))
    return settings


class _MeanField:
    """Probabilities of the levels of each source, given those of the others."""

    def __init__(self, groups: Sequence[Group], known: ConflictLevels, evidence: Evidence) -> None:
        self.groups, self.known, self.evidence = groups, known, evidence
        self.account = np.zeros(1, dtype=np.intp)  # the first; the search looks at the others
        sources = sum(len(g.members) for g in groups)
        self.belief = np.tile(np.exp(known.log_prior), (sources, 1))
        shares, ratios, sizes = evidence.grid.shape
        step = 2 if shares > 1 else 1
        middles = (evidence.grid.middle, evidence.grid.likely)
        near = {k + aside for k in middles for aside in (-1, 0, 1)}
        grid = np.meshgrid(
            np.arange(shares)[step - 1 :: step],
            sorted(near.intersection(range(ratios))),
            np.arange(1, sizes),
            indexing="ij",
        )
        self.points = np.stack(grid, axis=-1).reshape(-1, 3)

    def settled(self) -> Array:
        """Return the probabilities of each source's levels, of shape (sources, levels)."""
        places = len(runs(self.points[:, :2])[0])
        nothing = np.zeros((places, *self.evidence.target.shape)), np.zeros(places)
        for group in self.groups:
            for k in range(len(group.members)):
                alone = np.zeros((len(group.members), len(self.known)))
                self._update(group, k, alone, nothing, self.points)
        for _ in range(SWEEPS):
            before = self.belief.copy()
            points = self._dominant()
            parts = [self._part(g, self.belief[list(g.members)][None], points) for g in self.groups]
            total = _sum(parts)
            for group, part in zip(self.groups, parts, strict=True):
                others = (total[0] - part[0], total[1] - part[1])
                for k in range(len(group.members)):
                    self._update(group, k, self.belief[list(group.members)], others, points)
                now = self._part(group, self.belief[list(group.members)][None], points)
                total = _sum([others, now])
            if np.abs(self.belief - before).max() < SETTLED:
                break
        return self.belief

    def _update(
        self, group: Group, k: int, beliefs: Array, others: tuple[Array, Array], points: Places
    ) -> None:
        """Weigh the levels of one source of a group."""
        levels = len(self.known)
        settings = np.tile(beliefs, (levels, 1, 1))
        settings[:, k] = np.eye(levels)
        products, log_weight = self._part(group, settings, points)
        found = self._log_evidence((products + others[0], log_weight + others[1]), points)
        total = np.logaddexp.reduce(found, axis=1)
        score = np.exp(total - total.max())
        self.belief[group.members[k]] = score / score.sum()

    def _part(self, group: Group, settings: Array, points: Places) -> tuple[Array, Array]:
        """Return products (settings, places, p + 1, p + 1) and log weights of a group."""
        own = replace(
            group,
            members=tuple(range(len(group.members))),
            imputations=(group.imputations[0],),
        )
        said = frames(
            [own],
            settings,
            self.known.log_prior,
            coefficients=self.evidence.target.shape[0] - 1,
            lead=self.evidence.lead,
            target_rows=self.evidence.rows,
        )
        share, ratio = points[runs(points[:, :2])[0], :2].T
        _, signal = self.evidence.scales(share, ratio, self.account)
        frame = np.repeat(np.arange(len(settings)), len(share))
        products, log_weight = products_of(said, frame, np.tile(signal, len(settings)))
        shape = (len(settings), len(share))
        return products.reshape(*shape, *products.shape[1:]), log_weight.reshape(shape)

    def _log_evidence(self, said: tuple[Array, Array], points: Places) -> Array:
        """Return the log evidence of each setting at each point and shape of the prior."""
        found = []
        step = max(self.evidence.at_once // len(points), 1)
        for k in range(0, len(said[0]), step):
            products, log_weight = said[0][k : k + step], said[1][k : k + step]
            setting = np.repeat(np.arange(len(products)), len(points))
            cells = np.column_stack((setting, np.tile(points, (len(products), 1))))
            first, of = runs(cells[:, :3])
            _, share, ratio, _ = cells[first].T
            factored = self.evidence.joined(
                products.reshape(-1, *products.shape[2:]),
                log_weight.ravel(),
                np.zeros_like(share),
                share,
                ratio,
                of,
                cells[:, 3],
            )
            found.append(factored.log_evidence.reshape(len(products), -1))
        return np.concatenate(found)

    def _dominant(self) -> Places:
        """Return the points of the grid that matter most, given the current probabilities."""
        parts = [
            self._part(g, self.belief[list(g.members)][None], self.points) for g in self.groups
        ]
        found = self._log_evidence(_sum(parts), self.points).reshape(len(self.points), -1)
        best = np.logaddexp.reduce(found, axis=1)
        return self.points[np.argsort(-best, kind="stable")[:DOMINANT]]


def _sum(parts: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Add products and log weights of groups."""
    products, log_weight = (np.sum(p, axis=0) for p in zip(*parts, strict=True))
    return products, log_weight
