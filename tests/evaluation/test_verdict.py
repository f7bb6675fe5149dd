"""One verdict: levels, thresholds, and the same answer at every door."""

import itertools
import json
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest

from poolwise import PooledRegressor, compare, diagnose, plan, report
from poolwise.evaluation.verdict import (
    FEWEST_ROWS,
    LIKELY,
    SMALL,
    SURE,
    UNMEASURED,
    UNSURE,
    HistoryEffect,
    verdict,
)
from tests.cli.entry import quick

EXPECTED, MEASURED = "expected", "measured"


def effect(change, confidence, *, basis=EXPECTED, low=-0.2, high=0.1, rows=40):
    if confidence is None:
        low = high = None
    return HistoryEffect(basis, "bayes_pooling", change, low, high, confidence, rows, 25)


@pytest.mark.parametrize("basis", [EXPECTED, MEASURED])
def test_the_levels_change_at_their_thresholds(basis):
    def level(change, confidence, rows=FEWEST_ROWS):
        return effect(change, confidence, basis=basis, rows=rows).level

    less = np.nextafter
    assert level(-SMALL, SURE) == "helps"
    assert level(less(-SMALL, 0.0), SURE) == "no_clear_difference"
    assert level(-SMALL, less(SURE, 0.0)) == "probably_helps"
    assert level(-SMALL, SURE, FEWEST_ROWS - 1) == "probably_helps"
    assert level(-SMALL, LIKELY) == "probably_helps"
    assert level(-SMALL, less(LIKELY, 0.0)) == "no_clear_difference"
    assert level(SMALL, 1.0 - SURE) == "hurts"
    assert level(less(SMALL, 0.0), 1.0 - SURE) == "no_clear_difference"
    assert level(SMALL, less(1.0 - SURE, 1.0)) == "no_clear_difference"
    assert level(SMALL, 1.0 - SURE, FEWEST_ROWS - 1) == "no_clear_difference"
    assert level(-0.5, None) == "no_clear_difference"


def test_more_confidence_never_lowers_a_level():
    order = ["hurts", "no_clear_difference", "probably_helps", "helps"]
    for change in (-0.1, -0.001, 0.001, 0.1):
        ranks = [order.index(effect(change, p).level) for p in np.linspace(0.0, 1.0, 401)]
        assert ranks == sorted(ranks)


