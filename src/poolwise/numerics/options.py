"""Options that several packages check: precision, threads, seeds and numbers."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Literal, TypeAlias, get_args

from poolwise.errors import BadOption

Precision: TypeAlias = Literal["fast", "accurate", "exact", "auto"]
Kept: TypeAlias = Literal["fast", "accurate", "exact"]

PRECISIONS: tuple[Kept, ...] = ("fast", "accurate", "exact")
CHEAP = 2**25  # rows times squared columns: below, reading takes hundredths of a second
LARGEST_SEED = 2**31 - 1  # LightGBM's range, which NumPy's and scikit-learn's hold


def check_precision(precision: Precision) -> None:
    """Raise an error for an unknown precision."""
    if precision not in get_args(Precision):
        raise BadOption.of("precision", precision, "'fast', 'accurate', 'exact' or 'auto'")


def chosen(precision: Precision, rows: int, columns: int) -> Kept:
    """Return the precision of a first pass; ``"auto"`` is accurate while that is cheap."""
    if precision not in PRECISIONS:
        check_precision(precision)
        return "accurate" if rows * columns**2 <= CHEAP else "fast"
    return precision


def checked_jobs(jobs: object, option: str = "n_jobs") -> int:
    """Return how many threads to use: one by default, -1 for one per processor."""
    if jobs is None:
        return 1
    if not isinstance(jobs, Integral) or isinstance(jobs, bool) or (jobs < 1 and jobs != -1):
        raise BadOption.of(option, jobs, "a positive number, or -1 for one per processor")
    return int(jobs)


def check_number(option: str, value: object, *, positive: bool = False) -> None:
    """Raise an error unless an option is a finite number, not negative, or positive."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else -1.0
    if not 0.0 <= number < float("inf") or (positive and not number):
        allowed = f"finite and {'positive' if positive else 'not negative'}"
        raise BadOption.of(option, value, allowed)


def check_seed(seed: object) -> None:
    """Raise an error for a seed that not every generator of random numbers accepts."""
    number = int(seed) if isinstance(seed, Integral) and not isinstance(seed, bool) else -1
    if not 0 <= number <= LARGEST_SEED:
        raise BadOption.of("random_state", seed, f"a whole number from 0 to {LARGEST_SEED}")
