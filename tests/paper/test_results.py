"""Results are kept cell by cell, survive any interrupt, and do not depend on how they were made."""

import json
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from paper import protocol, results
from paper.datasets import available
from paper.errors import PaperError
from paper.protocol import run_errors
from paper.results import cells_of, compute, finished, read_runs, unfinished
from paper.specs import read_table_spec
from tests.paper.made_up import made_up_data, stopping_process, wait_until

__all__ = ["made_up_data"]

SPEC = read_table_spec("small5")
DATASETS = ["concrete", "energy"]


@pytest.fixture
def computed(monkeypatch):
    """The methods that were computed, one for each cell."""
    seen = []

    def recorded(spec, dataset, label, *given, **more):
        seen.append(label)
        return run_errors(spec, dataset, label, *given, **more)

    monkeypatch.setattr(results, "run_errors", recorded)
    return seen


def cells(methods=None, protocol="published", runs=4, datasets=DATASETS):
    return [c for c in cells_of(SPEC, protocol, methods, runs) if c.dataset in datasets]


def run(chosen, folder, **options):
    return list(compute(chosen, folder, **options))


def of_other_code(chosen):
    return [replace(cell, code="x") for cell in chosen]


def test_runs_hold_one_line_per_fit(made_up_data, tmp_path):
    run(cells(), tmp_path)
    lines = (tmp_path / "runs.csv").read_text().splitlines()
    assert lines[0] == "table,dataset,run,method,rmse"
    assert len(lines) == 1 + 2 * 4 * 4
    assert lines[1].startswith("small5,concrete,0,ols,")
    (error,) = run_errors(SPEC, "energy", "dp", "published", runs=1)
    assert read_runs(tmp_path)["energy"]["dp"][0] == error  # to the last bit


