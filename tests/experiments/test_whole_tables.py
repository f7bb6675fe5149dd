"""The six tables of the paper, whole, against what is printed."""

import pytest

from poolwise.experiments import datasets
from poolwise.experiments.reproduction import reproduce
from poolwise.experiments.specs import TABLES, read_table_spec
from poolwise.experiments.verdict import total

MISSING = [d for d in read_table_spec("small5").datasets if not datasets.available(d)]


@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING), reason=f"POOLWISE_DATA has no {MISSING}")
def test_the_published_protocol_gives_the_printed_numbers(tmp_path):
    outcomes = list(reproduce(TABLES, jobs=2, out=tmp_path, progress=False))
    found = total(outcome.verdict for outcome in outcomes)
    assert found.means.total == found.sds.total == 216
    # All of them where these lines were written. The library for matrix products decides the last
    # digit of a few ill-conditioned cells; three means are off by one unit with the one for AVX2.
    assert found.means.agree >= 213
    assert found.means.agree + found.means.next_to == 216
    assert found.sds.agree >= 208
    assert (found.marks.agree >= 160, found.marks.total) == (True, 162)
    assert found.against_ranks == 3
    assert not found.shortened
