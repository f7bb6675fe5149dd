"""Files wherever a source may stand: in fits, comparisons, bars, and bounded memory."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import cross_val_score

from poolwise import Files, PooledRegressor, Sources, compare
from poolwise.errors import BadSource
from poolwise.tables.intake import gather
from tests.tables.files.test_missing import holed
from tests.tables.files.writing import agree, read, write, y_of


def test_files_print_their_paths():
    assert repr(Files(["a.csv", "b/*.csv"])) == "Files('a.csv', 'b/*.csv')"


def test_the_response_is_a_column_of_the_files(tmp_path, target, rows):
    path = write(rows, tmp_path / "old.csv")
    for source in ((Files(path), rows["y"]), (path, rows["y"], None)):
        with pytest.raises(BadSource):
            read(target, source)


def test_a_path_as_long_as_the_target_is_not_cut(tmp_path, target, rows, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = rows.drop(columns="site")
    path = write(rows, tmp_path / ("x" * (30 - len(".csv")) + ".csv")).name
    assert len(path) == len(target)
    assert agree(target, path, rows)
    X, y = target[["a", "count", "on", "new"]].astype(float), y_of(target).to_numpy()
    with pytest.raises(BadSource):
        cross_val_score(
            PooledRegressor(), X, y, params={"sources": path}, cv=3, error_score="raise"
        )
    scores = cross_val_score(PooledRegressor(), X, y, params={"sources": Files(path)}, cv=3)
    wrapped = cross_val_score(PooledRegressor(), X, y, params={"sources": Sources(path)}, cv=3)
    assert np.isfinite(scores).all()
    assert np.array_equal(scores, wrapped)


def test_a_method_that_needs_rows_reads_the_files_again(tmp_path, form, target, rows):
    path = write(rows.assign(w=np.arange(60) % 3), tmp_path / f"old.{form}")
    held = (rows.drop(columns="y"), rows["y"], np.arange(60) % 3)
    fits = [
        PooledRegressor("kernel_transfer").fit(target, y_of(target), sources=s)
        for s in (Files(path, weights="w"), held)
    ]
    assert_allclose(fits[0].coef_, fits[1].coef_, rtol=1e-10)


def test_methods_are_compared_on_files(tmp_path, target, rows):
    path = write(holed(rows), tmp_path / "old.parquet")
    X, y = target[["a", "count", "new"]], y_of(target)
    methods = ["target_only", "bayes_pooling"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, two = (
            compare(X, y, sources=s, methods=methods, cv=3)
            for s in ({"old": str(path)}, {"old": holed(rows)})
        )
    assert str(one) == str(two)


def test_poor_sums_are_read_again(tmp_path, target):
    rng = np.random.default_rng(0)
    a = rng.normal(size=500)
    rows = pd.DataFrame({"a": a, "new": a + 1e-9 * rng.normal(size=500), "y": a})
    path = write(rows, tmp_path / "old.parquet")
    ours, theirs = (
        gather(target[["a", "new"]], y_of(target), sources=s).problem for s in (path, rows)
    )
    assert ours.sources["source"].precision == theirs.sources["source"].precision == "exact"


def test_a_bar_shows_rows_and_bytes(tmp_path, target, rows, monkeypatch):
    from poolwise.moments import progress

    bars = []

    class Watched(progress.ReadingBar):
        def __init__(self, *args):
            super().__init__(*args)
            self.size = args[-1]
            bars.append(self)

    monkeypatch.setattr(progress, "ReadingBar", Watched)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    for suffix in ("csv", "csv.gz", "parquet", "feather"):
        write(rows, tmp_path / "h" / f"old.{suffix}")
    read(target, Files(tmp_path / "h", progress=True))
    assert [bar.rows for bar in bars] == [240, 240]  # for the levels of site, and for the sums
    assert all(bar.bytes == pytest.approx(bar.size, rel=0.01) for bar in bars)


MEMORY = """
import json, resource, sys
import numpy as np, pandas as pd, pyarrow.parquet, pyarrow.csv
from poolwise import PooledRegressor
rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(40, 9)), columns=[f"x{j}" for j in range(9)])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = PooledRegressor("data_pooling").fit(X, rng.normal(size=40), sources=sys.argv[1])
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(json.dumps([grown / 1024, model.problem_.sources["source"].rows]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss has other units")
@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_memory_is_bounded_however_long_the_file(tmp_path, suffix):
    n = 2_000_000
    values = np.random.default_rng(0).normal(size=(10, n))
    table = pa.table(dict(zip([*(f"x{j}" for j in range(9)), "y"], values, strict=True)))
    if suffix == "parquet":
        pq.write_table(table, tmp_path / "big.parquet", row_group_size=n)
    else:
        pf.write_feather(table, tmp_path / "big.feather")
    command = [sys.executable, "-c", MEMORY, str(tmp_path / f"big.{suffix}")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    grown, rows = json.loads(out)
    assert rows == n
    assert grown < 150  # megabytes; the table has 160
