"""Training rows of one run of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poolwise.double_double import Array


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The training rows of one run.

    Parameters
    ----------
    source : array of shape (n_S, d_S)
        Shared features of the source.
    source_y : array of shape (n_S,)
        Its response.
    target : array of shape (n_T, d)
        Features of the target: the shared ones, the new ones and, if there is one, the product.
    target_y : array of shape (n_T,)
        Its response.
    product : bool
        Whether the last feature is the product of the last shared and the last new one.
    """

    source: Array
    source_y: Array
    target: Array
    target_y: Array
    product: bool = False

    @property
    def shared(self) -> Array:
        """The shared features of the target."""
        return self.target[:, : self.source.shape[1]]

    @property
    def new(self) -> Array:
        """The new features of the target, without a product."""
        return self.target[:, self.source.shape[1] : self.target.shape[1] - self.product]

    def filled(self, new: Array) -> Array:
        """Return the source with imputed new features and, if there is one, their product."""
        product = [self.source[:, -1] * new[:, -1]] if self.product else []
        return np.column_stack((self.source, new, *product))
