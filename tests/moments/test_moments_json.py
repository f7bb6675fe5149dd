"""Moments as files: every bit comes back, and nothing else than moments of rows does."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score

from poolwise import Files, Moments, PooledRegressor, Sources, compare
from poolwise.errors import BadSource, BadTable, NotWritten, TooFewToShare
from poolwise.linear.regress import regress
from tests.laws.tables import tables
from tests.moments.stored_moments import (
    CENTRE,
    NAMES,
    PRECISIONS,
    ROWS,
    assert_same_bits,
    bits,
    loaded,
    made,
    moments_of,
    saved,
)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kind", made("fast"))
def test_every_bit_comes_back(kind, precision, tmp_path):
    moments = made(precision)[kind]
    again = Moments.load(saved(moments, tmp_path))
    assert_same_bits(moments, again)
    assert not again.mean.flags.writeable


@settings(deadline=None, max_examples=40)
@given(tables(), st.sampled_from(PRECISIONS))
def test_every_bit_of_any_table_comes_back(rows, precision):
    moments = Moments.of_rows([f"c{j}" for j in range(rows.shape[1])], rows, precision=precision)
    assert_same_bits(moments, loaded(moments.text()))
    written = json.loads(moments.text())["scatter"]  # without tails, what other programs read
    assert bits(np.array(written)) == bits(moments.scatter.pair.high)


def test_a_file_of_exact_moments_adds_up_to_the_bits_of_all_rows(tmp_path):
    parts = []
    for k in range(4):
        path = tmp_path / f"{k}.moments.json"
        moments_of(ROWS[k::4], "exact").save(path)
        parts.append(Moments.load(path))
    whole = moments_of(precision="exact")
    total = parts[3] + parts[1] + parts[0] + parts[2]
    assert bits(total.scatter.pair.low) == bits(whole.scatter.pair.low)
    assert bits(regress(total, "y").coef) == bits(regress(whole, "y").coef)


class TestWriting:
    def test_a_file_is_not_replaced_unless_asked(self, tmp_path):
        path = saved(moments_of(), tmp_path)
        with pytest.raises(NotWritten, match="exists already"):
            moments_of(ROWS[:5]).save(path)
        assert Moments.load(path).rows == 40
        moments_of(ROWS[:5]).save(path, overwrite=True)
        assert Moments.load(str(path)).rows == 5

    def test_a_write_that_fails_leaves_what_was_there(self, tmp_path, monkeypatch):
        path = saved(moments_of(), tmp_path)
        monkeypatch.setattr("os.fsync", lambda number: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(NotWritten, match=r"some\.moments\.json cannot be written: disk full"):
            moments_of(ROWS[:5]).save(path, overwrite=True)
        assert Moments.load(path).rows == 40
        assert [p.name for p in tmp_path.iterdir()] == [path.name]

    def test_what_cannot_be_written_is_told_by_its_own_name(self, tmp_path):
        with pytest.raises(NotWritten, match=r"/none/a\.moments\.json cannot be written: No such"):
            moments_of().save(tmp_path / "none" / "a.moments.json")
        with pytest.raises(NotWritten, match="it is a folder"):
            moments_of().save(tmp_path, overwrite=True)
        with pytest.raises(NotWritten, match="too long"):
            moments_of().save(tmp_path / ("a" * 300))
        assert not list(tmp_path.iterdir())

    def test_a_file_is_plain_ascii_json_without_constants_that_json_lacks(self, tmp_path):
        text = saved(Moments.empty(NAMES), tmp_path).read_bytes().decode("ascii")
        assert json.loads(text, parse_constant=pytest.fail)["low"] == [None] * 3

    @pytest.mark.parametrize("least", [0, 40])
    def test_enough_rows_are_written(self, least, tmp_path):
        path = tmp_path / "a.moments.json"
        moments_of().save(path, min_rows=least)
        assert Moments.load(path).rows == 40

    def test_too_few_rows_are_not_written(self, tmp_path):
        with pytest.raises(TooFewToShare, match="The table has 40 rows, fewer than 41"):
            moments_of().save(tmp_path / "a.moments.json", min_rows=41)
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("ones", [3, 37])
    def test_a_small_group_is_not_written(self, ones, tmp_path):
        rows = np.column_stack((ROWS, np.arange(40) < ones))
        moments = Moments.of_rows((*NAMES, "site=south"), rows)
        with pytest.raises(TooFewToShare, match=r"'site=south' has 3 rows, fewer than 10"):
            moments.save(tmp_path / "a.moments.json", min_rows=10)
        moments.save(tmp_path / "a.moments.json", min_rows=3)

    def test_a_share_between_zero_and_one_is_no_group(self, tmp_path):
        share = np.linspace(0.0, 1.0, 40)[:, None]
        path = tmp_path / "a.moments.json"
        Moments.of_rows(["share"], share).save(path, min_rows=10)
        assert Moments.load(path).names == ("share",)


def near(rows):
    return moments_of(np.random.default_rng(rows).normal(size=(rows, 3)) + CENTRE)


class TestSources:
    """A path stands for the moments in the file, wherever moments may stand."""

    @pytest.fixture
    def old(self, tmp_path):
        moments = near(200).select(["age", "y"])
        path = tmp_path / "old.moments.json"
        moments.save(path)
        return moments, path

    @pytest.fixture
    def target(self):
        return near(40)

    @pytest.mark.parametrize("kind", [str, Path])
    def test_a_path_is_read_as_moments(self, old, kind):
        moments, path = old
        for given_as in (
            kind(path),
            [kind(path)],
            (kind(path),),
            {"old": kind(path)},
            Sources({"old": kind(path)}),
        ):
            ((_, found),) = Sources(given_as)
            assert_same_bits(found, moments)

    def test_letters_of_a_suffix_may_be_large(self, old, tmp_path):
        path = tmp_path / "OLD.MOMENTS.JSON"
        old[0].save(path)
        ((_, found),) = Sources(path)
        assert_same_bits(found, old[0])

    def test_two_paths_are_two_sources(self, old):
        assert [name for name, _ in Sources((old[1], old[1]))] == ["source 1", "source 2"]

    def test_a_path_that_ends_otherwise_is_one_of_rows(self):
        ((_, source),) = Sources("old.csv")
        assert isinstance(source.X, Files)

    def test_fit_and_fit_moments_take_paths(self, old, target, tmp_path):
        moments, path = old
        known = PooledRegressor().fit_moments(target, {"old": moments})
        there = saved(target, tmp_path)
        for found in (
            PooledRegressor().fit_moments(target, {"old": str(path)}),
            PooledRegressor().fit_moments(there, {"old": path}),
            PooledRegressor().fit_moments(str(there), {"old": path}),
        ):
            assert bits(found.coef_) == bits(known.coef_)
        with pytest.raises(BadTable):
            PooledRegressor().fit_moments("target.csv")

    def test_fit_takes_a_path_beside_rows(self, old):
        moments, path = old
        rng = np.random.default_rng(1)
        X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
        renamed = replace(moments, names=("x0", "y")).affine(["x0", "y"], np.eye(2), -moments.mean)
        renamed.save(path, overwrite=True)
        known = PooledRegressor().fit(X, y, sources={"old": renamed})
        found = PooledRegressor().fit(X, y, sources={"old": str(path)})
        assert bits(found.coef_) == bits(known.coef_)
        scores = compare(X, y, sources={"old": str(path)}, methods=["data_pooling"], cv=3)
        assert "data_pooling" in str(scores)

    def test_text_as_long_as_the_target_is_read_whole_and_never_cut(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        rng = np.random.default_rng(2)
        path = "old.moments.json"
        Moments.of_rows(["x0", "y"], rng.normal(size=(100, 2))).save(path)
        X, y = rng.normal(size=(len(path), 2)), rng.normal(size=len(path))
        model = PooledRegressor("data_pooling").fit(X, y, sources=path)
        assert list(model.problem_.sources) == ["source"]
        with pytest.raises(BadSource, match=r"poolwise\.Sources"):
            cross_val_score(model, X, y, params={"sources": path}, error_score="raise", cv=4)
        for safe in (Sources(path), Path(path), {"old": path}):
            cross_val_score(model, X, y, params={"sources": safe}, error_score="raise", cv=4)
