"""Runs are kept one by one, survive any interrupt, and do not depend on how they were made."""

import signal
import sys
from pathlib import Path

import pytest

from poolwise.errors import BadOption
from poolwise.experiments import parts as making
from poolwise.experiments import tables
from poolwise.experiments.datasets import available
from poolwise.experiments.parts import parts_of
from poolwise.experiments.runs import compute, read_runs
from poolwise.experiments.specs import read_table_spec
from tests.experiments.made_up import made_up, made_up_data, stopping_process
from tests.test_layers import ALL, inside

__all__ = ["made_up", "made_up_data"]

SPEC = read_table_spec("small5")
DATASETS = ["concrete", "energy"]


@pytest.fixture
def computed(monkeypatch):
    """The methods that were fitted, one for each run."""
    seen, predict = [], tables._predictions

    def recorded(spec, label, *given):
        seen.append(label)
        return predict(spec, label, *given)

    monkeypatch.setattr(tables, "_predictions", recorded)
    return seen


def parts(**options):
    return parts_of(SPEC, "published", **{"datasets": DATASETS, "runs": 4, **options})


def run(chosen, folder, **options):
    return list(compute(chosen, folder, **options))


def test_runs_hold_one_line_per_fit(made_up_data, tmp_path):
    run(parts(), tmp_path)
    lines = (tmp_path / "runs.csv").read_text().splitlines()
    assert lines[0] == "table,dataset,run,method,rmse"
    assert len(lines) == 1 + 2 * 4 * 4
    assert lines[1].startswith("small5,concrete,0,ols,")
    scored = {s.method: s.rmse for s in tables.scores(SPEC, "energy", ["dp"], "published", runs=1)}
    assert read_runs(tmp_path)["energy"]["dp"][0] == scored["dp"]  # to the last bit


def test_a_second_start_computes_nothing(made_up_data, tmp_path, monkeypatch):
    run(parts(), tmp_path)
    monkeypatch.setattr(tables.datasets, "load", None)
    tables._rows.cache_clear()
    assert run(parts(), tmp_path) == parts()


@pytest.mark.parametrize("change", ["runs", "protocol", "code"])
def test_parts_made_by_other_means_are_made_again(made_up_data, tmp_path, change):
    run(parts(methods=["dp"]), tmp_path)
    kept = (tmp_path / "parts" / "energy-dp.csv").read_text()
    other = {
        "runs": parts(methods=["dp"], runs=3),
        "protocol": parts_of(SPEC, "corrected", methods=["dp"], datasets=DATASETS, runs=4),
        "code": [making.Part(**{**vars(part), "code": "x"}) for part in parts(methods=["dp"])],
    }[change]
    run(other, tmp_path)
    assert (tmp_path / "parts" / "energy-dp.csv").read_text() != kept


@pytest.mark.parametrize("package", ["numpy", "scipy", "sklearn"])
def test_another_version_of_what_computes_is_other_code(monkeypatch, package):
    before = parts()[0].head
    monkeypatch.setattr(sys.modules[package], "__version__", "0.0")
    assert parts()[0].head != before


def test_code_that_computes_no_number_of_a_table_is_not_hashed():
    assert making._is_aside(Path("cli/app.py"))
    assert making._is_aside(Path("experiments/drawing.py"))
    assert not making._is_aside(Path("tables/arrays.py"))
    assert not making._is_aside(Path("experiments/tables.py"))


def test_code_that_a_table_is_computed_by_is_hashed():
    paths, reached, todo = dict(ALL), set(), ["experiments.runs"]
    while todo:
        name = todo.pop()
        if name and name not in reached:  # the package itself imports everything
            reached.add(name)
            todo += inside(name, paths[name])
    assert {"experiments.workers", "methods.data_pooling", "row_sums"} <= reached
    aside = {name for name in reached if making._is_aside(Path(name.replace(".", "/")))}
    assert aside == {"progress"}  # by way of downloads, which have a bar


def test_what_is_set_aside_exists():
    root = Path(making.__file__).parents[1]
    assert all((root / a).is_dir() or (root / f"{a}.py").is_file() for a in making.ASIDE)


def test_finished_methods_stay_in_the_table_whatever_is_asked_for_next(
    made_up_data, tmp_path, computed
):
    run(parts(methods=["offset", "dp"]), tmp_path)
    run(parts(methods=["ols"]), tmp_path)
    assert computed == [*["offset"] * 4, *["dp"] * 4] * 2 + ["ols"] * 8
    assert {d: list(by) for d, by in read_runs(tmp_path).items()} == {
        d: ["ols", "dp", "offset"] for d in DATASETS
    }
    run(parts(methods=["dp", "ols", "offset"]), tmp_path / "at once")
    assert (tmp_path / "runs.csv").read_bytes() == (tmp_path / "at once/runs.csv").read_bytes()


def test_methods_that_lack_a_dataset_or_are_of_other_code_do_not_stay(made_up_data, tmp_path):
    run(parts(methods=["dsft"], datasets=["energy"]), tmp_path)
    run([making.Part(**{**vars(p), "code": "x"}) for p in parts(methods=["offset"])], tmp_path)
    run(parts(methods=["dp"]), tmp_path)
    assert {d: list(by) for d, by in read_runs(tmp_path).items()} == {d: ["dp"] for d in DATASETS}