@pytest.mark.parametrize("confidence", [0.01, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("change", [-0.3, -0.001, 0.3])
def test_without_a_measurement_the_headline_starts_with_expected(change, confidence):
    told = verdict(effect(change, confidence))
    assert told.headline.startswith("Expected")
    expected = effect(change, min(confidence, UNMEASURED))
    assert (told.level, told.basis) == (expected.level, EXPECTED)
    assert "was not measured" in told.text


def two_effects(one, other, *, width=0.05):
    """Return an expected and a measured change whose confidence follows from their intervals."""
    return (
        effect(
            change,
            NormalDist(change, width / 1.96).cdf(0.0),
            basis=basis,
            low=change - width,
            high=change + width,
        )
        for change, basis in ((one, EXPECTED), (other, MEASURED))
    )


def test_the_measurement_comes_first_and_the_expectation_second():
    for one, other in itertools.product([-0.1, 0.0, 0.1], repeat=2):
        told = verdict(*two_effects(one, other))
        assert told.basis == MEASURED
        assert told.change == other
        assert told.headline.startswith("Measured")
        assert told.sentences[0].startswith("Expected")
        word = "inside" if one == other else "outside"
        assert told.sentences[0].endswith(f", {word} the measured interval.")
        assert told.text == " ".join([told.headline, *told.sentences]) == str(told)


def test_two_estimates_are_weighed_by_their_precision():
    expected, measured = two_effects(-0.03, -0.01)
    told = verdict(expected, measured)
    # Both have the deviation 0.0255; of the expected one 0.73 is taken, and four fifths of the
    # measured fall. Other rows differ by half a percent.
    weight = 1.0 / np.square([0.73 * 0.05 / 1.96, 0.05 / 1.96])
    deviation = np.hypot(weight.sum() ** -0.5, SMALL)
    fall = weight @ [0.03, 0.8 * 0.01] / weight.sum()
    assert told.probability == pytest.approx(NormalDist().cdf(fall / deviation), abs=1e-4)
    assert told.headline.startswith(
        f"Measured and expected with bayes_pooling: history probably helps (probability "
        f"{told.probability:.0%}); on 40 recent rows"
    )
    sharp = effect(-0.01, 0.999, basis=MEASURED, low=-0.016, high=-0.004)
    assert verdict(expected, sharp).probability == pytest.approx(0.929, abs=5e-3)
    assert verdict(expected).probability == expected.confidence
    assert verdict(None, measured).probability == measured.confidence


def test_a_larger_measured_fall_is_no_smaller_probability():
    expected, _ = two_effects(-0.01, 0.0)
    falls = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5]
    told = [
        verdict(expected, effect(-f, 0.99, basis=MEASURED, low=-f - 0.05, high=-f + 0.05))
        for f in falls
    ]
    found = [t.probability for t in told]
    assert found == sorted(found)
    assert found[0] >= min(expected.confidence, 0.94) - 0.05
    assert {t.level for t in told[2:]} <= {"probably_helps", "helps"}


def test_a_measured_fall_never_becomes_a_harm():
    expected = effect(0.2, 0.001, low=0.16, high=0.24)
    measured = effect(-0.1, 0.999, basis=MEASURED, low=-0.14, high=-0.06)
    told = verdict(expected, measured)
    assert (told.level, told.probability) == ("no_clear_difference", pytest.approx(0.21))


def test_an_expectation_alone_never_says_that_history_helps():
    told = verdict(effect(-0.3, 0.9999, low=-0.4, high=-0.2))
    assert (told.level, told.probability) == ("probably_helps", 0.94)


def test_an_expectation_of_a_linear_model_is_not_added_to_a_measurement_of_trees():
    expected, measured = two_effects(-0.1, -0.01)
    told = verdict(expected, measured, is_linear=False)
    assert (told.level, told.probability) == (measured.level, measured.confidence)
    assert "and expected with" not in told.text


def test_no_expectation_overrules_a_measured_harm():
    sure = effect(-0.5, 1.0, low=-0.52, high=-0.48)
    harm = effect(0.1, 0.001, basis=MEASURED, low=0.05, high=0.15)
    told = verdict(sure, harm)
    assert (told.level, told.probability) == ("hurts", 0.001)
    unsure = effect(0.01, 0.4, basis=MEASURED, low=-0.1, high=0.12)
    told = verdict(sure, unsure)
    assert told.level == "no_clear_difference"  # "the error was 1 % higher: history helps" is odd
    assert told.probability == UNSURE


def test_an_expectation_of_another_level_may_be_inside_the_measured_interval():
    measured = effect(-0.04, 0.7, basis=MEASURED, low=-0.2, high=0.1)
    told = verdict(effect(-0.1, 0.99), measured)
    assert told.sentences[0].endswith(", inside the measured interval.")


def test_a_measurement_without_a_test_does_not_decide():
    told = verdict(effect(-0.1, 0.9), effect(-0.6, None, basis=MEASURED, rows=4))
    assert (told.level, told.basis) == ("probably_helps", EXPECTED)
    assert "There is no test of the measurement: on 4 recent rows" in told.sentences[0]
    alone = verdict(None, effect(-0.6, None, basis=MEASURED, rows=4))
    assert (alone.level, alone.basis) == ("no_clear_difference", MEASURED)


def test_without_any_evidence_nothing_is_said():
    told = verdict(None)
    assert (told.level, told.basis) == ("unknown", None)
    assert json.loads(json.dumps(told.to_dict()))["headline"] == told.headline


def tables(seed):
    """Draw tables of which history helps, does little or contradicts, with many rows or few."""
    rng = np.random.default_rng(seed)
    rows, shift = int(rng.choice([6, 12, 30, 80])), float(rng.choice([0.0, 0.0, 0.3, 3.0]))
    noise = float(rng.choice([0.3, 1.0, 3.0]))
    X = pd.DataFrame(rng.normal(size=(rows + 200, 3)), columns=["a", "b", "c"])
    y = X @ [1.0, 2.0, 1.0] + noise * rng.normal(size=len(X))
    y[rows:] += shift * X["a"][rows:]
    return X[:rows], y[:rows].rename("y"), {"past": (X[rows:][["a", "b"]], y[rows:])}


def at_all_doors(seed, tmp_path, monkeypatch, method="bayes_pooling"):
    """Return the verdicts of diagnose and plan, and those of compare, report and fit."""
    X, y, sources = tables(seed)
    X_old, y_old = sources["past"]
    X.assign(y=y).to_csv(tmp_path / "recent.csv", index=False)
    X_old.assign(y=y_old).to_csv(tmp_path / "past.csv", index=False)
    model = PooledRegressor(method).fit(X, y, sources=sources)
    asked = ["past.csv", "recent.csv", "--label", "y", "--method", method, "--json"]
    said = quick(tmp_path, monkeypatch, "fit", *asked)
    assert said.exit_code == 0, said.output
    expected = {"diagnose": diagnose(model), "plan": plan(model, [len(X) * 2], draws=1)}
    measured = {
        "compare": compare(X, y, sources=sources, methods=[method]),
        "report": report(X, y, sources=sources, method=method, methods=[]),
    }
    told = [{k: v.verdict.to_dict() for k, v in doors.items()} for doors in (expected, measured)]
    told[1]["fit"] = json.loads(said.stdout)["verdict"]
    return told


@pytest.mark.filterwarnings("ignore::poolwise.errors.PoolwiseWarning")
@pytest.mark.parametrize("seed", range(8))
def test_every_door_gives_the_same_level_for_the_same_evidence(seed, tmp_path, monkeypatch):
    expected, measured = at_all_doors(seed, tmp_path, monkeypatch)
    if not (known := measured["compare"]["basis"] == MEASURED):  # fewer rows than a test needs
        expected |= measured
    for doors in (expected, measured):
        assert len({told["level"] for told in doors.values()}) == 1
        assert len({told["headline"].split(";")[0] for told in doors.values()}) == 1
    assert all(told["headline"].startswith("Expected") for told in expected.values())
    if known:
        first = expected["diagnose"]["headline"].split(";")[0]
        for part in ("headline", "probability", "change"):
            assert len({told[part] for told in measured.values()}) == 1
        assert len({told["sentences"][0] for told in measured.values()}) == 1
        assert measured["compare"]["sentences"][0].startswith(first)


@pytest.mark.filterwarnings("ignore::poolwise.errors.PoolwiseWarning")
def test_the_doors_of_another_method_name_it(tmp_path, monkeypatch):
    expected, measured = at_all_doors(1, tmp_path, monkeypatch, "mean_fill")
    for told in (*expected.values(), *measured.values()):
        assert told["method"] == "mean_fill"
        assert " with mean_fill: " in told["headline"]
    for doors in (expected, measured):
        assert len({told["level"] for told in doors.values()}) == 1
