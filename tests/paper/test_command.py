"""The command, as a user meets it: results, messages without tracebacks, interrupts."""

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from paper import protocol
from paper.__main__ import app
from paper.datasets import available
from paper.errors import OutOfReach
from paper.reproduction import NAMES
from paper.results import cells_of, finished
from paper.specs import read_table_spec
from tests.paper.made_up import made_up_data, stopping_process, wait_until

__all__ = ["made_up_data"]

ROOT = Path(__file__).parents[2]
SMALL3 = read_table_spec("small3")
QUICK = ["small3", "--runs", "1", "--methods", "ols,dp"]

needs_data = pytest.mark.skipif(
    not all(map(available, SMALL3.datasets)),
    reason="the datasets are not here: POOLWISE_DATA should name their folder",
)


def reproduce(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def words_of(text):
    """Return the text of a message, without the frame and line breaks of a terminal."""
    return " ".join(text.replace("│", " ").split())


def methods_in(runs):
    with runs.open(newline="") as file:
        return list(dict.fromkeys(row["method"] for row in csv.DictReader(file)))


def test_the_list_names_every_table_and_figure_and_the_data_it_needs():
    told = reproduce("list")
    assert told.exit_code == 0, told.output
    first_words = [line.partition(" ")[0] for line in told.stdout.splitlines()]
    assert [word for word in first_words if word in NAMES] == list(NAMES)
    assert "Figure 2a" in told.stdout
    assert told.stdout.count("none needed") == 4  # the simulations


def test_names_to_type_are_whole_in_a_narrow_window():
    told = CliRunner().invoke(app, ["list"], env={"COLUMNS": "40"})
    lines = told.stdout.splitlines()
    assert max(map(len, lines)) <= 40
    assert [line for line in lines if line in NAMES] == list(NAMES)


def test_help_names_the_options():
    told = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"})
    options = ("--protocol", "--methods", "--jobs", "--out", "--runs", "--data")
    assert [option for option in options if option not in told.output] == []


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["smal5"], 2, "No table or figure named 'smal5'. Did you mean 'small5'? There are 'sma"),
        (["gain_mean", "smal5"], 2, "PaperError: No table or figure named 'smal5'."),
        (["all", "small3"], 2, "'all' stands for every name: use it alone."),
        (["small3", "list"], 2, "'list' stands for every name: use it alone."),
        (["small5", "--methods", "ofset"], 2, "There are 'ols', 'dsft', 'dsft_nl', 'dp',"),
        (["gain_mean", "small5", "--methods", "ols,ofset"], 2, "Did you mean 'offset'?"),
        (["small5", "--protocol", "printed"], 2, "'printed' is not one of"),
        (["small5", "--data", "no/such/folder"], 2, "data='no/such/folder' must be"),
        (["gain_mean", "wine", "--data", "no/such/folder"], 2, "an existing folder"),
        (["small5", "--jobs", "0"], 2, "'--jobs'"),
        (["small5", "--runs", "0"], 2, "'--runs'"),
        ([], 2, "NAME"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_written(tmp_path, arguments, code, says):
    out = tmp_path / "out"
    told = reproduce(*arguments, "--out", out)
    assert told.exit_code == code
    assert says in words_of(told.stderr)
    assert "Traceback" not in told.output
    assert not out.exists()


@pytest.mark.parametrize("below", ["", "folder/of/it"])
def test_a_folder_that_is_a_file_is_told(tmp_path, below):
    file = tmp_path / "out"
    file.write_text("a file")
    told = reproduce("correlation", "--runs", "2", "--out", file / below)
    assert told.exit_code == 2
    assert words_of(told.stderr) == (
        f"PaperError: out='{file / below}' must be a folder to write to, and {file} is a file."
    )


def test_what_is_out_of_reach_is_left_out_and_the_rest_is_computed(tmp_path, monkeypatch):
    monkeypatch.delenv("POOLWISE_DATA", raising=False)
    few = ("--runs", "2", "--out", tmp_path / "out")
    told = reproduce("airfare", "correlation", "gain_mean", *few)
    assert told.exit_code == 1
    assert [line for line in told.stdout.splitlines() if line in NAMES] == [
        "correlation",
        "gain_mean",
    ]
    assert told.stderr.startswith("Left out: airfare (The dataset 'airfare' cannot be loaded.")
    assert told.stderr.count("\n") == 1
    alone = reproduce("airfare", *few)
    assert alone.exit_code == 1
    assert alone.stderr.startswith("OutOfReach: The dataset 'airfare' cannot be loaded.")


def test_one_reason_is_told_once(tmp_path, monkeypatch):
    def fetch(name, data):
        raise OutOfReach(f"The dataset {name!r} cannot be loaded.")

    monkeypatch.setattr(protocol.datasets, "fetch", fetch)
    monkeypatch.setattr(protocol.datasets, "available", lambda name, data: False)
    told = reproduce("small5", "statistics", "small3", "correlation", *QUICK[1:], "--out", tmp_path)
    assert told.exit_code == 1
    assert "correlation.csv" in told.stdout
    assert told.stderr.startswith(
        "Left out: small5, statistics, small3 (The dataset 'concrete' cannot"
    )
    assert told.stderr.count("\n") == 1


def test_json_has_the_documented_keys(tmp_path, monkeypatch):
    monkeypatch.delenv("POOLWISE_DATA", raising=False)
    listed = json.loads(reproduce("list", "--json").stdout)
    assert {k: listed[k] for k in ("format", "version")} == {
        "format": "poolwise reproduction list",
        "version": 1,
    }
    assert [x["name"] for x in listed["results"]] == list(NAMES)
    assert all([*x] == ["name", "where", "title", "needs", "missing"] for x in listed["results"])
    told = reproduce("airfare", "correlation", "--runs", "2", "--json", "--out", tmp_path)
    assert told.exit_code == 1
    found = json.loads(told.stdout)
    assert [*found] == ["format", "version", "protocol", "results", "left_out"]
    assert [x["name"] for x in found["left_out"]] == ["airfare"]
    assert [[*x] for x in found["results"]] == [["name", "says", "files"]]


def test_a_figure_is_written_and_with_few_repetitions_not_judged(tmp_path):
    told = reproduce("correlation", "--runs", "3", "--methods", "mean_fill", "--out", tmp_path)
    assert told.exit_code == 0, told.output
    folder = tmp_path / "published" / "correlation-runs3"
    assert {file.suffix for file in folder.iterdir()} == {".svg", ".png", ".csv"}
    assert "Not judged" in told.stdout
    assert "mean_fill" in (folder / "correlation.csv").read_text()
    assert all(str(file) in told.stdout for file in folder.iterdir())


def test_a_table_is_written_in_four_formats_and_judged(made_up_data, tmp_path):
    told = reproduce(*QUICK, "--protocol", "corrected", "--out", tmp_path)
    assert told.exit_code == 0, told.output
    folder = tmp_path / "corrected" / "small3-runs1"
    written = {file.name for file in folder.iterdir()}
    assert written == {"runs.csv", "results.jsonl", "small3.md", "small3.tex", "small3.html"}
    assert "of 18 means" in told.stdout
    assert "fewer runs than in the paper" in told.stdout
    assert len((folder / "runs.csv").read_text().splitlines()) == 1 + 2 * len(SMALL3.datasets)


def test_two_tables_are_judged_together(made_up_data, tmp_path):
    told = reproduce(*QUICK, "small5", "--out", tmp_path)
    *_, last = told.stdout.splitlines()
    assert last.startswith("2 tables together, published protocol. Agree with the printed digits:")
    assert "of 36 means" in last


@pytest.mark.parametrize(
    "methods",
    [["--methods", "ols,dp,offset"], ["--methods", "ols", "--methods", "data_pooling, offset"]],
    ids=["with commas", "repeated"],
)
def test_methods_are_given_with_commas_or_one_by_one(made_up_data, tmp_path, methods):
    told = reproduce("small3", "--runs", "1", *methods, "--out", tmp_path)
    assert told.exit_code == 0, told.output
    assert methods_in(tmp_path / "published/small3-runs1/runs.csv") == ["ols", "dp", "offset"]


def test_a_method_may_be_called_what_rendered_tables_call_it(tmp_path):
    told = reproduce("correlation", "--runs", "2", "--methods", "dsft-nl", "--out", tmp_path)
    assert told.exit_code == 0, told.output
    assert (
        "kernel_transfer" in (tmp_path / "published/correlation-runs2/correlation.csv").read_text()
    )


@needs_data
@pytest.mark.slow
def test_a_table_of_the_real_data_has_the_same_bytes_for_any_number_of_processes(tmp_path):
    for jobs in ("1", "2"):
        told = reproduce(*QUICK, "--jobs", jobs, "--out", tmp_path / jobs)
        assert told.exit_code == 0, told.output
    one, two = (tmp_path / jobs / "published" / "small3-runs1" for jobs in ("1", "2"))
    for file in ("runs.csv", "small3.md", "small3.tex", "small3.html"):
        assert (one / file).read_bytes() == (two / file).read_bytes(), file


CALL = """
from paper.__main__ import app
if __name__ == "__main__":
    print("ready", flush=True)
    app({arguments!r})
"""


@pytest.mark.slow
@pytest.mark.in_turn
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("signal_name", "code"), [("SIGKILL", -9), ("SIGINT", 130)])
def test_after_an_interrupt_the_same_command_goes_on(
    made_up_data, tmp_path, signal_name, code, jobs
):
    if not hasattr(signal, signal_name):
        pytest.skip(f"there is no {signal_name} here")
    out, whole = tmp_path / "interrupted", tmp_path / "whole"
    folder = out / "published" / "small3-runs1"
    of_table = cells_of(SMALL3, "published", ["ols", "dp"], 1)
    call = CALL.format(arguments=[*QUICK, "--jobs", str(jobs), "--out", str(out)])
    with stopping_process(tmp_path / "program", call, stop_after=3) as run:
        assert [run.stdout.readline() for _ in range(1 + jobs)] == [
            "ready\n",
            *["stopped\n"] * jobs,
        ]
        wait_until(lambda: len(finished(of_table, folder)) == 3 * jobs)
        run.send_signal(getattr(signal, signal_name))
        _, errors = run.communicate(timeout=60)
    assert run.returncode == code, errors
    if signal_name == "SIGINT":
        assert errors == (
            f"Interrupted. Finished results are kept in {out}; the same command continues.\n"
        )
    kept = (folder / "results.jsonl").read_bytes()
    assert len(finished(of_table, folder)) == 3 * jobs  # all but the cells in flight
    assert not (folder / "runs.csv").exists()

    for folder_of_run in (out, whole):
        told = reproduce(*QUICK, "--out", folder_of_run)
        assert told.exit_code == 0, told.output
    for file in ("runs.csv", "small3.md", "small3.tex", "small3.html"):
        assert (folder / file).read_bytes() == (
            whole / "published/small3-runs1" / file
        ).read_bytes()
    assert (folder / "results.jsonl").read_bytes().startswith(kept)


@needs_data
@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no process groups here")
def test_an_interrupt_ends_all_processes_with_one_sentence(tmp_path):
    command = [sys.executable, "-m", "paper", "small3", "--jobs", "2"]
    with subprocess.Popen(
        [*command, "--out", str(tmp_path)],
        stdout=-1,
        stderr=-1,
        text=True,
        cwd=ROOT,
        start_new_session=True,  # Ctrl-C reaches all processes of a terminal's group
    ) as run:
        results = tmp_path / "published/small3/results.jsonl"
        wait_until(lambda: results.exists() and results.stat().st_size)
        os.killpg(run.pid, signal.SIGINT)
        _, errors = run.communicate(timeout=60)
    assert run.returncode == 130, errors
    # Without a terminal, a line of progress may come before.
    *progress, last = errors.splitlines()
    assert all(line.startswith("Table small3: ") for line in progress), errors
    assert last.startswith("Interrupted.")