DAMAGES = {
    "empty": lambda whole: b"",
    "another head": lambda whole: b"# small5",
    "half": lambda whole: whole[:120],
    "less a digit": lambda whole: whole[:-2],
    "one line more": lambda whole: whole + b"4,1.0\n",
    "no text": lambda whole: b"\xff\xfe" + whole,
    "no number": lambda whole: whole.replace(b"\n0,", b"\nzero,"),
    "another digit": lambda whole: whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:],
    "a run twice": lambda whole: whole.replace(b"\n0,", b"\n1,"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_part_is_made_again(made_up_data, tmp_path, damage):
    run(parts(), tmp_path)
    whole = (tmp_path / "runs.csv").read_bytes()
    part = tmp_path / "parts" / "energy-dp.csv"
    part.write_bytes(damage(part.read_bytes()))
    run(parts(), tmp_path)
    assert (tmp_path / "runs.csv").read_bytes() == whole


@pytest.mark.parametrize("methods", [[], [""]])
def test_no_method_is_no_table(methods):
    with pytest.raises(BadOption, match="at least one name"):
        parts(methods=methods)


@pytest.mark.parametrize("lines", [0, 1, 3])
@pytest.mark.parametrize(
    "half", [b"", b"3", b"3,0.1", b"\xff"], ids=["", "run", "digit", "no text"]
)
def test_whole_lines_of_a_journal_are_kept(made_up_data, tmp_path, computed, lines, half):
    run(parts(methods=["dp"]), tmp_path)
    whole, kept = (tmp_path / "runs.csv").read_bytes(), tmp_path / "parts"
    text = (kept / "energy-dp.csv").read_bytes()
    (kept / "energy-dp.csv").unlink()
    head = next(part.head for part in parts(methods=["dp"]) if part.dataset == "energy")
    runs = text.splitlines(keepends=True)[1 : 1 + lines]
    begun = b"".join((head.encode() + b"\n", *runs)) + half
    (kept / "energy-dp.csv.one.journal").write_bytes(begun)
    (kept / "energy-dp.csv.two.journal").write_bytes(b"# other code\n0,1.0\n")
    computed.clear()
    run(parts(methods=["dp"]), tmp_path)
    assert len(computed) == (4 if half == b"\xff" else 4 - lines)
    assert (kept / "energy-dp.csv").read_bytes() == text
    assert (tmp_path / "runs.csv").read_bytes() == whole
    assert not list(tmp_path.rglob("*.journal"))


def test_a_kill_after_the_last_part_leaves_no_journal_for_good(made_up_data, tmp_path):
    run(parts(), tmp_path)
    (tmp_path / "parts" / "energy-dp.csv.one.journal").write_text("# of a process that was killed")
    run(parts(), tmp_path)
    assert not list(tmp_path.rglob("*.journal"))


CALL = """
    from pathlib import Path
    from tests.experiments.test_runs import parts, run
    run(parts(), Path({folder!r}))
"""


def process(folder, stop_after=-1):
    call = CALL.strip().format(folder=str(folder))
    return stopping_process(folder.with_name(f"{folder.name} program"), call, stop_after)


@pytest.mark.slow
@pytest.mark.parametrize("signal_name", ["SIGKILL", "SIGINT"])
def test_after_a_kill_only_the_missing_runs_are_computed_and_the_result_is_the_same(
    made_up_data, tmp_path, signal_name, computed
):
    if not hasattr(signal, signal_name):
        pytest.skip(f"there is no {signal_name} here")
    run(parts(), tmp_path / "whole")
    folder = tmp_path / "killed"
    with process(folder, stop_after=4 + 4 + 3) as killed:  # in the last run of the third part
        assert killed.stdout.readline() == "ready\n"
        assert killed.stdout.readline() == "stopped\n"
        killed.send_signal(getattr(signal, signal_name))
        killed.communicate(timeout=60)
    assert killed.returncode != 0
    assert not (folder / "runs.csv").exists()
    kept = [part for part in parts() if part.read(folder / "parts") is not None]
    assert len(kept) == 2
    (journal,) = folder.rglob("*.journal")
    assert len(journal.read_text().splitlines()) == 1 + 3
    computed.clear()
    assert run(parts(), folder)[:2] == kept
    assert len(computed) == 2 * 4 * 4 - 11
    same_files(folder, tmp_path / "whole")


@pytest.mark.slow
def test_two_processes_may_write_to_one_folder(made_up_data, tmp_path):
    run(parts(), tmp_path / "whole")
    folder = tmp_path / "shared"
    with process(folder) as one, process(folder) as two:
        for each in (one, two):
            _, errors = each.communicate(timeout=60)
            assert each.returncode == 0, errors
    same_files(folder, tmp_path / "whole")


def same_files(folder, other):
    """Both hold the same files, of the same bytes."""
    ours, theirs = (
        {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*.*")}
        for root in (folder, other)
    )
    assert ours == theirs


@pytest.mark.slow
@pytest.mark.skipif(
    not all(map(available, DATASETS)),
    reason="the datasets are not here: POOLWISE_DATA should name their folder",
)
def test_two_processes_give_the_same_bytes_as_one(tmp_path):
    run(parts(), tmp_path / "one", jobs=1)
    assert sorted(map(str, run(parts(), tmp_path / "two", jobs=2))) == sorted(map(str, parts()))
    assert (tmp_path / "one/runs.csv").read_bytes() == (tmp_path / "two/runs.csv").read_bytes()


def test_no_processes_are_too_few(made_up_data, tmp_path):
    with pytest.raises(BadOption, match="jobs=0"):
        run(parts(), tmp_path, jobs=0)