def test_there_is_one_file_of_results_with_a_line_for_each_cell(made_up_data, tmp_path):
    run(cells(), tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {"results.jsonl", "runs.csv"}
    _, *lines = (tmp_path / "results.jsonl").read_text().splitlines()
    kept = [json.loads(line) for line in lines]
    assert [(line["dataset"], line["method"]) for line in kept] == [
        (cell.dataset, cell.method) for cell in cells()
    ]


def test_a_second_start_computes_nothing(made_up_data, tmp_path, monkeypatch):
    run(cells(), tmp_path)
    monkeypatch.setattr(protocol.datasets, "load", None)
    protocol._rows.cache_clear()
    assert run(cells(), tmp_path) == []


@pytest.mark.parametrize("change", ["runs", "protocol", "code"])
def test_cells_made_by_other_means_are_computed_again(made_up_data, tmp_path, change):
    run(cells(["dp"]), tmp_path)
    other = {
        "runs": cells(["dp"], runs=3),
        "protocol": cells(["dp"], "corrected"),
        "code": of_other_code(cells(["dp"])),
    }[change]
    assert run(other, tmp_path) == other


@pytest.mark.parametrize("package", ["numpy", "scipy", "sklearn"])
def test_another_version_of_what_computes_is_other_code(monkeypatch, package):
    before = results.code_hash()
    monkeypatch.setattr(sys.modules[package], "__version__", "0.0")
    assert results.code_hash() != before


def test_code_that_computes_a_table_is_hashed_and_exists():
    root, library = Path(results.__file__).parent, Path(results.poolwise.__file__).parent
    assert all((root / name).is_file() for name in results.OURS)
    assert all((library / name).is_dir() for name in results.LIBRARY)
    loaded = {m.split(".")[1] for m in sys.modules if m.startswith("poolwise.")}
    above = {"model", "evaluation", "report", "cli"}  # they call what computes, and change nothing
    assert loaded - above - set(results.LIBRARY) <= {"_typing", "errors", "wording"}


def test_finished_methods_stay_in_the_table_whatever_is_asked_for_next(
    made_up_data, tmp_path, computed
):
    run(cells(["offset", "dp"]), tmp_path)
    run(cells(["ols"]), tmp_path)
    assert computed == ["offset", "dp", "offset", "dp", "ols", "ols"]
    assert {d: list(by) for d, by in read_runs(tmp_path).items()} == {
        d: ["ols", "dp", "offset"] for d in DATASETS
    }
    run(cells(["dp", "ols", "offset"]), tmp_path / "at once")
    assert (tmp_path / "runs.csv").read_bytes() == (tmp_path / "at once/runs.csv").read_bytes()


def test_methods_that_lack_a_dataset_or_are_of_other_code_do_not_stay(made_up_data, tmp_path):
    run(cells(["dsft"], datasets=["energy"]), tmp_path)
    run(of_other_code(cells(["offset"])), tmp_path)
    run(cells(["dp"]), tmp_path)
    assert {d: list(by) for d, by in read_runs(tmp_path).items()} == {d: ["dp"] for d in DATASETS}


DAMAGES = {
    "empty": lambda line: b"",
    "half": lambda line: line[:120],
    "less a digit": lambda line: line[:-2],
    "no text": lambda line: b"\xff\xfe" + line,
    "no object": lambda line: b"[1, 2]",
    "no numbers": lambda line: line.replace(b'"rmse"', b'"mse"'),
    "another digit": lambda line: line.replace(b'"rmse": [', b'"rmse": [1'),
    "a run twice": lambda line: line.replace(b'"rmse": [', b'"rmse": [1.0, '),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_line_is_computed_again(made_up_data, tmp_path, damage):
    run(cells(), tmp_path)
    whole, file = (tmp_path / "runs.csv").read_bytes(), tmp_path / "results.jsonl"
    *lines, last = file.read_bytes().split(b"\n")
    assert json.loads(last)["dataset"] == "energy"
    file.write_bytes(b"\n".join([*lines, damage(last)]))
    (again,) = run(cells(), tmp_path)
    assert (again.dataset, again.method) == ("energy", "dp")
    assert (tmp_path / "runs.csv").read_bytes() == whole


@pytest.mark.parametrize("methods", [[], [""]])
def test_no_method_is_no_table(methods):
    with pytest.raises(PaperError, match="at least one name"):
        cells(methods)


CALL = """
from pathlib import Path
from tests.paper.test_results import cells, run
if __name__ == "__main__":
    print("ready", flush=True)
    run(cells(), Path({folder!r}), jobs={jobs})
"""


def process(folder, stop_after=-1, jobs=1):
    call = CALL.format(folder=str(folder), jobs=jobs)
    return stopping_process(folder.with_name(f"{folder.name} program"), call, stop_after)


@pytest.mark.slow
@pytest.mark.in_turn
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("signal_name", ["SIGKILL", "SIGINT"])
def test_after_a_kill_only_the_missing_cells_are_computed_and_the_result_is_the_same(
    made_up_data, tmp_path, signal_name, jobs
):
    if not hasattr(signal, signal_name):
        pytest.skip(f"there is no {signal_name} here")
    run(cells(), tmp_path / "whole")
    folder = tmp_path / "killed"
    with process(folder, stop_after=2, jobs=jobs) as killed:  # in each process
        assert killed.stdout.readline() == "ready\n"
        for _ in range(jobs):
            assert killed.stdout.readline() == "stopped\n"
        wait_until(lambda: len(finished(cells(), folder)) == 2 * jobs)
        killed.send_signal(getattr(signal, signal_name))
        killed.communicate(timeout=60)
    assert killed.returncode != 0
    assert not (folder / "runs.csv").exists()
    assert len(finished(cells(), folder)) == 2 * jobs  # all but the cells in flight
    missing = unfinished(cells(), folder)
    assert run(cells(), folder) == missing
    assert len(missing) == 8 - 2 * jobs
    same_runs(folder, tmp_path / "whole")


@pytest.mark.slow
def test_two_processes_may_write_to_one_folder(made_up_data, tmp_path):
    run(cells(), tmp_path / "whole")
    folder = tmp_path / "shared"
    with process(folder) as one, process(folder) as two:
        for each in (one, two):
            _, errors = each.communicate(timeout=60)
            assert each.returncode == 0, errors
    same_runs(folder, tmp_path / "whole")


def same_runs(folder, other):
    assert (folder / "runs.csv").read_bytes() == (other / "runs.csv").read_bytes()
    assert not list(folder.glob(".*"))  # no draft is left


@pytest.mark.slow
@pytest.mark.skipif(
    not all(map(available, DATASETS)),
    reason="the datasets are not here: POOLWISE_DATA should name their folder",
)
def test_two_processes_give_the_same_bytes_as_one(tmp_path):
    for jobs, name in ((1, "one"), (2, "two")):
        found = run(cells(), tmp_path / name, jobs=jobs)
        assert sorted((c.dataset, c.method) for c in found) == sorted(
            (c.dataset, c.method) for c in cells()
        )
    same_runs(tmp_path / "one", tmp_path / "two")


def test_no_processes_are_too_few(made_up_data, tmp_path):
    with pytest.raises(PaperError, match="jobs=0"):
        run(cells(), tmp_path, jobs=0)
