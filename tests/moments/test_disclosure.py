"""Sharing: whose sums moments tell, found the slow way, and what min_rows lets through."""

from itertools import combinations

import numpy as np
import pytest

from poolwise import Moments
from poolwise.errors import BadOption, TooFewToShare

RNG = np.random.default_rng(4)
N = 200
AGE = RNG.normal(size=N)


def saved(columns, least, folder, weights=None, factor=1.0):
    rows = np.column_stack([AGE, *(np.asarray(c, dtype=float) for c in columns.values())])
    moments = factor * Moments.of_rows(["age", *columns], rows, weights)
    moments.save(folder / "a.moments.json", overwrite=True, min_rows=least)
    return Moments.load(folder / "a.moments.json").rows


def refused(columns, least, folder, match=None):
    with pytest.raises(TooFewToShare, match=match):
        saved(columns, least, folder)


def test_any_column_of_two_values_has_two_groups(tmp_path):
    few = np.arange(N) < 3
    for column in (few, 1.0 + few, -5.0 * few, 1e9 + few, 1e60 * few, ~few):
        refused({"sex": column}, 10, tmp_path, r"column 'sex' has 3 rows")
        assert saved({"sex": column}, 3, tmp_path) == N


def test_the_rows_whose_level_has_no_indicator_are_a_group(tmp_path):
    site = np.arange(N) % 4
    site[site == 3] = 0
    site[:4] = 3
    levels = {f"site={k}": site == k for k in range(3)}
    refused(levels, 10, tmp_path, "The group of 'site' without an indicator has 4 rows")
    assert saved(levels, 4, tmp_path) == N
    assert saved({f"site={k}": np.arange(N) % 3 == k for k in range(3)}, 60, tmp_path) == N
    two = {"a": site == 0, "b": (site == 1) | (site == 2)}
    refused(two, 10, tmp_path, "by columns 'a' and 'b' has 4 rows")


def test_a_group_inside_of_another_tells_of_the_difference(tmp_path):
    over = {"over 60": np.arange(N) < 80, "over 61": np.arange(N) < 77}
    refused(over, 10, tmp_path, "by columns 'over 60' and 'over 61' has 3 rows")
    assert saved(over, 3, tmp_path) == N


def test_groups_that_cross_tell_counts_but_no_sums(tmp_path):
    crossed = {"a": np.arange(N) < 100, "b": (np.arange(N) >= 98) | (np.arange(N) < 50)}
    # Two rows have a and b only from 98 on, but no cell is empty.
    assert saved(crossed, 40, tmp_path) == N


@pytest.mark.parametrize("seed", range(30))
def test_the_guard_finds_every_small_group_of_one_or_two_columns_that_sums_tell(seed, tmp_path):
    rng = np.random.default_rng(seed)
    sets = {"x": rng.random(N) < rng.uniform(0.02, 0.98)}
    sets["y"] = [~sets["x"], sets["x"] & (rng.random(N) < 0.9), rng.random(N) < 0.5][seed % 3]
    sets["z"] = sets["x"] | (rng.random(N) < 0.05)
    ones = np.ones(N)
    sizes = []
    for names in [*combinations(sets, 1), *combinations(sets, 2)]:
        basis = np.column_stack([ones, *(sets[n] for n in names)]).astype(float)
        for cell in range(2 ** len(names)):
            inside = np.all([sets[n] == bool(cell >> k & 1) for k, n in enumerate(names)], axis=0)
            if not inside.any():
                continue
            left = inside - basis @ np.linalg.lstsq(basis, inside.astype(float), rcond=None)[0]
            if np.abs(left).max() < 1e-9:  # the group is a sum of columns: its sums are told
                sizes.append(int(inside.sum()))
    least = min(sizes)
    assert saved(sets, least, tmp_path) == N
    refused(sets, least + 1, tmp_path, f"has {least} rows")


def test_rows_that_all_weigh_the_same_are_counted_as_rows(tmp_path):
    half = {"g": np.arange(N) % 2}
    assert saved(half, 100, tmp_path, factor=0.01) == N
    assert saved(half, 100, tmp_path, weights=np.full(N, 3.0)) == N
    with pytest.raises(TooFewToShare, match="column 'g' has 100 rows"):
        saved(half, 101, tmp_path, weights=np.full(N, 3.0))


@pytest.mark.parametrize("least", [-1, 2.5, "5", None])
def test_another_least_number_of_rows_is_refused(least, tmp_path):
    with pytest.raises(BadOption, match="min_rows"):
        saved({}, least, tmp_path)
