"""Folds that hold out whole groups or later rows, and warnings where random folds would leak."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, TimeSeriesSplit

from poolwise import compare, report
from poolwise.errors import BadColumns, BadOption, BadTable, DataWarning, LeftOut, TooFewRows
from poolwise.evaluation.compare import compare_intake
from poolwise.evaluation.splitting import split_by
from poolwise.tables.intake import gather
from tests.raw_tables import ALL

ONE = {"methods": ["data_pooling"]}


def panel(persons=20, times=3, seed=0):
    """Return a panel: a person has a level of its own, and history lacks the second column."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(persons), times)
    X = pd.DataFrame(rng.normal(size=(len(person), 2)), columns=["a", "b"])
    X["nr"] = 1000 + 37 * person
    X["day"] = np.tile(np.arange(times), persons)
    level = rng.normal(size=persons)[person]
    y = X["a"] + X["b"] + 2.0 * level + 0.1 * rng.normal(size=len(person))
    old = pd.DataFrame(rng.normal(size=(200, 1)), columns=["a"])
    return X, y.to_numpy(), (old, old["a"].to_numpy() + rng.normal(size=200))


def folds_of(X, y, **given):
    """Return the folds of complete rows, and which options they came from."""
    X, splitting, _ = split_by(X, **given)
    intake = gather(X, y)
    return splitting.folds(np.asarray(intake.rows.y)[:, None], y, intake.positions, 2, 0)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_groups_are_held_out_whole_and_every_row_is_tested_as_often(frame):
    X, y, _ = panel()
    group = X["nr"].to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folds = folds_of(frame(X), y, groups="nr")
    assert len(folds) == 10
    assert (np.bincount(np.concatenate([test for _, test in folds])) == 2).all()
    for train, test in folds:
        assert not set(group[train]) & set(group[test])
        assert len(train) + len(test) == len(y)


def test_a_name_and_the_values_of_a_column_give_the_same_folds():
    X, y, sources = panel()
    with pytest.warns(LeftOut, match="'nr' is left out of the features"):
        named = compare(X, y, sources=sources, groups="nr", **ONE)
    without = X.drop(columns="nr")
    for values in (X["nr"], X["nr"].to_list(), X["nr"].astype(str).to_numpy()):
        given = compare(without, y, sources=sources, groups=values, **ONE)
        assert (given.scores["data_pooling"] == named.scores["data_pooling"]).all()
    assert "Whole groups of nr were held out: 20 in all." in str(named)


def test_a_row_without_a_group_is_a_group_of_its_own():
    _, splitting, _ = split_by(np.zeros((5, 1)), groups=["a", None, "a", float("nan"), "b"])
    assert splitting.groups.tolist() == [0, 1, 0, 2, 3]


def test_splitters_of_scikit_learn_get_the_groups():
    X, y, sources = panel(persons=6)
    group = X.pop("nr")
    for cv in (GroupKFold(3), LeaveOneGroupOut()):
        own = compare(X, y, sources=sources, cv=cv, groups=group, **ONE)
        pairs = list(cv.split(X, y, group))
        listed = compare(X, y, sources=sources, cv=pairs, **ONE)
        assert (own.scores["data_pooling"] == listed.scores["data_pooling"]).all()
        assert own.test_share == np.mean([len(test) / len(train) for train, test in pairs])


def test_positions_of_a_list_are_rows_of_the_table_also_where_some_are_history():
    X, y, _ = panel()
    X = X[["a", "b"]].copy()
    X.loc[X.index[:20], "b"] = np.nan
    whole = np.arange(20, 60)
    pairs = [(np.arange(40), np.arange(40, 60)), (np.arange(60) < 50, np.arange(60) >= 50)]
    found = compare(X, y, cv=pairs, **ONE)
    same = [(whole[whole < 40], np.arange(40, 60)), (whole[whole < 50], np.arange(50, 60))]
    expected = compare(X, y, cv=same, **ONE)
    assert (found.scores["data_pooling"] == expected.scores["data_pooling"]).all()
    assert found.test_share == np.mean([20 / 20, 10 / 30])


