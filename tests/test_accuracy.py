"""Reference sets of NIST: as many digits as doubles allow, by rational arithmetic as the oracle."""

import warnings
from fractions import Fraction

import numpy as np
import pytest

from benchmarks import accuracy
from benchmarks.ceiling import ceiling, solve_exactly
from benchmarks.estimates import Estimates, fewest_digits
from benchmarks.reference_sets import reference_sets
from benchmarks.solvers import ours
from poolwise import PooledRegressor
from poolwise.errors import DigitsLost, RankDeficient
from tests.laws.exact import exact_least_squares

PRINTED = 13.5  # digits; the certified values are printed with fifteen, the last one rounded
SETS = reference_sets()


@pytest.fixture(params=SETS, ids=lambda s: s.name, scope="module")
def reference(request):
    return request.param


def test_there_are_eleven_sets():
    assert len(SETS) == 11


def test_rational_arithmetic_finds_the_certified_values(reference):
    exact = solve_exactly(*reference.as_printed(), intercept=reference.intercept)
    assert min(exact.rounded().digits(reference.certified)) > PRINTED


def test_the_ceiling_is_what_the_oracle_of_the_laws_finds(reference):
    X, y = reference.as_doubles()
    first = [[Fraction(v) for v in row] for row in X.tolist()]
    found = solve_exactly(first, [Fraction(v) for v in y.tolist()], intercept=reference.intercept)
    oracle = exact_least_squares(X, y, intercept=reference.intercept)
    level = [oracle.intercept] if reference.intercept else []
    assert found.coefficients == [*level, *oracle.coef]


@pytest.mark.parametrize("precision", accuracy.JUDGED)
def test_coefficients_and_standard_errors_reach_the_ceiling(reference, precision):
    X, y = reference.as_doubles()
    best = ceiling(X, y, intercept=reference.intercept).digits(reference.certified)
    found = ours(X, y, intercept=reference.intercept, precision=precision)
    for digits, most in zip(found.digits(reference.certified), best, strict=True):
        assert digits >= most - accuracy.NEAR


@pytest.mark.parametrize("precision", accuracy.JUDGED)
def test_without_an_intercept_the_level_is_zero_and_certain(precision):
    X, y = next(s for s in SETS if s.name == "noint1").as_doubles()
    model = PooledRegressor("target_only", fit_intercept=False, precision=precision).fit(X, y)
    assert model.intercept_ == 0.0
    assert model.standard_errors_[0] == 0.0


def test_a_fast_fit_warns_or_is_right(reference):
    X, y = reference.as_doubles()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = ours(X, y, intercept=reference.intercept, precision="fast")
    if not caught:
        exact = ceiling(X, y, intercept=reference.intercept)
        wrong = (found.coefficients - exact.coefficients)[int(reference.intercept) :]
        # In standard deviations, as the warning counts: a coefficient that hardly matters may have
        # fewer digits of its own.
        centre = X.mean(axis=0) if reference.intercept else 0.0
        size = np.sqrt(((X - centre) ** 2).sum(axis=0))
        spread = np.linalg.norm(y - (y.mean() if reference.intercept else 0.0))
        assert np.abs(wrong * size).max() <= 1e-6 * spread
    assert all(issubclass(w.category, (DigitsLost, RankDeficient)) for w in caught)


def test_right_digits_are_those_of_the_worst_value():
    certified = np.array([2.0, 0.0, 4.0])
    assert fewest_digits(certified, certified) == 15.0
    assert fewest_digits(np.array([2.0002, 0.0, 4.0]), certified) == pytest.approx(4.0)
    assert fewest_digits(np.array([2.0, 1e-3, 4.0]), certified) == pytest.approx(3.0)
    assert fewest_digits(np.array([2.0, 0.0, 400.0]), certified) == 0.0
    assert fewest_digits(np.array([2.0, 0.0, np.nan]), certified) == 0.0


def test_the_command_prints_every_set_and_how_many_targets_are_met(capsys):
    assert accuracy.main() == 0
    printed = capsys.readouterr().out
    for s in SETS:
        assert printed.count(f"\n{s.name} ") == 2
    assert printed.endswith("Targets met: 22 of 22\n")


def test_a_missed_ceiling_is_said_in_words_and_fails_the_command(monkeypatch, capsys):
    def too_wide(X, y, *, intercept):
        found = ceiling(X, y, intercept=intercept)
        return Estimates(found.coefficients, 1.5 * found.standard_errors)

    monkeypatch.setattr(accuracy, "reference_sets", lambda: SETS[:2])
    monkeypatch.setitem(accuracy.SOLVERS, "exact", too_wide)
    assert accuracy.main() == 1
    printed = capsys.readouterr().out
    assert "MISSED: standard errors of norris, exact: 0.30 digits, the ceiling has 13.92" in printed
    assert printed.endswith("Targets met: 2 of 4\n")
