"""Sentences: many names are shortened, nouns agree, and no probability is certain."""

import pytest

from poolwise.wording import counted, listed, plural, probability

NAMES = [f"c{j}" for j in range(15)]


def test_long_lists_are_shortened():
    assert listed(NAMES).endswith("'c10', 'c11' and 3 more")
    assert listed(NAMES[:12]).endswith("'c10', 'c11'")
    assert listed([]) == "none"


def test_long_counts_are_shortened():
    assert counted(dict.fromkeys(NAMES, 1_000)).endswith("'c11' in 1,000, 3 more columns")
    assert counted({"a": 2}) == "'a' in 2"


@pytest.mark.parametrize(("count", "said"), [(0, "0 rows"), (1, "1 row"), (2_000, "2,000 rows")])
def test_a_noun_agrees_with_its_count(count, said):
    assert plural(count, "row") == said


@pytest.mark.parametrize(("p", "said"), [(0.83, "83%"), (0.9999, "above 99%"), (0.0, "below 1%")])
def test_no_probability_is_told_as_certain(p, said):
    assert probability(p) == said
