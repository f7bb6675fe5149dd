"""Moments of a table without a target: the same from memory, files and streams."""

import json
import warnings

import numpy as np
import pytest

from poolwise import Files, Moments, moments_by_pattern, moments_of
from poolwise.errors import BadOption, LeftOut
from tests.tables.moments_of.doors import NAMES, N, bits, by_hand, folder_of, parquet_of


def test_every_door_gives_the_moments_of_all_columns(door, pumps):
    found = moments_of(door(pumps), precision="exact")
    assert found.names == NAMES
    assert bits(found) == bits(by_hand(pumps))


@pytest.mark.parametrize("precision", ["auto", "fast", "accurate"])
def test_every_precision_can_be_asked_for(some_door, pumps, precision):
    found, exact = moments_of(some_door(pumps), precision=precision), by_hand(pumps)
    assert found.precision == {"auto": "accurate"}.get(precision, precision)
    S, T = (m.scatter_between(NAMES, NAMES) for m in (found, exact))
    size = np.sqrt(np.outer(T.diagonal(), T.diagonal()))
    assert (np.abs(S - T) <= 1e-12 * size).all()  # sums of 300 products, in doubles at least
    assert (found.low == exact.low).all()
    assert (found.high == exact.high).all()


def test_all_indicators_of_a_text_are_no_reason_to_read_again(some_door, pumps):
    lonely = pumps.assign(site=["coast", *["inland"] * 200, *["Ærø"] * (N - 201)])
    lonely.loc[0, "load"] = np.nan  # the only row on the coast
    found = moments_by_pattern(some_door(lonely))
    assert [m.precision for m in found.values()] == ["accurate"] * 2
    nearly = pumps.assign(again=pumps["hours"] + 1e-9 * pumps["load"])
    assert moments_of(some_door(nearly)).precision == "exact"


def test_numbers_in_arrays_and_lists_have_names_by_position():
    rows = [[1.0, 2.0], [3.0, 5.0], [4.0, 1.0]]
    for given in (rows, np.array(rows)):
        assert moments_of(given).text() == Moments.of_rows(["x0", "x1"], rows).text()


def test_columns_can_be_chosen_and_left_out(door, pumps):
    some = moments_of(door(pumps), columns=["wear", "site"], precision="exact")
    assert bits(some) == bits(by_hand(pumps[["site", "wear"]]))
    some = moments_of(door(pumps), columns=["site"], response="wear", precision="exact")
    assert bits(some) == bits(by_hand(pumps[["site", "wear"]]))
    some = moments_of(door(pumps), drop=["site", "hours", "on"], precision="exact")
    assert bits(some) == bits(by_hand(pumps[["count", "load", "wear"]]))


def test_weights_come_from_a_column(door, pumps):
    weighed = pumps.assign(w=np.arange(N) % 4)
    found = moments_of(door(weighed), weights="w", precision="exact")
    assert bits(found) == bits(by_hand(pumps, weighed["w"]))
    split = moments_by_pattern(door(weighed), weights="w", precision="exact")
    assert bits(split["source"]) == bits(found)


def test_files_may_say_columns_weights_and_nulls_themselves(tmp_path, gaps):
    path = parquet_of(gaps.assign(w=2.0), tmp_path)
    told = Files(path, columns=["hours", "load"], weights="w", nulls="drop")
    with pytest.warns(LeftOut, match="80 of 300"):
        found = moments_of(told, response="wear")
    assert (found.names, found.rows, found.weight) == (("hours", "load", "wear"), 220, 440.0)
    assert moments_of(told, columns=["hours"], nulls="raise").names == ("hours",)
    some = moments_of(Files(path, filter=[("load", ">", 60.0)]), columns=["load"])
    assert some.rows == (gaps["load"] > 60.0).sum()
    with pytest.raises(BadOption, match=r"nulls='drop'.*moments_of"):
        moments_by_pattern(told)


def test_folders_named_by_key_and_value_give_columns(tmp_path, pumps):
    for (site, count), part in pumps.groupby(["site", "count"]):
        folder = tmp_path / f"site={site}" / f"count={count}"
        folder.mkdir(parents=True)
        part.drop(columns=["site", "count"]).to_parquet(folder / "rows.parquet", index=False)
    found = moments_of(tmp_path, precision="exact")
    assert bits(found.select(NAMES)) == bits(by_hand(pumps))
    codes = moments_of(tmp_path, texts=["count"])
    assert "count=8" in codes.names
    assert "count" not in codes.names


@pytest.mark.parametrize("precision", ["auto", "fast", "accurate", "exact"])
def test_any_number_of_threads_gives_the_same_bits(tmp_path, gaps, precision):
    folder = folder_of(gaps, tmp_path)
    one, *others = (
        {n: m.text() for n, m in found.items()}
        for found in (
            moments_by_pattern(folder, precision=precision, n_jobs=jobs) for jobs in (None, 2, -1)
        )
    )
    assert others == [one, one]
    with pytest.raises(BadOption, match="n_jobs=0"):
        moments_of(folder, n_jobs=0)
    with pytest.raises(BadOption, match="workers=0"):
        moments_of(Files(folder, workers=0))


def test_moments_can_be_sent(tmp_path, pumps):
    moments_of(pumps).save(tmp_path / "pumps.moments.json", min_rows=20)
    assert json.loads((tmp_path / "pumps.moments.json").read_text())["names"] == [*NAMES]
    assert Moments.load(tmp_path / "pumps.moments.json").text() == moments_of(pumps).text()


def test_nothing_is_warned_of_without_reason(door, pumps):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        moments_of(door(pumps))
        moments_by_pattern(door(pumps))
    assert not told
