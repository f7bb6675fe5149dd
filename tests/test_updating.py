"""Updating: a model with more rows, or with fewer, is the one that a fit on these rows gives."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from poolwise import METHODS, Moments, PooledRegressor
from poolwise.centred import Centred
from poolwise.errors import (
    BadOption,
    CannotSubtract,
    ColumnMismatch,
    DifferentResponse,
    EmptyTarget,
    NeedsRows,
    NewLevels,
    NotNumeric,
    UnknownSource,
)
from poolwise.fit import regress
from tests.laws.tables import several
from tests.stored_moments import assert_same_bits, bits

PRECISIONS = ["fast", "accurate", "exact"]
MOMENT_METHODS = [name for name in METHODS if name != "kernel_transfer"]
RNG = np.random.default_rng(7)
X = RNG.normal(size=(400, 3)) + np.array([0.0, 50.0, -3.0])
Y = X @ [1.0, 2.0, 3.0] + RNG.normal(size=400)
W = RNG.uniform(0.5, 2.0, size=400)
NEW, LATER, OLD, OLDER = slice(0, 40), slice(40, 60), slice(60, 250), slice(250, 400)
NAMES = ("x0", "x1", "x2", "y")


def source(part):
    return X[part, :2], Y[part]


def both(left, right):
    at = np.r_[left, right]
    return X[at], Y[at]


def model_of(method="bayes_pooling", precision="exact", **options):
    return PooledRegressor(method, precision=precision, **options)


def assert_same_model(a, b, *, exactly=True):
    if exactly:
        assert bits(a.coef_) == bits(b.coef_)
        assert a.intercept_ == b.intercept_
        assert (a.coef_cov_ is None) == (b.coef_cov_ is None)
        assert a.coef_cov_ is None or bits(a.coef_cov_) == bits(b.coef_cov_)
    # Sums in doubles are off by about rows times 2**-53; the columns here are well apart.
    assert_allclose(a.coef_, b.coef_, rtol=1e-9)
    assert a.optional_columns_ == b.optional_columns_
    assert a.conflict_.keys() == b.conflict_.keys()


class TestAdding:
    @pytest.mark.parametrize("method", MOMENT_METHODS)
    def test_more_target_rows_give_the_bits_of_a_fit_on_all(self, method):
        found = model_of(method).fit(X[NEW], Y[NEW], sources=source(OLD)).update(X[LATER], Y[LATER])
        known = model_of(method).fit(*both(NEW, LATER), sources=source(OLD))
        assert_same_model(found, known)
        assert found.problem_.target.rows == 60

    @pytest.mark.parametrize("precision", ["auto", "fast", "accurate"])
    def test_rounded_sums_give_the_fit_on_all_up_to_rounding(self, precision):
        found = model_of(precision=precision).fit(X[NEW], Y[NEW], sources=source(OLD))
        found.update(X[LATER], Y[LATER], sources=source(OLDER))
        known = model_of(precision=precision).fit(*both(NEW, LATER), sources=(X[60:, :2], Y[60:]))
        assert_same_model(found, known, exactly=False)
        assert found.problem_.target.precision == known.problem_.target.precision

    def test_more_rows_of_a_source_are_added_to_it(self):
        found = model_of().fit(X[NEW], Y[NEW], sources={"old": source(OLD)})
        found.update(sources={"old": source(OLDER)})
        known = model_of().fit(X[NEW], Y[NEW], sources={"old": (X[60:, :2], Y[60:])})
        assert_same_model(found, known)

    def test_a_source_of_a_new_name_is_a_new_source(self):
        found = model_of().fit(X[NEW], Y[NEW]).update(sources={"old": source(OLD)})
        assert_same_model(found, model_of().fit(X[NEW], Y[NEW], sources={"old": source(OLD)}))
        assert found.optional_columns_ == ["x2"]
        found.update(sources={"older": (X[OLDER, :1], Y[OLDER])})
        known = {"old": source(OLD), "older": (X[OLDER, :1], Y[OLDER])}
        assert_same_model(found, model_of().fit(X[NEW], Y[NEW], sources=known))
        assert found.optional_columns_ == ["x1", "x2"]

    def test_a_list_of_sources_may_be_as_long_as_the_rows(self):
        found = model_of().fit(X[NEW], Y[NEW], sources=[source(OLD), source(OLDER)])
        found.update(X[40:42], Y[40:42], sources=[source(OLD), source(OLDER)])
        found.update(sources=[])
        assert [s.rows for s in found.problem_.sources.values()] == [380, 300]

    def test_many_small_updates_are_one_fit(self):
        found = model_of().fit(X[:10], Y[:10], sources=source(OLD))
        for k in range(10, 60, 5):
            found.update(X[k : k + 5], Y[k : k + 5])
        assert_same_model(found, model_of().fit(X[:60], Y[:60], sources=source(OLD)))

    def test_weights_count(self):
        found = model_of().fit(X[NEW], Y[NEW], sources=(*source(OLD), W[OLD]), sample_weight=W[NEW])
        found.update(X[LATER], Y[LATER], sample_weight=W[LATER], sources=(*source(OLDER), W[OLDER]))
        known = model_of().fit(
            *both(NEW, LATER), sources=(X[60:, :2], Y[60:], W[60:]), sample_weight=W[:60]
        )
        assert_same_model(found, known)

    def test_without_an_intercept_too(self):
        found = model_of(fit_intercept=False).fit(X[NEW], Y[NEW], sources=source(OLD))
        found.update(X[LATER], Y[LATER])
        known = model_of(fit_intercept=False).fit(*both(NEW, LATER), sources=source(OLD))
        assert_same_model(found, known)

    def test_columns_of_extreme_size_keep_their_units(self):
        scale, up = [1e100, 1e-100, 1.0], 1e20
        found = model_of().fit(X[NEW] * scale, Y[NEW] * up, sources=(X[OLD] * scale, Y[OLD] * up))
        found.update(X[LATER] * scale, Y[LATER] * up, sources=(X[OLDER] * scale, Y[OLDER] * up))
        known = model_of().fit(X[:60] * scale, Y[:60] * up, sources=(X[60:] * scale, Y[60:] * up))
        assert_same_model(found, known)
        found.forget(X[LATER] * scale, Y[LATER] * up)
        known = model_of().fit(X[NEW] * scale, Y[NEW] * up, sources=(X[60:] * scale, Y[60:] * up))
        assert_same_model(found, known)

    def test_rows_that_lack_columns_join_the_source_of_their_pattern(self):
        Z = X.copy()
        Z[20:200, 2] = np.nan
        Z[210:215, 1] = np.nan
        found = model_of().fit(Z[:100], Y[:100]).update(Z[100:], Y[100:])
        known = model_of().fit(Z, Y)
        assert list(found.problem_.sources) == list(known.problem_.sources)
        assert_same_model(found, known)

    def test_a_source_that_is_named_like_a_pattern_stays_apart_from_it(self):
        Z, old = X[:200].copy(), {"rows without x2": source(OLD)}
        Z[50:, 2] = np.nan
        found = model_of().fit(Z[:150], Y[:150], sources=old).update(Z[150:], Y[150:200])
        known = model_of().fit(Z, Y[:200], sources=old)
        rows = {name: s.rows for name, s in known.problem_.sources.items()}
        assert rows == {"rows without x2 (too)": 150, "rows without x2": 190}
        assert {name: s.rows for name, s in found.problem_.sources.items()} == rows
        assert_same_model(found, known)

    def test_rows_without_a_complete_one_are_history(self):
        Z = X[:100].copy()
        Z[50:, 2] = np.nan
        found = model_of().fit(Z[:60], Y[:60]).update(Z[60:], Y[60:100])
        assert_same_model(found, model_of().fit(Z, Y[:100]))
        assert found.problem_.target.rows == 50

    def test_a_few_rows_that_lack_columns_join_their_pattern_or_are_left_out(self):
        Z = X[:100].copy()
        Z[50:97, 2] = np.nan
        Z[97:, 1] = np.nan
        found = model_of().fit(Z[:95], Y[:95])
        with pytest.warns(match="3 rows of X lack values in 1 patterns of too few rows"):
            found.update(Z[95:], Y[95:100])
        assert list(found.problem_.sources) == ["rows without x2"]
        assert found.problem_.sources["rows without x2"].rows == 47

    def test_moments_are_added_like_rows(self, tmp_path):
        part = Moments.of_rows(NAMES, np.column_stack((X, Y))[LATER], precision="exact")
        known = model_of().fit(*both(NEW, LATER), sources=source(OLD))
        path = tmp_path / "later.moments.json"
        part.save(path)
        for given_as in (part, path, str(path), part.select(NAMES[::-1])):
            found = model_of().fit(X[NEW], Y[NEW], sources=source(OLD)).update(given_as)
            assert_same_model(found, known)

    def test_a_model_of_moments_alone_is_updated_too(self):
        rows = np.column_stack((X, Y))
        parts = [
            Moments.of_rows(NAMES, rows[part], precision="exact") for part in (NEW, LATER, OLD)
        ]
        old = parts[2].select(["x0", "y"])
        found = PooledRegressor().fit_moments(parts[0], {"old": old}).update(parts[1])
        assert_same_model(found, PooledRegressor().fit_moments(parts[0] + parts[1], {"old": old}))
        found.update(pd.DataFrame(X[OLD], columns=[*NAMES[:3]]), Y[OLD])
        assert found.problem_.target.rows == 250

    def test_reading_and_predicting_go_on_as_before(self):
        found = model_of().fit(X[NEW], Y[NEW], sources=source(OLD)).update(X[LATER], Y[LATER])
        known = model_of().fit(*both(NEW, LATER), sources=source(OLD))
        Z = X[:9].copy()
        Z[4:, 2] = np.nan
        assert bits(found.predict(Z)) == bits(known.predict(Z))
        assert bits(found.predict_interval(Z)) == bits(known.predict_interval(Z))
        assert str(found.summary()) == str(known.summary())


@pytest.fixture
def frame():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"age": X[:120, 0], "site": rng.choice(["n", "s", "w"], size=120)})
    return table, pd.Series(Y[:120] + (table["site"] == "s"), name="cost")


class TestFrames:
    def test_text_columns_keep_their_levels(self, frame):
        table, y = frame
        found = model_of().fit(table[:60], y[:60]).update(table[60:], y[60:])
        assert_same_model(found, model_of().fit(table, y))
        assert found.coef_names_.tolist() == ["age", "site=s", "site=w"]

    def test_rows_without_some_level_are_fine(self, frame):
        table, y = frame
        some = table["site"] != "w"
        found = model_of().fit(table[:60], y[:60]).update(table[60:][some[60:]], y[60:][some[60:]])
        at = some | (np.arange(120) < 60)
        assert_same_model(found, model_of().fit(table[at], y[at]))

    @pytest.mark.parametrize("unseen", ["raise", "ignore"])
    def test_a_new_level_is_refused(self, frame, unseen):
        table, y = frame
        found = model_of(unseen_level=unseen).fit(table[:60], y[:60])
        before = found.coef_.copy()
        more = table[60:].replace({"site": {"w": "east"}})
        with pytest.raises(NewLevels, match=r"'site' holds 'east'.*'n', 's', 'w'"):
            found.update(more, y[60:])
        with pytest.raises(NewLevels):
            found.update(sources={"old": (more, y[60:])})
        assert bits(found.coef_) == bits(before)

    def test_a_new_level_is_refused_whatever_the_sources_are_called(self, frame):
        table, y = frame
        old = table.assign(cost=y)
        found = model_of(unseen_level="ignore").fit(table[:60], y[:60], sources={"X": old[60:90]})
        with pytest.raises(NewLevels):
            found.update(table[90:].assign(site="east"), y[90:], sources={"X": old[90:]})

    @pytest.mark.parametrize("codes", [["n", "s", "w"], ["1", "2", "3"]])
    def test_files_of_text_columns_are_added_with_and_without_rows(self, frame, codes, tmp_path):
        table, y = frame
        table = table.assign(site=table["site"].map(dict(zip("nsw", codes, strict=True))))
        table.assign(cost=y)[90:].to_csv(tmp_path / "old.csv", index=False)
        files = {"old": str(tmp_path / "old.csv")}
        for rows in ((), (table[60:90], y[60:90])):
            found = model_of().fit(table[:60], y[:60]).update(*rows, sources=files)
            first = 90 if rows else 60
            known = model_of().fit(table[:first], y[:first], sources=files)
            assert_same_model(found, known)

    def test_another_kind_of_value_is_refused(self, frame):
        table, y = frame
        found = model_of().fit(table[:60], y[:60])
        with pytest.raises(NotNumeric, match="held text at fit and holds numbers in X"):
            found.update(table[60:].assign(site=1.0), y[60:])
        with pytest.raises(NotNumeric, match="held numbers at fit and holds text in source 'old'"):
            found.update(sources={"old": (table[60:].assign(age="n"), y[60:])})

    def test_another_response_is_refused(self, frame):
        table, y = frame
        found = model_of().fit(table[:60], y[:60])
        with pytest.raises(DifferentResponse, match="'price'"):
            found.update(table[60:], y[60:].rename("price"))
        found.update(table[60:], y[60:].to_numpy())

    def test_another_response_of_a_source_is_refused_as_in_a_fit(self, frame):
        table, y = frame
        found = model_of().fit(table[:60], y[:60])
        with pytest.raises(DifferentResponse, match="source 'old' is named 'price'"):
            found.update(sources={"old": (table[60:], y[60:].rename("price"))})
        known = model_of().fit(table[:60], y[:60].rename("y"))  # the name that is the default
        with pytest.raises(DifferentResponse, match="'price'"):
            known.update(table[60:], y[60:].rename("price"))
        nameless = model_of().fit(table[:60], y[:60].to_numpy())
        assert nameless.update(table[60:], y[60:].rename("price")).problem_.target.rows == 120

    def test_a_table_that_holds_the_response_is_a_source(self, frame):
        table, y = frame
        old = table.drop(columns="site").assign(cost=y)
        found = model_of().fit(table[:60], y[:60]).update(sources={"old": old[60:]})
        assert_same_model(found, model_of().fit(table[:60], y[:60], sources={"old": old[60:]}))


class TestForgetting:
    @pytest.mark.parametrize("method", MOMENT_METHODS)
    def test_what_is_left_has_the_bits_of_a_fit_without(self, method):
        found = model_of(method).fit(*both(NEW, LATER), sources={"old": (X[60:, :2], Y[60:])})
        found.forget(X[LATER], Y[LATER], sources={"old": source(OLDER)})
        known = model_of(method).fit(X[NEW], Y[NEW], sources={"old": source(OLD)})
        assert_same_model(found, known)

    @pytest.mark.parametrize("precision", ["auto", "fast", "accurate"])
    def test_rounded_sums_are_left_up_to_rounding(self, precision):
        found = model_of(precision=precision).fit(*both(NEW, LATER), sources=source(OLD))
        found.forget(X[LATER], Y[LATER])
        known = model_of(precision=precision).fit(X[NEW], Y[NEW], sources=source(OLD))
        assert_same_model(found, known, exactly=False)

    def test_a_rolling_window_never_drifts(self):
        found = model_of().fit(X[:40], Y[:40], sources=source(OLD))
        for k in range(0, 20, 4):
            found.update(X[40 + k : 44 + k], Y[40 + k : 44 + k]).forget(X[k : k + 4], Y[k : k + 4])
        assert_same_model(found, model_of().fit(X[20:60], Y[20:60], sources=source(OLD)))

    def test_a_source_is_gone_with_its_last_row(self):
        found = model_of().fit(X[NEW], Y[NEW], sources={"a": source(OLD), "b": source(OLDER)})
        found.forget(sources={"b": source(OLDER)})
        assert_same_model(found, model_of().fit(X[NEW], Y[NEW], sources={"a": source(OLD)}))

    def test_weights_are_taken_away_as_they_came(self):
        found = model_of().fit(*both(NEW, LATER), sample_weight=W[:60])
        found.forget(X[LATER], Y[LATER], sample_weight=W[LATER])
        assert_same_model(found, model_of().fit(X[NEW], Y[NEW], sample_weight=W[NEW]))

    @pytest.mark.parametrize("precision", PRECISIONS)
    def test_a_level_whose_rows_are_forgotten_has_no_coefficient(self, precision):
        for seed in range(5):
            rng = np.random.default_rng(seed)
            table = pd.DataFrame({"age": rng.normal(60.0, 8.0, 90), "site": ["n", "s", "w"] * 30})
            y, w, west = rng.normal(size=90), np.full(90, 0.1), table["site"] == "w"
            found = model_of("target_only", precision).fit(table, y, sample_weight=w)
            found.forget(table[west], y[west], sample_weight=w[west])
            assert dict(zip(found.coef_names_, found.coef_, strict=True))["site=w"] == 0.0
            known = model_of("target_only", precision).fit(table[~west], y[~west])
            assert_allclose(found.coef_[:2], known.coef_, rtol=1e-9)

    @pytest.mark.parametrize("precision", PRECISIONS)
    def test_rows_that_were_never_there_are_refused_and_nothing_changes(self, precision):
        found = model_of(precision=precision).fit(X[NEW], Y[NEW], sources={"old": source(OLD)})
        before = found.coef_.copy()
        with pytest.raises(CannotSubtract, match="41 rows of weight 41, to be taken from 40"):
            found.forget(X[:41], Y[:41])
        with pytest.raises(CannotSubtract, match="has other numbers in them"):
            found.forget(X[NEW] + 1.0, Y[NEW])
        with pytest.raises(CannotSubtract, match="has other numbers in them"):
            found.forget(X[LATER] + 100.0, Y[LATER])
        with pytest.raises(CannotSubtract, match="of what would be left"):
            found.forget(X[NEW][:30] * [5.0, 1.0, 1.0], Y[:30])
        with pytest.raises(UnknownSource, match=r"no source 'new'.*'old'"):
            found.forget(sources={"new": source(OLD)})
        assert bits(found.coef_) == bits(before)

    def test_the_last_row_of_the_target_cannot_be_forgotten(self):
        with pytest.raises(EmptyTarget):
            model_of().fit(X[NEW], Y[NEW]).forget(X[NEW], Y[NEW])


class TestRefusals:
    def test_an_unfitted_model_has_nothing_to_add_to(self):
        with pytest.raises(NotFittedError):
            PooledRegressor().update(X, Y)

    def test_a_method_that_reads_rows_says_so(self):
        found = model_of("kernel_transfer").fit(X[NEW], Y[NEW], sources={"old": source(OLD)})
        before = found.coef_.copy()
        with pytest.raises(NeedsRows, match="kernel_transfer reads the rows"):
            found.update(X[LATER], Y[LATER])
        assert bits(found.coef_) == bits(before)

    def test_a_response_goes_with_rows_alone(self):
        found = model_of().fit(X[NEW], Y[NEW])
        with pytest.raises(BadOption, match="y"):
            found.update(found.problem_.target, Y[NEW])
        with pytest.raises(BadOption, match="sample_weight"):
            found.update(found.problem_.target, sample_weight=W[NEW])
        with pytest.raises(BadOption, match="the response of each row"):
            found.update(X[LATER])

    def test_other_columns_are_refused(self):
        found = model_of().fit(X[NEW], Y[NEW], sources={"old": source(OLD)})
        with pytest.raises(ColumnMismatch, match=r"in the target: only the model has 'x1'"):
            found.update(found.problem_.target.select(["x0", "x2", "y"]))
        with pytest.raises(
            ColumnMismatch, match=r"in source 'old': only the model has 'x1'.*under"
        ):
            found.update(sources={"old": (X[OLDER, :1], Y[OLDER])})
        with pytest.raises(ValueError, match="features"):
            found.update(X[LATER, :2], Y[LATER])

    def test_nothing_changes_nothing(self):
        found = model_of().fit(X[NEW], Y[NEW], sources=source(OLD))
        before = found.coef_.copy()
        assert bits(found.update().coef_) == bits(before)
        assert bits(found.forget().coef_) == bits(before)


class TestMoments:
    """Rows of moments that are taken away."""

    @settings(deadline=None, max_examples=60)
    @given(several(2))
    def test_exact_moments_come_back_to_the_bit(self, parts):
        names = [f"c{j}" for j in range(parts[0].shape[1])]
        a, b = (Moments.of_rows(names, part, precision="exact") for part in parts)
        left = (a + b) - b
        assert left.rows == a.rows
        assert (left.low <= a.low).all()
        assert (left.high >= a.high).all()
        again, same = (Centred.of_sums(m.sums, a.low, a.high) for m in (left, a))
        for pair, expected in ((again.weight, same.weight), (again.mean, same.mean)):
            assert bits(pair.high) == bits(expected.high)
            assert bits(pair.low) == bits(expected.low)
        assert bits(again.scatter.pair.high) == bits(same.scatter.pair.high)
        assert bits(again.scatter.pair.low) == bits(same.scatter.pair.low)

    @settings(deadline=None, max_examples=60)
    @given(several(2), st.sampled_from(["fast", "accurate"]))
    def test_other_moments_come_back_up_to_rounding(self, parts, precision):
        names = [f"c{j}" for j in range(parts[0].shape[1])]
        a, b = (Moments.of_rows(names, part, precision=precision) for part in parts)
        left, share = (a + b) - b, {"fast": 1e-12, "accurate": 1e-24}[precision]
        # The errors are shares of the sums, which the rows taken away may have made large.
        room = share * (a + b).scatter.diagonal() + 1e-24 * (a + b).weight * a.mean**2
        gone = np.abs((left.scatter - a.scatter).pair.high.diagonal())
        assert (gone <= room * (a + b).weight).all()
        assert (left.scatter.diagonal() >= 0.0).all()

    @pytest.mark.parametrize("precision", PRECISIONS)
    def test_what_is_left_can_be_saved_and_loaded_however_little_it_is(self, precision, tmp_path):
        path = tmp_path / "left.moments.json"
        for seed in range(60):
            rng = np.random.default_rng(seed)
            columns, kept = int(rng.integers(1, 5)), int(rng.integers(1, 4))
            rows = rng.normal(size=(30, columns)) + 10.0 ** rng.uniform(0.0, 8.0)
            w, names = 10.0 ** rng.uniform(-2.0, 2.0, size=30), NAMES[:columns]
            a = Moments.of_rows(names, rows[:kept], w[:kept], precision=precision)
            b = Moments.of_rows(names, rows[kept:], w[kept:], precision=precision)
            left = (a + b) - b
            left.save(path, overwrite=True)
            assert_same_bits(Moments.load(path), left)
            # Rounding errors are shares of the sums over all rows, and of their means, up to 1e8.
            room = {"fast": 1e-12, "accurate": 1e-20, "exact": 0.0}[precision]
            unit = np.sqrt((a + b).scatter.diagonal())
            gone = np.abs((left.scatter - a.scatter).pair.high)
            assert (gone <= room * np.outer(unit, unit)).all()

    @pytest.mark.parametrize("precision", PRECISIONS)
    def test_all_rows_taken_away_leave_nothing(self, precision):
        a = Moments.of_rows(["a", "b"], X[:, :2], W, precision=precision)
        assert_same_bits(a - a, Moments.empty(["a", "b"]))
        assert_same_bits(a - Moments.empty(["a", "b"]), a)
        nothing = Moments.empty(["a"])
        assert_same_bits(nothing - nothing, nothing)
        with pytest.raises(CannotSubtract):
            nothing - a.select(["a"])

    def test_weight_without_rows_is_refused(self):
        a = Moments.of_rows(["a", "b"], X[:, :2])
        with pytest.raises(CannotSubtract, match="400 rows of weight 200, to be taken from 400"):
            a - 0.5 * a

    def test_other_columns_are_refused(self):
        a = Moments.of_rows(["a", "b"], X[:, :2])
        with pytest.raises(ColumnMismatch, match="Cannot subtract moments over different columns"):
            a - a.select(["a"])

    def test_columns_of_other_sizes_are_refused_without_an_overflow(self):
        a = Moments.of_rows(["a"], X[:, :1])
        with pytest.raises(CannotSubtract):
            a - Moments.of_rows(["a"], X[:10, :1] * 1e299)
        with pytest.raises(CannotSubtract):
            Moments.of_rows(["a"], X[:, :1] * 1e-290) - Moments.of_rows(["a"], X[:10, :1] * 1e290)

    @pytest.mark.parametrize("precision", PRECISIONS)
    def test_leaving_one_fold_out_is_adding_the_others(self, precision):
        rows = np.column_stack((X, Y))
        folds = [Moments.of_rows(NAMES, rows[k::5], precision=precision) for k in range(5)]
        total = sum(folds, start=Moments.empty(NAMES))
        for k in range(5):
            others = (f for j, f in enumerate(folds) if j != k)
            known = regress(sum(others, start=Moments.empty(NAMES)), "y")
            found = regress(total - folds[k], "y")
            # A few hundred rows, of columns well apart.
            assert_allclose(found.coef, known.coef, rtol=1e-12)
            assert precision != "exact" or bits(found.coef) == bits(known.coef)
