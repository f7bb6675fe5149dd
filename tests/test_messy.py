"""The messy tables and their benchmark; ``make bench-messy`` runs all draws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import messy
from benchmarks.messy import Errors, Score, errors_of, main, ridge
from benchmarks.messy_problems import PARTLY_HELD_OUT, PROBLEMS
from poolwise import PooledRegressor

# History's rows, recent rows, history's features, features of recent rows: as in published numbers.
SIZES = {
    "flights": (218_988, 72_152, 6, 12),
    "gestation": (577, 407, 11, 14),
    "ames": (2_028, 902, 47, 72),
    "hmda": (1_435, 945, 10, 13),
    "visits": (3_608, 798, 9, 13),
    "chicago": (4_362, 1_336, 5, 23),
    "wage": (3_270, 1_090, 7, 9),
    "diamonds": (27_076, 26_864, 8, 10),
    "hotel": (6_471, 8_931, 22, 26),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_draws_share_no_row_and_history_lacks_the_new_columns(name):
    problem = PROBLEMS[name]()
    draw = problem.draw(1, 60)
    old, recent, test = (features for features, _ in draw)
    sizes = len(problem.history), len(problem.recent), old.shape[1], recent.shape[1]
    assert sizes == SIZES[name]
    assert [len(old), len(recent), len(test)] == [min(sizes[0], 4000), 60, min(sizes[1] - 60, 3000)]
    assert set(old) < set(recent) == set(test)
    assert problem.response not in recent
    rows = [*old.index, *recent.index, *test.index]  # labels of one table
    assert len(set(rows)) == len(rows)
    for features, response in draw:
        assert features.notna().all(axis=None)
        assert np.isfinite(response).all()


def test_a_seed_draws_the_same_rows_again():
    problem = PROBLEMS["wage"]()
    first, again, other = (problem.draw(seed, 150) for seed in (3, 3, 4))
    for (X, y), (X_again, y_again) in zip(first, again, strict=True):
        assert X.equals(X_again)
        assert y.equals(y_again)
    assert not first.recent[1].equals(other.recent[1])


def test_ridge_almost_without_a_penalty_is_least_squares_with_the_columns_of_poolwise():
    _, recent, (X, _) = PROBLEMS["visits"]().draw(0, 300)
    model = PooledRegressor("target_only").fit(*recent)
    peer = ridge().set_params(ridgecv__alphas=[1e-6]).fit(*recent)
    assert len(peer[0].get_feature_names_out()) == len(model.coef_names_)
    assert_allclose(peer.predict(X), model.predict(X), rtol=1e-6)


def test_the_model_is_measured_with_and_without_history():
    draw = PROBLEMS["wage"]().draw(0, 60)
    (history, recent, (X, y)), found = draw, errors_of(draw)
    alone = PooledRegressor().fit(*recent)
    both = PooledRegressor().fit(*recent, sources=history)
    wanted = [np.sqrt(np.mean((y - model.predict(X)) ** 2)) for model in (both, alone)]
    assert_allclose(found[:2], wanted, rtol=1e-9)


def test_a_score_has_geometric_means_worst_draws_and_the_share_of_harm():
    score = Score.of([Errors("a", 1.0, 2.0, 2.0), Errors("a", 4.0, 2.0, 2.0)])
    cells = " ".join(score.line("a").split())
    assert cells == "a 2 1.000 (2.00) 1.000 (1.00) 1.000 (2.00) 50.0%"


@pytest.mark.parametrize(
    ("ours", "held_out", "code"), [(0.95, 0.95, 0), (0.95, 2.0, 1), (2.0, 0.95, 1)]
)
def test_goals_are_of_all_problems_and_are_shown_without_the_one_held_out(
    monkeypatch, capsys, ours, held_out, code
):
    made = [
        Errors(name, held_out if name == PARTLY_HELD_OUT else ours, 1.0, 1.0) for name in PROBLEMS
    ]
    monkeypatch.setattr(messy, "measure", lambda *_: made)
    monkeypatch.setattr(messy, "fit_times", lambda rounds: "")
    assert main([]) == code
    printed = capsys.readouterr().out
    assert ("MISSED" in printed) == bool(code)
    assert ("(MISSED)" in printed) == (ours > 1.0)
    assert f"\n{PARTLY_HELD_OUT}, held out " in printed


@pytest.mark.slow
def test_a_quick_run_prints_errors_and_times_and_judges_nothing(capsys):
    assert main(["--quick"]) == 0
    printed = capsys.readouterr().out
    assert "\ngestation                1 " in printed
    assert "Goals are not judged" in printed
    assert "60 features, 40 of them rare indicators: " in printed
