"""Moments of a table that lacks values: refused, dropped, or one for each pattern."""

import numpy as np
import pytest

from poolwise import moments_by_pattern, moments_of
from poolwise.errors import BadColumns, LeftOut, NotFinite
from poolwise.linear.gaps import filled
from poolwise.tables.intake import gather
from tests.tables.moments_of.doors import N, bits, by_hand, folder_of


def test_a_missing_value_is_refused_with_counts(door, gaps):
    with pytest.raises((NotFinite, NotFinite), match=r"'site'.*'load'|'load'.*'site'") as told:
        moments_of(door(gaps))
    assert "nulls=" in str(told.value)
    assert moments_of(door(gaps), drop=["site", "load"]).rows == N


def test_rows_that_lack_a_value_are_dropped_and_counted(door, gaps):
    with pytest.warns(LeftOut, match=r"120 of 300 .*'site' in 60.*|'load' in 80.*") as seen:
        found = moments_of(door(gaps), nulls="drop", precision="exact")
    assert bits(found) == bits(by_hand(gaps.dropna()))
    (caution,) = (w.message for w in seen)
    assert (caution.about["dropped"], caution.about["rows"]) == (120, 300)
    assert caution.about["counts"] == {"load": 80, "site": 60}
    assert seen[0].filename == __file__


def test_each_pattern_of_missing_columns_has_its_moments(door, gaps):
    found = moments_by_pattern(door(gaps), name="pumps", response="wear", precision="exact")
    patterns = {
        "pumps": gaps[120:],
        "pumps without load": gaps[:60].drop(columns="load"),
        "pumps without site": gaps[80:120].drop(columns="site"),
        "pumps without site, load": gaps[60:80].drop(columns=["load", "site"]),
    }
    assert found.keys() == patterns.keys()
    for name, rows in patterns.items():
        assert bits(found[name]) == bits(by_hand(rows)), name
    same = moments_by_pattern(door(gaps), name="pumps", precision="exact")
    assert {n: bits(m) for n, m in same.items()} == {n: bits(m) for n, m in found.items()}


def test_the_source_of_a_fit_is_filled_from_its_patterns_alone(some_door, gaps):
    numbers = gaps.drop(columns="site")
    X, y = numbers.drop(columns="wear").dropna()[:40], gaps["wear"].dropna()[-40:]
    rows = some_door(numbers)
    theirs = gather(X, y, sources={"pumps": numbers}, precision="exact").problem.sources
    ours = moments_by_pattern(rows, name="pumps", response="wear", precision="exact")
    assert list(ours) == ["pumps", "pumps without load"]
    names = theirs["pumps"].names
    both = filled(names, "wear", [m.select([n for n in names if n in m]) for m in ours.values()])
    assert bits(both.moments) == bits(theirs["pumps"])


def test_a_row_without_its_response_is_of_no_use(door, gaps):
    gaps.loc[7, "wear"] = np.nan
    with pytest.raises(
        NotFinite, match=r"response of .*'wear' in 1|lacks the response 'wear' in 1 of"
    ):
        moments_by_pattern(door(gaps), response="wear")
    found = moments_by_pattern(door(gaps))
    assert found["source without load, wear"].rows == 1


def test_a_row_without_any_value_is_refused(some_door, gaps):
    gaps = gaps.drop(columns="on").astype({"count": float})
    gaps.loc[3] = np.nan
    with pytest.raises(NotFinite, match="1 row in"):
        moments_by_pattern(some_door(gaps))


def test_the_response_alone_can_be_split(some_door, pumps):
    found = moments_by_pattern(some_door(pumps[["wear"]]), response="wear", precision="exact")
    assert bits(found["source"]) == bits(by_hand(pumps[["wear"]]))


def test_a_file_without_a_column_is_a_pattern_or_an_error(tmp_path, pumps):
    folder = folder_of(pumps, tmp_path)
    pumps[::5].drop(columns="load").to_parquet(folder / "0.parquet", index=False)
    found = moments_by_pattern(folder)
    assert {n: m.rows for n, m in found.items()} == {"source": 240, "source without load": 60}
    for nulls in ("raise", "drop"):
        with pytest.raises(BadColumns, match=r"0\.parquet.*'load'"):
            moments_of(folder, nulls=nulls)


def test_a_column_without_any_value_is_missing_everywhere(some_door, pumps):
    void = pumps.assign(memo=None)
    with pytest.raises((NotFinite, NotFinite), match="'memo'"):
        moments_of(some_door(void))
    with pytest.warns((LeftOut, LeftOut)) as seen:
        assert moments_of(some_door(void), nulls="drop").rows == 0
    assert [w.category for w in seen] == [LeftOut, LeftOut]
    found = moments_by_pattern(some_door(void), precision="exact")
    assert {n: bits(m) for n, m in found.items()} == {"source": bits(by_hand(pumps))}


def test_infinity_is_no_missing_value(some_door, pumps):
    pumps.loc[3, "load"] = np.inf
    for nulls in ("raise", "drop"):
        with pytest.raises(NotFinite, match=r"'load' in 1"):
            moments_of(some_door(pumps), nulls=nulls)
