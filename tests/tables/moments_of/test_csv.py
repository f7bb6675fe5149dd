"""Moments of CSV files: the types of their columns are found, or said."""

import pandas as pd
import pytest

from poolwise import Files, moments_by_pattern, moments_of
from poolwise.errors import BadFile, BadOption, LeftOut, NotNumeric


class TestCsv:
    """CSV has no types: its first rows tell, and may be wrong."""

    def write(self, path, rows, header="a,code,y"):
        path.write_text("\n".join([header, *rows]) + "\n")
        return path

    def test_codes_are_numbers_unless_one_says_that_they_are_text(self, tmp_path):
        path = self.write(tmp_path / "rows.csv", ["1,01,2", "2,02,4", "4,02,5"])
        assert moments_of(path).names == ("a", "code", "y")
        codes = moments_of(path, texts=["code"])
        assert codes.names == ("a", "code=01", "code=02", "y")
        assert codes.mean_of("code=02") == pytest.approx(2 / 3)

    def test_text_among_numbers_names_file_and_column_and_the_way_out(self, tmp_path):
        late = [f"{k},{k % 7},{k}" for k in range(600_000)]  # beyond the first block
        path = self.write(tmp_path / "late.csv", [*late, "1,x7,2"])
        with pytest.raises(BadFile, match=r"late\.csv.*'code'.*'x7'.*texts=\['code'\]"):
            moments_of(path)
        assert moments_of(path, drop=["code"]).rows == 600_001
        assert "code=x7" in moments_of(path, texts=["code"]).names

    def test_text_here_and_numbers_there_names_both_files(self, tmp_path):
        self.write(tmp_path / "a.csv", ["1,7,2"])
        self.write(tmp_path / "b.csv", ["1,x7,2"])
        says = (
            r"'code' holds numbers in .*a\.csv and text in .*b\.csv.*leave it out.*texts=\['code'\]"
        )
        with pytest.raises(NotNumeric, match=says):
            moments_of(tmp_path)
        assert moments_of(tmp_path, texts=["code"]).names == ("a", "code=7", "code=x7", "y")

    def test_a_type_of_parquet_is_not_changed(self, tmp_path):
        pd.DataFrame({"a": [1.0], "code": [7], "y": [2.0]}).to_parquet(tmp_path / "a.parquet")
        with pytest.raises(BadOption, match="texts='code'"):
            moments_of(tmp_path, texts=["code"])
        self.write(tmp_path / "b.csv", ["1,x7,2"])
        with pytest.raises(NotNumeric, match=r"numbers in .*a\.parquet and text in .*b\.csv"):
            moments_of(tmp_path)

    def test_a_column_that_is_empty_at_first_holds_what_comes_later(self, tmp_path):
        self.write(tmp_path / "a.csv", ["1,,2", "2,,2"])
        self.write(tmp_path / "b.csv", ["1,x7,2"])
        found = moments_by_pattern(tmp_path)
        assert {n: m.names for n, m in found.items()} == {
            "source": ("a", "code=x7", "y"),
            "source without code": ("a", "y"),
        }

    def test_numbers_with_a_word_for_missing_are_not_taken_for_levels(self, tmp_path):
        rows = [f"{k},{k % 40},{k}" for k in range(200)]
        path = self.write(tmp_path / "rows.csv", [*rows, "1,unknown,2"])
        with pytest.raises(NotNumeric, match=r"'code' .*'0' and 'unknown'.*null_values"):
            moments_of(path)
        assert len(moments_of(path, texts=["code"]).names) == 43
        files = Files(path, csv={"null_values": ["unknown"]}, nulls="drop")
        with pytest.warns(LeftOut):
            assert moments_of(files).names == ("a", "code", "y")

    def test_dates_may_be_levels_if_one_says_so(self, tmp_path):
        path = self.write(tmp_path / "rows.csv", ["1,2020-01-01,2", "2,2020-01-02,2"])
        with pytest.raises(NotNumeric, match=r"'code' of .*texts=\['code'\]"):
            moments_of(path)
        assert "code=2020-01-02" in moments_of(path, texts=["code"]).names
