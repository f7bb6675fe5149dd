"""The four simulations: the bands, crossings and shapes of the paper, at several seeds."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from paper import figures
from paper.estimators import ESTIMATORS, SCALED
from paper.expectations import crossing, judgements, tally
from paper.figures import curve_of, simulate
from paper.specs import PROTOCOLS, Axis, read_figure_spec
from tests.paper.one_by_one import intercepts, one_by_one

SIMULATIONS = ("gain_noise", "gain_mean", "correlation", "mean_shift")


def means(points, curve):
    return np.array([p.mean for p in curve_of(points, curve)])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", SIMULATIONS)
def test_what_the_paper_says_holds_at_several_seeds(name, seed):
    points = figures.run(name, seed=seed)
    assert not [found for found in judgements(points, name) if not found.holds]


@pytest.mark.slow
@pytest.mark.parametrize("name", SIMULATIONS)
def test_the_bands_are_as_wide_as_chance_makes_them_and_no_wider(name):
    # Seeds that the bands were not measured at. A statement that holds at 95 of 100 seeds fails at
    # more than 4 of 12 once in 5000 times.
    seeds = 12
    for statement, expectation in zip(
        tally(name, range(1000, 1000 + seeds)), read_figure_spec(name).expected, strict=True
    ):
        assert statement.holds >= seeds - 4, statement
        if expectation["kind"] in ("between", "difference", "crossing", "highest", "square"):
            low, high = expectation["between"]
            printed = np.atleast_1d(expectation["printed"])
            found = max(statement.high, *printed) - min(statement.low, *printed)
            assert high - low < 3.0 * found, statement  # heavy tails at five rows; else 2.2


@pytest.mark.parametrize("name", SIMULATIONS)
def test_the_stacked_solves_are_the_loop_over_our_methods(name):
    spec = read_figure_spec(name)
    axis = replace(spec.x, values=spec.x.values[::5])
    for sample in simulate(spec.experiment, axis, repetitions=3, seed=7):
        for curve in spec.curves:
            stacked = ESTIMATORS[curve.method](sample.sample, SCALED, **curve.options)
            coef, intercept = one_by_one(sample.sample, curve)
            assert_allclose(stacked.coef[:, :-1], coef, rtol=1e-9, atol=1e-9)
            assert_allclose(intercepts(stacked), intercept, rtol=1e-9, atol=1e-9)


def test_simulated_rows_have_the_moments_asked_for():
    truth = replace(read_figure_spec("correlation").experiment, mean=(1.0, 2.0), target_rows=50)
    axis = Axis("correlation", "", (0.6,))
    (sample,) = simulate(replace(truth, shift=3.0), axis, repetitions=1000, seed=0)
    target, source = sample.target.reshape(-1, 3), sample.source.reshape(-1, 2)
    # 50,000 rows: a mean has a standard error of 0.005, that of y of 0.02.
    assert_allclose(target[:, :2].mean(axis=0), [1.0, 5.0], atol=0.02)
    assert_allclose(np.cov(target[:, :2].T), [[1.0, 0.6], [0.6, 1.0]], atol=0.03)
    assert_allclose(source.mean(axis=0), [1.0, 2.0 + 2.0 - 4.0], atol=0.04)
    noise = target[:, 2] - (2.0 + 2.0 * target[:, 0] - 2.0 * target[:, 1])
    assert_allclose([noise.mean(), noise.var()], [0.0, 1.0], atol=0.03)


def test_points_share_their_random_numbers():
    spec = read_figure_spec("gain_noise")
    few, many = simulate(
        spec.experiment, replace(spec.x, values=(5.0, 30.0)), repetitions=2, seed=0
    )
    assert_allclose(few.target, many.target[:, :5])
    assert_allclose(few.test, many.test)


def test_the_mean_shift_hurts_by_its_square():
    points = figures.run("mean_shift", seed=3)
    shift = np.array([p.x for p in curve_of(points, "data_pooling")])
    square, slope, _ = np.polyfit(shift, means(points, "data_pooling"), 2)
    assert square == pytest.approx(1.8, abs=0.2)  # 1.71 to 1.90 at forty seeds
    assert abs(slope) < 0.4  # at most 0.23 there


def test_data_pooling_crosses_target_only_in_expectation_where_the_paper_has_it():
    points = figures.run("correlation", seed=1, repetitions=3000)
    c = np.array([p.x for p in curve_of(points, "data_pooling")])
    pooled, alone = means(points, "data_pooling"), means(points, "target_only")
    assert 0.2 < crossing(c, pooled - alone) < 0.4
    assert (np.diff(pooled)[:7] > 0).all()
    assert pooled[-1] < pooled[-2]
    for transfer in ("feature_transfer", "kernel_transfer"):
        assert means(points, transfer)[0] > means(points, transfer)[-1]


def test_algorithm_1_as_written_weighs_the_source_more():
    gap = {}
    for protocol in PROTOCOLS:
        points = figures.run("mean_shift", protocol=protocol)
        gap[protocol] = means(points, "data_pooling")[-1]
    assert gap["published"] < gap["corrected"]
