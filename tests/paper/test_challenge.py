"""A challenger wins, ties and loses against the best published method, cell by cell."""

import numpy as np
import pytest

from paper.challenge import challenge, challengers
from paper.rendering import challenge_grid

WAVE = 1.0 + 0.1 * np.linspace(-1.0, 1.0, 20)


def cell(ols, dsft, dsft_nl, dp, mine):
    """Errors with these means, in the same order in every run."""
    means = {"ols": ols, "dsft": dsft, "dsft_nl": dsft_nl, "dp": dp, "mine": mine}
    return {m: mean * WAVE for m, mean in means.items()}


@pytest.fixture
def found():
    one = {"a": cell(2.0, 3.0, 4.0, 1.0, 0.5), "b": cell(1.0, 3.0, 4.0, 2.0, 2.0)}
    two = {"a": cell(5.0, 2.0, 3.0, 4.0, 2.0)}
    return challenge("mine", {"one": one, "two": two})


def test_the_best_of_a_cell_is_the_smallest_mean(found):
    assert [(d.table, d.dataset, d.best) for d in found.duels] == [
        ("one", "a", "dp"),
        ("one", "b", "ols"),
        ("two", "a", "dsft"),
    ]


def test_wins_ties_and_losses_are_counted_against_the_best_and_against_each(found):
    assert found.against() == (1, 1, 1)
    assert found.against("ols") == (2, 0, 1)
    assert found.against("dp") == (2, 1, 0)
    assert found.lost_to_target_only == (("one", "b"),)


def test_the_ratio_is_a_geometric_mean(found):
    assert [duel.error / duel.best_error for duel in found.duels] == pytest.approx([0.5, 2.0, 1.0])
    assert found.ratio == pytest.approx(1.0)


def test_the_direction_is_that_of_the_ranks():
    errors = cell(2.0, 3.0, 4.0, 1.0, 0.5)
    errors["mine"][0] = 1000.0  # the mean is worse now, the ranks are not
    found = challenge("mine", {"one": {"a": errors}})
    assert found.against() == (1, 0, 0)
    assert found.ratio > 50.0


def test_few_runs_are_ties():
    errors = {m: e[:3] for m, e in cell(2.0, 3.0, 4.0, 1.0, 0.5).items()}
    assert challenge("mine", {"one": {"a": errors}}).against() == (0, 1, 0)


def test_it_says_all_of_it(found):
    assert str(found).splitlines() == [
        "mine against the best published method of each of 3 cells: 1 won, 1 tied, 1 lost.",
        "Geometric mean of its error relative to the best: 1.000.",
        "Against ols: 2 won, 0 tied, 1 lost.",
        "Against dsft: 2 won, 1 tied, 0 lost.",
        "Against dsft_nl: 3 won, 0 tied, 0 lost.",
        "Against dp: 2 won, 1 tied, 0 lost.",
        "Significantly worse than the target alone in 1: one b.",
    ]


def test_only_methods_beside_all_four_published_ones_can_challenge():
    whole = cell(2.0, 3.0, 4.0, 1.0, 0.5)
    assert challengers({"one": {"a": whole}}) == ["mine"]
    for missing in ("dp", "mine"):
        less = {m: e for m, e in whole.items() if m != missing}
        assert challengers({"one": {"a": whole, "b": less}}) == []
    assert challengers({}) == []


def test_what_is_lost_is_bold_in_the_rendered_table(found, tmp_path):
    challenge_grid(found).write(tmp_path, "mine")
    text = (tmp_path / "mine.md").read_text(encoding="utf-8")
    lines = {line.split("|")[1].strip(): line for line in text.splitlines() if "|" in line}
    assert "**lost**" in lines["one b"]
    assert lines["one b"].count("**lost**") == 2  # against the best, which is the target alone
    assert "**" not in lines["one a"] + lines["two a"]
    assert "0.500" in lines["one a"]
    assert (tmp_path / "mine.html").is_file()
    assert (tmp_path / "mine.tex").is_file()
