"""Workers: the same bits whoever reads, and however many of them."""

import joblib
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

from poolwise import Files, Moments, PooledRegressor, moments_of
from poolwise.errors import BadOption, NotFinite
from poolwise.tables import parquet
from poolwise.tables import rows as table_rows
from poolwise.tables.files import File

JOBS = [2, 3, -1]
PRECISIONS = ["fast", "accurate", "exact"]


def assert_same_bits(a, b):
    assert a.precision == b.precision
    assert a.text() == b.text()  # a file has every bit


def numbers(rows, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(3.0, 1.0, rows), "b": rng.normal(size=rows)})
    return frame.assign(y=frame["a"] - frame["b"] + rng.normal(size=rows))


@pytest.fixture
def folder(tmp_path):
    for k in range(5):
        frame = numbers(40 + k, seed=k)
        if k == 2:
            frame["site"] = ["coast", "inland"] * 21
        frame.to_parquet(tmp_path / f"{k}.parquet", index=False)
    return tmp_path


@pytest.fixture
def short_spans(monkeypatch):
    monkeypatch.setattr(table_rows, "SPAN", 64)
    monkeypatch.setattr(table_rows, "BLOCK", 50)


class TestFiles:
    @pytest.mark.parametrize("precision", PRECISIONS)
    @pytest.mark.parametrize("jobs", JOBS)
    def test_threads_change_no_bit(self, folder, jobs, precision):
        one = moments_of(folder, columns=["a", "b", "y"], precision=precision)
        some = moments_of(folder, columns=["a", "b", "y"], precision=precision, n_jobs=jobs)
        assert_same_bits(one, some)
        assert one.rows == 210

    @pytest.mark.slow
    @pytest.mark.parametrize("precision", PRECISIONS)
    def test_nor_do_processes(self, folder, precision):
        files = Files(folder, workers=2)
        one = moments_of(folder, columns=["a", "b", "y"], precision=precision)
        with joblib.parallel_config("loky"):
            assert_same_bits(one, moments_of(files, columns=["a", "b", "y"], precision=precision))

    def test_a_fit_has_the_same_bits_with_text_columns_that_some_files_lack(self, folder):
        target = numbers(30, seed=9).assign(site=["coast", "inland", "valley"] * 10)
        X, y = target.drop(columns="y"), target["y"]
        one = PooledRegressor().fit(X, y, sources=folder)
        two = PooledRegressor(n_jobs=2).fit(X, y, sources=folder)
        assert set(one.problem_.sources) == {"source"}
        assert one.coef_.tobytes() == two.coef_.tobytes()

    def test_what_files_say_goes_before_what_the_model_says(self, folder):
        target = numbers(30, seed=9)
        model = PooledRegressor(n_jobs=2)
        with pytest.raises(BadOption, match="workers=0"):
            model.fit(target[["a", "b"]], target["y"], sources=Files(folder, workers=0))
        with pytest.raises(BadOption, match=r"workers=.*a number of threads, a Dask client"):
            model.fit(target[["a", "b"]], target["y"], sources=Files(folder, workers="two"))

    def test_an_error_of_one_file_arrives_with_its_name(self, folder):
        numbers(30).assign(b=np.nan).to_parquet(folder / "3.parquet", index=False)
        with pytest.raises(NotFinite, match=r"3\.parquet' has missing values in 30 rows"):
            moments_of(Files(folder, workers=2), columns=["a", "b", "y"])


