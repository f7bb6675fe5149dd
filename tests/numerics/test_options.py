"""Options: what is allowed is accepted, and anything else is named with what it may be."""

import numpy as np
import pytest

from poolwise.errors import BadOption
from poolwise.numerics.options import LARGEST_SEED, check_number, check_seed, checked_jobs


def test_numbers_are_finite_and_not_negative():
    for number in (0, 0.0, 1, 2.5, np.float64(3.0)):
        check_number("ridge", number)
    for wrong in (-1, float("nan"), float("inf"), True, "1", None):
        with pytest.raises(BadOption, match=r"ridge=.* is not possible\. It must be finite"):
            check_number("ridge", wrong)
    with pytest.raises(BadOption, match=r"ridge=0 is not possible\. It must be .* positive\."):
        check_number("ridge", 0, positive=True)


def test_seeds_are_whole_numbers_that_every_generator_accepts():
    for seed in (0, np.int64(7), LARGEST_SEED):
        check_seed(seed)
    for wrong in (-1, LARGEST_SEED + 1, 1.0, True, None):
        with pytest.raises(BadOption, match="It must be a whole number from 0 to 2147483647"):
            check_seed(wrong)


def test_threads_are_counted_or_one_per_processor():
    assert [checked_jobs(jobs) for jobs in (None, 1, np.int64(4), -1)] == [1, 1, 4, -1]
    for wrong in (0, -2, 1.5, True, "2"):
        with pytest.raises(BadOption, match=r"workers=.* -1 for one per processor\."):
            checked_jobs(wrong, "workers")
