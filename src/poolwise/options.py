"""Options: checks that several classes make of theirs."""

from __future__ import annotations

from numbers import Integral, Real

from poolwise.errors import BadOption

LARGEST_SEED = 2**31 - 1  # LightGBM's range, which NumPy's and scikit-learn's hold


def checked_jobs(jobs: object, option: str = "n_jobs") -> int:
    """Return how many threads to use: one unless told otherwise, -1 for one per processor."""
    if jobs is None:
        return 1
    if not isinstance(jobs, Integral) or isinstance(jobs, bool) or (jobs < 1 and jobs != -1):
        raise BadOption(option, jobs, "a positive number, or -1 for one per processor")
    return int(jobs)


def check_number(option: str, value: object, *, positive: bool = False) -> None:
    """Refuse an option that is no finite number, or a negative one, or zero where that is wrong."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else -1.0
    if not 0.0 <= number < float("inf") or (positive and not number):
        raise BadOption(option, value, f"finite and {'positive' if positive else 'not negative'}")


def check_seed(seed: object) -> None:
    """Refuse a seed that one of those who draw could not take: it is the same for all."""
    number = int(seed) if isinstance(seed, Integral) and not isinstance(seed, bool) else -1
    if not 0 <= number <= LARGEST_SEED:
        raise BadOption("random_state", seed, f"a whole number from 0 to {LARGEST_SEED}")
