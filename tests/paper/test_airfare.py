"""Air fares: three columns of a file in a folder, or a clear error."""

import gzip

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from paper.datasets import available, load
from paper.errors import OutOfReach
from tests.paper.loopback import NOT_HERE, nowhere, real, remote, written

__all__ = ["nowhere", "real", "remote"]

HERE = available("airfare")


def airfares(folder, text):
    folder.mkdir(exist_ok=True)
    return written(folder / "airfare.csv.gz", gzip.compress(text.encode()))


def test_air_fares_are_three_columns_in_the_order_of_the_paper(tmp_path):
    airfares(tmp_path, "Year,fare,nsmiles,large_ms\n2009,151.46,1204,0.29\n2000,172.83,692,0.63\n")
    assert_array_equal(load("airfare", tmp_path), [[1204, 0.29, 151.46], [692, 0.63, 172.83]])
    assert available("airfare", tmp_path)


def test_air_fares_may_stand_beside_names_with_commas(tmp_path):
    airfares(tmp_path, '\ufeffcity1,nsmiles,large_ms,fare\n"Albany, NY #1",970,0.4,81.4\n')
    assert_array_equal(load("airfare", tmp_path), [[970, 0.4, 81.4]])


def test_air_fares_come_from_a_folder_alone_and_the_error_names_their_source(tmp_path, remote):
    with pytest.raises(OutOfReach) as caught:
        load("airfare", tmp_path)
    for part in (
        f"no file {tmp_path / 'airfare.csv.gz'}",
        "no address",
        "Consumer Airfare Report of the US Department of Transportation, table 1",
        "POOLWISE_DATA",
        "--data DIR",
    ):
        assert part in str(caught.value)
    with pytest.raises(OutOfReach, match="No folder was named"):
        load("airfare")
    assert not available("airfare")
    assert remote.requests == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "No columns"),
        ("fare,nsmiles\n1,2\n", "'large_ms'"),
        ("nsmiles,large_ms,fare\n", "no rows"),
        ("nsmiles,large_ms,fare\n1,2,cheap\n", "'cheap'.*must be the Consumer"),
        ("nsmiles,large_ms,fare\n1,2,nan\n1,2,3\n", "not finite"),
    ],
    ids=["empty", "column", "rows", "word", "nan"],
)
def test_air_fares_that_are_not_such_are_told(tmp_path, text, message):
    airfares(tmp_path, text)
    with pytest.raises(OutOfReach, match=rf"airfare.csv.gz cannot be read.*{message}"):
        load("airfare", tmp_path)


@pytest.mark.parametrize(
    "spoil",
    [lambda c: c[:-20], lambda c: b"plain text", lambda c: c[:12] + bytes(8) + c[20:]],
    ids=["cut", "plain", "damaged"],
)
def test_an_air_fare_file_that_is_damaged_is_told(tmp_path, spoil):
    file = airfares(tmp_path, "nsmiles,large_ms,fare\n" + "1204,0.29,151.46\n" * 99)
    file.write_bytes(spoil(file.read_bytes()))
    with pytest.raises(OutOfReach, match="airfare"):
        load("airfare", tmp_path)


@pytest.mark.skipif(not HERE, reason=NOT_HERE)
def test_the_real_air_fares_correlate_as_documented(real):
    rows = load("airfare")
    assert rows.shape == (90_021, 3)
    correlations = np.corrcoef(rows.T)[[0, 0, 1], [1, 2, 2]]
    assert_array_equal(np.round(correlations, 3), [-0.500, 0.528, -0.206])
