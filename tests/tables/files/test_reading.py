"""Files: any format, any layout, and the same moments as the same rows in memory."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

from poolwise import Files
from poolwise.errors import BadColumns, BadFile, BadOption, BadWeights, LeftOut, NotNumeric
from poolwise.tables.file_reader import Reader
from poolwise.tables.intake import gather
from tests.tables.files.writing import agree, read, write
from tests.tables.same import same


def test_every_format_gives_the_moments_of_the_same_rows_in_memory(tmp_path, suffix, target, rows):
    path = write(rows, tmp_path / f"old.{suffix}")
    assert agree(target, str(path), rows)
    assert agree(target, path, rows)
    assert agree(target, Files(path), rows, intercept=False)


@pytest.mark.parametrize("precision", ["auto", "fast", "accurate"])
def test_every_precision_agrees_with_memory(tmp_path, form, target, rows, precision):
    path = write(rows, tmp_path / f"old.{form}")
    ours, theirs = (read(target, s, precision).problem.sources["source"] for s in (path, rows))
    assert ours.precision == theirs.precision
    assert_allclose(ours.mean, theirs.mean, rtol=1e-14)
    S, T = (m.scatter_between(m.names, m.names) for m in (ours, theirs))
    assert_allclose(S, T, rtol=1e-12, atol=1e-9)


def test_files_of_a_glob_a_folder_and_a_list_are_one_source(tmp_path, form, target, rows):
    parts = [rows[:20], rows[20:45], rows[45:]]
    for k, part in enumerate(parts):
        write(part, tmp_path / "history" / f"part{k}.{form}")
    (tmp_path / "history" / "_SUCCESS").touch()
    (tmp_path / "history" / "README.md").write_text("not data")
    (tmp_path / "history" / ".hidden").mkdir()
    write(rows, tmp_path / "history" / ".hidden" / f"more.{form}")
    folder = tmp_path / "history"
    assert agree(target, f"{folder}/*.{form}", rows)
    assert agree(target, str(folder), rows)
    assert agree(target, Files([folder / f"part{k}.{form}" for k in range(3)]), rows)
    assert agree(target, Files([folder / f"part0.{form}", folder]), rows)  # none is read twice


def test_a_list_of_paths_is_as_many_sources(tmp_path, target, rows):
    one, two = (write(rows[i : i + 30], tmp_path / f"{i}.csv") for i in (0, 30))
    assert agree(target, [str(one), two], [rows[:30], rows[30:]])
    assert agree(target, (str(one), str(two)), [rows[:30], rows[30:]])
    assert agree(target, {"x": str(one), "z": two}, {"x": rows[:30], "z": rows[30:]})


def test_formats_may_be_mixed(tmp_path, target, rows):
    write(rows[:20], tmp_path / "h" / "a.csv")
    write(rows[20:40], tmp_path / "h" / "b.parquet")
    write(rows[40:], tmp_path / "h" / "c.feather")
    assert agree(target, tmp_path / "h", rows)


def test_folders_named_by_key_and_value_give_a_column(tmp_path, form, target, rows):
    for site, part in rows.groupby("site"):
        for on, piece in part.groupby("on"):
            folder = tmp_path / "h" / f"site={site}" / f"on={int(on)}"
            write(piece.drop(columns=["site", "on"]), folder / f"p.{form}")
    ordered = rows.assign(on=rows["on"].astype(int))
    assert agree(target.astype({"on": int}), str(tmp_path / "h"), ordered)
    some = ordered[ordered["site"] == "coast"]
    filtered = Files(tmp_path / "h", filter=[("site", "==", "coast")])
    assert agree(target.astype({"on": int}), filtered, some)


def test_keys_that_the_target_lacks_are_no_columns(tmp_path, target, rows):
    write(rows[:30], tmp_path / "h" / "year=2019" / "p.parquet")
    write(rows[30:], tmp_path / "h" / "year=2020" / "p.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert agree(target, tmp_path / "h", rows)
    late = Files(tmp_path / "h", filter=[("year", ">", 2019)])
    assert agree(target, late, rows[30:])
    with pytest.raises(BadColumns, match="yeer"):
        read(target, Files(tmp_path / "h", columns=["a", "yeer"]))


def test_rows_of_folders_that_cannot_match_are_not_read(tmp_path, form, target, rows, monkeypatch):
    for year in (2018, 2019, 2020):
        write(rows[year % 3 :: 3], tmp_path / "h" / f"year={year}" / f"p.{form}")
    touched, batches = [], Reader.batches

    def watched(reader, *args):
        touched.append(reader.file.keys["year"])
        return batches(reader, *args)

    monkeypatch.setattr(Reader, "batches", watched)
    files = Files(tmp_path / "h", filter=[("year", "<", 2020), ("count", ">", 1)])
    some = pd.concat([rows[2018 % 3 :: 3], rows[2019 % 3 :: 3]])
    assert agree(target, files, some[some["count"] > 1])
    assert set(touched) == {"2018", "2019"}


def test_columns_may_stand_in_another_order_in_each_file(tmp_path, form, target, rows):
    write(rows[:30], tmp_path / "h" / f"a.{form}")
    write(rows[30:][["y", "on", "site", "count", "a"]], tmp_path / "h" / f"b.{form}")
    assert agree(target, tmp_path / "h", rows)


def test_integers_here_and_fractions_there_are_numbers(tmp_path, form, target, rows):
    mixed = rows.astype({"count": float})
    mixed.loc[40, "count"] = 2.5
    write(mixed[:30].astype({"count": np.int8}), tmp_path / "h" / f"a.{form}")
    write(mixed[30:].astype({"count": np.float64}), tmp_path / "h" / f"b.{form}")
    assert agree(target, tmp_path / "h", mixed)


def test_a_csv_may_hold_integers_or_nothing_for_long_before_fractions(tmp_path, target):
    n = 450_000
    early = "".join(f"{k},,{k % 5}\n" for k in range(n))
    late = "".join(f"{k}.5,{k * k}.25,{k}\n" for k in range(50))
    assert len(early) > 2**22  # the first block, from which types could be guessed
    (tmp_path / "late.csv").write_text(f"a,count,y\n{early}{late}")
    ours = read(target, tmp_path / "late.csv", "fast")
    assert ours.problem.sources["source"].rows == n + 50
    assert ours.filled == {"source": {"count": n}}


def test_a_csv_has_the_kinds_of_the_target(tmp_path, target, rows):
    coded = rows.assign(site=np.arange(60) % 3 + 1)
    write(coded, tmp_path / "codes.csv")
    texts = target.assign(site=["01", "2"] * 15)
    ours = read(texts, tmp_path / "codes.csv").problem
    assert [n for n in ours.target.names if n.startswith("site")] == [
        "site=1",
        "site=2",
        "site=3",
    ]
    write(rows, tmp_path / "codes.csv")
    with pytest.raises(BadFile, match=r"codes.*'site'.*inland"):
        read(target.assign(site=1.0), tmp_path / "codes.csv")


def test_a_csv_can_be_written_as_people_do(tmp_path, target, rows):
    text = rows.to_csv(index=False, sep=";", decimal=",")
    (tmp_path / "old.csv").write_bytes(text.replace("Ærø", "Aerø").encode("latin1"))
    words = {"delimiter": ";", "decimal_point": ",", "encoding": "latin1"}
    renamed = rows.replace({"site": {"Ærø": "Aerø"}})
    assert agree(target, Files(tmp_path / "old.csv", csv=words), renamed)
    with pytest.raises(BadOption, match="sep"):
        read(target, Files(tmp_path / "old.csv", csv={"sep": ";"}))


def test_integers_of_more_than_53_bits_are_refused(tmp_path, form, target, rows):
    large = rows.assign(count=rows["count"].astype(np.int64) + 2**53 + 1)
    with pytest.raises(NotNumeric, match=r"'count' of .*large"):
        read(target, write(large, tmp_path / f"large.{form}"))


def test_dictionaries_and_views_are_text(tmp_path, target, rows):
    table = pa.Table.from_pandas(rows, preserve_index=False)
    at = table.schema.get_field_index("site")
    for k, kind in enumerate([pa.dictionary(pa.int8(), pa.string()), pa.string_view()]):
        column = table.column("site").cast(kind)
        held = table.set_column(at, "site", column)
        pf.write_feather(held, tmp_path / f"{k}.feather")
        assert agree(target, tmp_path / f"{k}.feather", rows)


def test_names_of_columns_and_paths_may_be_any_text(tmp_path, form, target, rows):
    names = {"a": "Größe [m²]", "count": "数", "y": "y"}
    folder = tmp_path / "données 数[1]*"
    write(rows.rename(columns=names), folder / f"été.{form}")
    ours = target.rename(columns=names)
    y = pd.Series(target["a"] / 1e3, name="y")
    sources = {"file": str(folder / f"été.{form}")}
    held = {"file": rows.rename(columns=names)}
    one, two = (gather(ours, y, sources=s, precision="exact") for s in (sources, held))
    assert same(one.problem.sources, two.problem.sources)


def test_only_the_columns_asked_for_are_read(tmp_path, form, target, rows):
    path = write(rows.assign(when=pd.Timestamp("2020-01-01")), tmp_path / f"old.{form}")
    with_all = read(target, path)
    assert [type(c) for c in with_all.cautions] == [LeftOut]
    files = Files(path, columns=["site", "a"])
    assert agree(target, files, rows[["a", "site", "y"]])
    assert read(target, files).cautions == ()


def test_weights_come_from_a_column(tmp_path, form, target, rows):
    w = np.arange(60) % 4
    path = write(rows.assign(w=w), tmp_path / f"old.{form}")
    assert agree(target, Files(path, weights="w"), (rows.drop(columns="y"), rows["y"], w))
    one, two = (read(target, s) for s in (Files(path, weights="w"), rows))
    assert one.cautions == two.cautions == ()


def test_bad_weights_name_file_and_column(tmp_path, form, target, rows):
    path = write(rows.assign(w=-1.0), tmp_path / f"old.{form}")
    with pytest.raises(BadWeights, match=r"'w' of .*old"):
        read(target, Files(path, weights="w"))
    with pytest.raises(BadColumns, match=r"old.*'v'"):
        read(target, Files(path, weights="v"))
    with pytest.raises((NotNumeric, BadFile), match=r"'site'"):
        read(target, Files(path, weights="site"))


@pytest.mark.parametrize(
    "condition",
    [
        [("count", ">=", 4), ("on", "==", True)],
        (ds.field("count") >= 4) & ds.field("on"),
        [[("count", ">=", 4), ("on", "==", True)], [("count", ">", 99)]],
    ],
    ids=["tuples", "expression", "any of"],
)
def test_a_filter_leaves_rows_out(tmp_path, suffix, target, rows, condition):
    path = write(rows, tmp_path / f"old.{suffix}")
    some = rows[(rows["count"] >= 4) & rows["on"]]
    assert agree(target, Files(path, filter=condition), some)
    features = Files(path, filter=condition, columns=["a", "site"])  # the filter's are read too
    assert agree(target, features, some[["a", "site", "y"]])


def test_a_filter_of_one_tuple_needs_no_list(tmp_path, target, rows):
    path = write(rows, tmp_path / "old.parquet")
    assert agree(target, Files(path, filter=("count", "<", 5)), rows[rows["count"] < 5])


def test_a_filter_skips_row_groups_that_cannot_match(tmp_path, target, rows):
    path = tmp_path / "old.parquet"
    ordered = rows.sort_values("a").reset_index(drop=True)
    pq.write_table(pa.Table.from_pandas(ordered), path, row_group_size=10)
    limit = ordered["a"][19]
    assert agree(target, Files(path, filter=[("a", "<=", limit)]), ordered[:20])


def test_a_filter_on_an_unknown_column_is_refused(tmp_path, form, target, rows):
    path = write(rows, tmp_path / f"old.{form}")
    with pytest.raises(BadOption, match=r"filter.*'count'"):
        read(target, Files(path, filter=[("cuont", ">", 1)]))
    with pytest.raises(BadOption, match="filter"):
        read(target, Files(path, filter="count > 1"))


def test_a_filter_that_leaves_nothing_is_told(tmp_path, form, target, rows):
    path = write(rows, tmp_path / f"old.{form}")
    taken = read(target, Files(path, filter=[("count", ">", 99)]))
    assert taken.problem.sources == {}
    assert [type(c) for c in taken.cautions] == [LeftOut]


def test_a_file_without_rows_changes_nothing(tmp_path, form, target, rows):
    write(rows, tmp_path / "h" / f"a.{form}")
    write(rows[:0], tmp_path / "h" / f"b.{form}")
    assert agree(target, tmp_path / "h", rows)
    assert [type(c) for c in read(target, tmp_path / "h" / f"b.{form}").cautions] == [LeftOut]
