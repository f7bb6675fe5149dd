"""Measured values with their spread and targets."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Target:
    """A range that a median should lie in, and its text."""

    words: str
    low: float = 0.0
    high: float = float("inf")


@dataclass(frozen=True)
class Answer:
    """One line of the table: a value for each repeat, and the target if there is one."""

    question: str
    what: str
    values: tuple[float, ...]
    target: Target | None = None
    unit: str = ""
    detail: str = ""
    missed: bool = False  # a condition of the target beside its range

    @property
    def value(self) -> float:
        """Median of the repeats."""
        return median(self.values)

    @property
    def met(self) -> bool | None:
        """Whether the target is met, its range by the median; None without a target."""
        if self.target is None:
            return None
        return not self.missed and self.target.low <= self.value <= self.target.high


def ratios(above: list[float], below: list[float]) -> tuple[float, ...]:
    """Return the ratio of the two times of each round."""
    return tuple(a / b for a, b in zip(above, below, strict=True))