class TestRowGroups:
    @pytest.fixture
    def path(self, tmp_path, monkeypatch):
        monkeypatch.setattr(parquet, "PIECE", 1000)
        path = tmp_path / "long.parquet"
        pq.write_table(pa.table(dict(numbers(500))), path, row_group_size=40)
        return path

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_pieces_of_a_long_file_are_the_file(self, path, jobs):
        exact = moments_of(path, precision="exact", n_jobs=jobs)
        assert_same_bits(exact, moments_of(numbers(500), precision="exact"))
        fast = moments_of(path, precision="fast", n_jobs=jobs)
        assert_same_bits(fast, moments_of(path, precision="fast"))

    def test_a_file_has_as_many_pieces_as_its_size_asks_for(self, path):
        reader = parquet.ParquetReader(File(path, "parquet", {}))
        pieces = reader.pieces()
        assert pieces[0].where.endswith("long.parquet (row groups 0 to 0)")
        assert len(pieces) == 13
        assert sum(p.size for p in pieces) == pytest.approx(reader.size)
        assert sum(b.rows.num_rows for p in pieces for b in p.batches(["a"], {})) == 500

    def test_a_filter_leaves_out_row_groups_of_every_piece(self, path):
        some = moments_of(Files(path, filter=[("a", ">", 3.0)]), precision="exact")
        frame = numbers(500)
        assert_same_bits(some, moments_of(frame[frame["a"] > 3.0], precision="exact"))

    def test_an_error_names_the_row_groups(self, path):
        frame = numbers(500)
        frame.loc[450, "b"] = np.nan
        pq.write_table(pa.table(dict(frame)), path, row_group_size=40)
        with pytest.raises(NotFinite, match=r"long\.parquet \(row groups 11 to 11\)"):
            moments_of(path)


@pytest.mark.usefixtures("short_spans")
class TestTablesInMemory:
    @pytest.mark.parametrize("jobs", JOBS)
    def test_threads_change_no_bit_of_exact_moments(self, jobs):
        frame = numbers(1000)
        one = Moments.of_rows(["a", "b", "y"], frame, precision="exact")
        assert_same_bits(one, moments_of(frame, precision="exact", n_jobs=jobs))

    @pytest.mark.parametrize("precision", ["fast", "accurate"])
    def test_and_of_others_no_more_than_rounding(self, precision):
        frame = numbers(1000)
        one = Moments.of_rows(["a", "b", "y"], frame, precision=precision)
        two = moments_of(frame, precision=precision, n_jobs=2)
        three = moments_of(frame, precision=precision, n_jobs=3)
        assert_same_bits(two, three)
        assert two.rows == 1000
        names = ["a", "b", "y"]
        assert_allclose(two.scatter_between(names, names), one.scatter_between(names, names))

    def test_a_fit_is_the_same_with_weights(self):
        old, new = numbers(900), numbers(30, seed=1)
        weights = np.random.default_rng(2).integers(0, 4, 900).astype(float)
        given = (old[["a"]], old["y"], weights)
        fits = [
            PooledRegressor(precision="exact", n_jobs=jobs).fit(
                new[["a", "b"]], new["y"], sources=given
            )
            for jobs in (None, 2)
        ]
        assert fits[0].coef_.tobytes() == fits[1].coef_.tobytes()

    def test_columns_that_nearly_depend_on_each_other_are_read_again(self):
        frame = numbers(1000)
        frame["b"] = frame["a"] + 1e-9 * frame["b"]
        assert moments_of(frame, n_jobs=2).precision == moments_of(frame).precision == "exact"

    def test_values_that_are_not_finite_are_counted_in_all_rows(self):
        old, new = numbers(900), numbers(30, seed=1)
        old.loc[[5, 800], "a"] = np.inf
        model = PooledRegressor(n_jobs=2)
        with pytest.raises(NotFinite, match=r"'a' in 2 of 900 rows"):
            model.fit(new[["a", "b"]], new["y"], sources=(old[["a"]], old["y"]))


@pytest.mark.parametrize("jobs", [0, -2, 1.5, True, "two"])
def test_a_number_of_threads_that_is_none_is_refused(jobs):
    new = numbers(30)
    with pytest.raises(BadOption, match="n_jobs="):
        PooledRegressor(n_jobs=jobs).fit(new[["a", "b"]], new["y"])
