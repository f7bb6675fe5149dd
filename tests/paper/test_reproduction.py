"""The reproduction from Python: outcomes by name, checked first, written, judged."""

import pytest

from paper import figures, reproduction, results
from paper.challenge import challenge
from paper.datasets import VARIABLE
from paper.errors import PaperError
from paper.reproduction import NAMES, NOT_JUDGED, entry_of, missing_data, reproduce
from paper.results import read_runs
from paper.specs import FIGURES, STATISTICS, TABLES
from tests.paper.made_up import made_up_data
from tests.paper.points_file import read_points

__all__ = ["made_up_data"]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_has_a_title_and_a_place_in_the_paper(name):
    entry = entry_of(name)
    assert entry.name == name
    assert entry.title
    assert entry.where.startswith("Figure" if name in FIGURES else "Table")


def test_tables_and_detailed_figures_need_data_and_simulations_need_none():
    need = {name: len(entry_of(name).needs) for name in NAMES}
    assert {need[name] for name in (*TABLES, STATISTICS)} == {9}
    assert [need[name] for name in FIGURES] == [0, 0, 0, 0, 1, 1, 1]


def test_what_is_missing_is_told_by_name(tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert missing_data("airfare", tmp_path) == ["airfare"]
    assert missing_data("gain_mean", tmp_path) == []
    (tmp_path / "airfare.csv.gz").write_bytes(b"")
    assert missing_data("airfare", tmp_path) == []


@pytest.mark.parametrize(
    ("names", "options", "says"),
    [
        (["correlation", "small6"], {}, "No table or figure named 'small6'"),
        (["correlation"], {"protocol": "printed"}, "No protocol named 'printed'"),
        (["correlation"], {"methods": ["ols", "ofset"]}, "No method named 'ofset'"),
        (["correlation", "wine"], {"data": "no/such/folder"}, "data='no/such/folder' must be"),
    ],
)
def test_everything_is_checked_before_anything_is_computed(tmp_path, names, options, says):
    out = tmp_path / "out"
    with pytest.raises(PaperError, match=says):
        next(reproduce(names, out=out, runs=2, **options))
    assert not out.exists()


def test_outcomes_come_one_by_one_with_their_files(made_up_data, tmp_path):
    outcomes = reproduce(["small3", "correlation"], methods=["dp"], out=tmp_path, runs=2)
    table = next(outcomes)
    assert not (tmp_path / "published" / "correlation").exists()
    assert table.name == "small3"
    assert [file.suffix for file in table.files] == [".csv", ".html", ".md", ".tex"]
    assert table.agreement.means.total == 9
    assert table.agreement.shortened
    assert table.says == (str(table.agreement),)
    assert {len(by["dp"]) for by in read_runs(table.files[0].parent).values()} == {2}
    (figure,) = outcomes
    assert figure.agreement is None
    assert figure.says == (NOT_JUDGED,)
    assert all(file.is_file() for file in (*table.files, *figure.files))


def test_a_quick_look_has_a_folder_of_its_own_and_whole_results_stay(made_up_data, tmp_path):
    for runs, folder in ((None, "small3"), (2, "small3-runs2"), (50, "small3")):
        (outcome,) = reproduce(["small3"], methods=["ols"], out=tmp_path, runs=runs)
        assert {file.parent.name for file in outcome.files} == {folder}
        assert bool(outcome.agreement.shortened) == (runs == 2)
    for runs, folder in ((None, "correlation"), (2, "correlation-runs2"), (200, "correlation")):
        (outcome,) = reproduce(["correlation"], out=tmp_path, runs=runs)
        assert {file.parent.name for file in outcome.files} == {folder}


def test_methods_of_earlier_commands_stay_in_the_table_and_are_told(made_up_data, tmp_path):
    (whole,) = reproduce(["small3"], out=tmp_path, runs=2)
    before = {file: file.read_bytes() for file in whole.files}
    (again,) = reproduce(["small3"], methods=["dp"], out=tmp_path, runs=2)
    assert {file: file.read_bytes() for file in again.files} == before
    assert again.agreement == whole.agreement
    assert again.says == (
        str(whole.agreement),
        "Also in it, from earlier commands: ols, dsft, dsft_nl.",
    )
    more, against = reproduce(["small3"], methods=["offset"], out=tmp_path, runs=2)
    assert against.name == "challenge offset"
    found = challenge("offset", {"small3": read_runs(tmp_path / "published" / "small3-runs2")})
    assert against.says == tuple(str(found).splitlines())
    assert all("offset" in file.read_text() for file in more.files)
    assert more.agreement.means.total == 4 * 9


def test_methods_that_other_code_made_leave_the_table_and_are_told(
    made_up_data, tmp_path, monkeypatch
):
    list(reproduce(["small3"], methods=["ols", "offset", "dp"], out=tmp_path, runs=1))
    monkeypatch.setattr(results, "code_hash", lambda: "other code")
    (outcome,) = reproduce(["small3"], methods=["dp"], out=tmp_path, runs=1)
    assert outcome.says[1:] == (
        "Removed because they were made by other code or are damaged: ols, offset; name them again "
        "to compute them.",
    )
    (again,) = reproduce(["small3"], methods=["dp"], out=tmp_path, runs=1)
    assert again.says[1:] == ()
    (named,) = reproduce(["small3"], methods=["ols", "offset"], out=tmp_path, runs=1)
    assert named.says[1:] == ("Also in it, from earlier commands: dp.",)


def test_a_bar_is_for_what_is_missing_alone(made_up_data, tmp_path, monkeypatch):
    shown = []

    def tracked(items, total, label, *, work, show):
        shown.append((total, [(item.dataset, work(item)) for item in items]))
        return ()

    monkeypatch.setattr(reproduction, "tracked", tracked)
    list(reproduce(["small3"], methods=["ols"], out=tmp_path, runs=2))
    (total, parts_made), *_ = shown
    assert total == sum(work for _, work in parts_made)
    assert dict(parts_made)["energy"] == 2 * 768
    file = tmp_path / "published/small3-runs2/results.jsonl"
    lines = file.read_text().splitlines()
    file.write_text("\n".join(line for line in lines if "energy" not in line))
    list(reproduce(["small3"], methods=["ols"], out=tmp_path, runs=2))
    assert shown[1] == (2 * 768, [("energy", 2 * 768)])


def test_data_is_fetched_once_before_anything_is_computed(made_up_data, tmp_path, monkeypatch):
    fetched = []

    def fetch(name, data):
        fetched.append((name, data))
        assert not list(tmp_path.rglob("*.csv"))

    monkeypatch.setattr(reproduction.datasets, "fetch", fetch)
    for _ in range(2):
        list(reproduce(["small3"], methods=["ols"], out=tmp_path, runs=1, data=tmp_path))
    assert fetched == [(name, tmp_path) for name in entry_of("small3").needs]


def test_figures_know_the_names_of_the_paper(tmp_path):
    (outcome,) = reproduce(["gain_mean"], methods=["dsft"], out=tmp_path, runs=2)
    assert "feature_transfer" in {point.curve for point in read_points(outcome.files[-1])}


def test_more_repetitions_than_the_paper_has_are_not_made(tmp_path):
    (outcome,) = reproduce(["correlation"], out=tmp_path, runs=10_000)
    assert all(sentence.startswith("Holds: ") for sentence in outcome.says)
    assert all(" Found: " in sentence for sentence in outcome.says)


def test_a_figure_of_the_corrected_protocol_is_not_judged(tmp_path, monkeypatch):
    points = figures.run("correlation", repetitions=2)
    monkeypatch.setattr(reproduction.figures, "run", lambda *_, **__: points)
    (outcome,) = reproduce(["correlation"], protocol="corrected", out=tmp_path)
    assert outcome.says == (NOT_JUDGED,)
    assert outcome.files[0].parent == tmp_path / "corrected" / "correlation"
