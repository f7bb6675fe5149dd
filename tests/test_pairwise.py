"""The subset of cases that stands for a product of parameters."""

from itertools import combinations, product

from tests.pairwise import covering

METHODS, SIZES, SIDES = range(5), range(3), range(2)


def cases(**parameters):
    return [dict(zip(parameters, values, strict=True)) for values in product(*parameters.values())]


def test_every_pair_of_values_meets_in_far_fewer_cases():
    every = cases(method=METHODS, size=SIZES, side=SIDES)
    kept = [every[k] for k in covering(every)]
    assert len(kept) <= 16 < len(every)
    for one, other in combinations(every[0], 2):
        assert {(c[one], c[other]) for c in kept} == {(c[one], c[other]) for c in every}


def test_precisions_take_turns_with_methods():
    every = cases(method=range(8), precision=range(4))
    kept = [every[k] for k in covering(every)]
    assert sorted(c["method"] for c in kept) == list(range(8))
    assert [sum(c["precision"] == p for c in kept) for p in range(4)] == [2, 2, 2, 2]


def test_precisions_meet_everything_else():
    every = cases(method=range(8), precision=range(4), size=SIZES)
    kept = [every[k] for k in covering(every)]
    assert len(kept) == 8 * 3
    assert {(c["precision"], c["size"]) for c in kept} == {(p, s) for p in range(4) for s in SIZES}


def test_where_all_values_take_turns_each_is_there():
    every = cases(signal=range(2), jobs=range(3))
    kept = [every[k] for k in covering(every, in_turn=True)]
    assert len(kept) == 3
    assert {c["signal"] for c in kept} == {0, 1}
    assert {c["jobs"] for c in kept} == {0, 1, 2}


def test_cases_that_are_no_product_are_all_kept():
    every = [{"a": k, "b": k} for k in range(20)]
    assert covering(every) == list(range(20))