def test_later_rows_are_tested_on_earlier_ones_and_times_are_not_cut():
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    for time in (np.arange(60), rng.permutation(60), rng.integers(0, 12, 60)):
        folds = folds_of(np.zeros((60, 1)), y, time=time)
        assert 1 < len(folds) <= 5
        for train, test in folds:
            assert time[train].max() < time[test].min()
            assert len(train) >= 20
        tested = np.concatenate([test for _, test in folds])
        assert len(set(tested.tolist())) == len(tested)


def test_times_are_numbers_dates_or_text_that_sorts():
    y = np.arange(30.0)
    dates = pd.date_range("2024-01-01", periods=30)
    first = folds_of(np.zeros((30, 1)), y, time=np.arange(30))
    texts = (dates.strftime(order) for order in ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y"))
    for time in (dates, dates.to_series(), pl.Series(dates), *texts):
        for (train, test), (a, b) in zip(
            folds_of(np.zeros((30, 1)), y, time=time), first, strict=True
        ):
            assert (train == a).all()
            assert (test == b).all()
    with pytest.raises(BadOption, match=r"'01-01-2024' for one, which does not sort"):
        split_by(np.zeros((30, 1)), time=dates.strftime("%d-%m-%Y"))
    with pytest.raises(BadOption, match="no value in 1 row"):
        split_by(np.zeros((3, 1)), time=[1.0, np.nan, 2.0])


def test_only_texts_that_sort_like_times_are_taken():
    for text in ("2024-03-01", "2024-03-01T23:59", "2024-03-01 23:59:10.5Z", "1.3.2024"):
        assert split_by(np.zeros((2, 1)), time=["1999-12-31", text])[1].time.tolist() == [0, 1]
    for text in ("2024", "2024-03"):
        assert split_by(np.zeros((2, 1)), time=["1999", text])[1].time.tolist() == [0, 1]
    for text in ("March 2024", "03-2024", "2024-02-30", "20240301", "1/3/2024"):
        with pytest.raises(BadOption, match=f"{text}.*does not sort"):
            split_by(np.zeros((2, 1)), time=["1999", text])


def test_a_splitter_gets_the_rows_in_the_order_of_time():
    rng = np.random.default_rng(0)
    time = rng.permutation(60)
    folds = folds_of(np.zeros((60, 1)), rng.normal(size=60), time=time, cv=TimeSeriesSplit(4))
    assert [len(test) for _, test in folds] == [12] * 4
    assert all(time[train].max() < time[test].min() for train, test in folds)


def test_two_years_make_one_fold_and_no_test():
    X, y, sources = panel()
    found = compare(X, y, sources=sources, time=X["day"] > 1, **ONE)
    assert len(found.scores["data_pooling"]) == 1
    assert found.effect.confidence is None
    assert (found.held_out, found.target_rows) == (20, 60)
    assert "on 20 recent rows, held out in 1 fold" in found.verdict.text


def test_repeats_are_the_number_of_times_that_folds_are_drawn():
    X, y, sources = panel()
    group = X.pop("nr")
    for given in ({}, {"groups": group}):
        found = compare(X, y, sources=sources, repeats=3, cv=4, **given, **ONE)
        assert len(found.scores["data_pooling"]) == 12


def test_report_and_compare_have_the_same_folds():
    X, y, sources = panel()
    group, day = X.pop("nr"), X["day"]
    each = ({"groups": group}, 5), ({"time": day}, 2), ({"cv": KFold(3)}, 3), ({"repeats": 2}, 5)
    for given, folds in each:
        found = compare(X, y, sources=sources, methods=["bayes_pooling"], **given)
        made = report(X, y, sources=sources, methods=[], **given)
        told, residuals = made.data["methods"], made.data["residuals"]
        lines = {x["method"]: x["rmse"] for x in told["lines"]}
        assert lines["bayes_pooling"] == found.scores["bayes_pooling"].mean()
        assert made.verdict.headline == found.verdict.headline
        assert found.split in told["text"]
        assert told["held_out"] == found.held_out == (40 if "time" in given else 60)
        assert (residuals["rows"], residuals["folds"]) == (found.held_out, folds)


def test_what_cannot_be_split_is_refused_with_names_and_numbers():
    X = panel()[0]
    with pytest.raises(TooFewRows, match="nr has 2 groups: 3 are the least"):
        split_by(X.assign(nr=X["nr"] > 1300), groups="nr")
    with pytest.raises(BadOption, match="both were given"):
        split_by(X, groups="nr", time="day")
    with pytest.raises(BadColumns, match="Did you mean 'nr'"):
        split_by(X, groups="Nr")
    with pytest.raises(BadTable, match="groups has 2 values, and X has 60 rows"):
        split_by(X, groups=[1, 2])
    with pytest.raises(BadOption, match="one value per row, since X is an array"):
        split_by(X.to_numpy(), groups="nr")
    for wrong in ({"repeats": 0}, {"repeats": 2, "time": "day"}, {"repeats": 2, "cv": KFold(3)}):
        with pytest.raises(BadOption, match="repeats="):
            split_by(X, **wrong)
    with pytest.raises(TooFewRows, match="time is the same in all rows"):
        split_by(X, time=np.ones(60))


def test_random_folds_of_repeated_persons_are_warned_of_and_flatter():
    X, y, sources = panel(persons=60)
    dummies = pd.get_dummies(X["nr"], prefix="p", dtype=float)
    with pytest.warns(DataWarning, match="The 60 values of 'nr' repeat in the recent rows"):
        compare(X, y, sources=sources, **ONE)
    wide = pd.concat([X.drop(columns=["nr", "day"]), dummies.iloc[:, 1:]], axis=1)
    random, whole = (
        compare(wide, y, sources=sources, methods=[], groups=groups).scores["target_ridge"].mean()
        for groups in (None, X["nr"])
    )
    assert random < 0.7 * whole


def test_a_report_notes_in_its_account_what_the_warning_says():
    X, y, sources = panel()
    with pytest.warns(DataWarning) as told:
        made = report(X, y, sources=sources, methods=[])
    (said,) = (str(w.message) for w in told if "groups" in w.message.about)
    assert made.data["columns"]["account"]["notes"] == [said]
    assert made.html().count("repeat in the recent rows") == 1
    assert made.model.account_.notes == ()


@pytest.mark.parametrize("name", ALL)
def test_identifiers_and_dates_are_found_in_raw_tables_and_nothing_else(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table, is_recent, _, label = ALL[name]()
    rows = table[is_recent].drop(columns=label)
    if name == "flights":
        rows["time_hour"] = pd.to_datetime(rows["time_hour"])
    found = {(*w.about, w.about["column"]) for w in split_by(rows)[2]}
    expected = {
        "wage": {("column", "groups", "nr")},
        "flights": {("column", "time", "time_hour")},
        "gestation": {("column", "time", "date")},
    }
    assert found == expected.get(name, set())


def test_no_warning_where_the_split_was_chosen():
    X, _, _ = panel()
    assert split_by(X, cv=KFold(3))[2] == []
    assert split_by(X, time="day")[2] == []
    assert [type(w) for w in split_by(X, groups="nr")[2]] == [LeftOut]
    assert [w.about["column"] for w in split_by(X)[2]] == ["nr"]


def test_the_default_folds_are_those_of_five_folds_four_times():
    X, y, _ = panel()
    intake = gather(X, y)
    found = compare_intake(intake, methods=["data_pooling"])
    assert len(found.scores["data_pooling"]) == 20
    assert found.split == ""


def test_a_list_of_splits_holds_rows_of_the_table_also_beside_times():
    train, test = np.arange(30, 60), np.arange(10)
    splitting = split_by(np.zeros((60, 1)), time=np.arange(60)[::-1], cv=[(train, test)])[1]
    ((found, held),) = splitting.folds(np.zeros((60, 1)), np.zeros(60), np.arange(60), 1, 0)
    assert (found.tolist(), held.tolist()) == (train.tolist(), test.tolist())


@pytest.mark.parametrize("cv", [[([0, 1], [1, 2])], [([0, 1], [])], [([99], [0])]])
def test_splits_with_a_row_on_both_sides_or_none_on_one_are_refused(cv):
    splitting = split_by(np.zeros((9, 1)), cv=cv)[1]
    with pytest.raises(BadOption, match="Split 0 of cv"):
        splitting.folds(np.zeros((9, 1)), np.zeros(9), np.arange(9), 1, 0)
