"""Seeded: a method that draws at random, with the seed of the command."""

from __future__ import annotations

from typing import Any


def seeded(method: str, seed: int) -> Any:
    """Return the method of this name: as an object with its seed, where it has one.

    Parameters
    ----------
    method : str
        Its name.
    seed : int
        That of the command.
    """
    from poolwise.methods import ROW_METHODS

    if seed == 0 or method not in ROW_METHODS:  # the methods' own is 0
        return method
    made: Any = ROW_METHODS[method]
    return made(random_state=seed)
