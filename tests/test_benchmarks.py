"""The benchmarks run and answer; how fast is for ``make bench`` to say."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import gaps, merging
from benchmarks.answers import Answer, Target
from benchmarks.boosted.auto import auto
from benchmarks.boosted.cost import boosters_grown
from benchmarks.boosted.datasets import OTHERS, OURS, TREES, cell_errors, on_datasets
from benchmarks.cells import cell_samples
from benchmarks.dask_files import dask_files
from benchmarks.parquet_reading import parquet_reading
from benchmarks.peak import peak_in_new_process
from benchmarks.process_tree import PROC, cost_of, cpu_of_tree
from benchmarks.published import published_data_pooling
from benchmarks.report import as_text
from benchmarks.reproduce import LEFT_OUT, dataset_errors, our_errors, reproduce
from benchmarks.tables import make_tables
from paper import datasets, protocol
from paper.protocol import ordered
from paper.reproduction import NAMES, missing_data
from paper.specs import read_table_spec
from poolwise import Moments, PooledRegressor
from poolwise.methods.data_pooling import DataPooling
from tests.paper.made_up import made_up

ROOT = Path(__file__).parents[1]
MEGABYTES = 50


@pytest.mark.slow
def test_a_quick_run_answers_every_question(tmp_path):
    kept = tmp_path / "answers.json"
    command = [sys.executable, "-m", "benchmarks", "--quick", "--json", str(kept)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    answers = json.loads(kept.read_text())["answers"]
    questions = {a["question"] for a in answers}
    answered = {"speed", "memory", "scaling", "kernel_transfer", "small_fits", "bayes"}
    if any(missing_data(name) for name in NAMES):
        assert LEFT_OUT in run.stdout
    else:
        answered.add("reproduce")
    assert questions == answered
    for answer in answers:
        assert all(math.isfinite(v) and v > 0.0 for v in answer["repeats"]), answer
        assert answer["what"] in run.stdout
    assert run.stdout.splitlines()[-1].startswith("Targets met:")


@pytest.mark.slow
def test_a_report_on_raw_files_is_measured():
    command = [sys.executable, "-m", "benchmarks.raw_pairs", "hmda"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "Targets met: 1 of 1"


@pytest.mark.slow
def test_a_quick_run_deletes_values(capsys):
    gaps.main(["--quick"])
    told = capsys.readouterr().out
    assert "Simulation, 30% of the values deleted, 5 repetitions" in told
    assert ("30% of the values of recent rows deleted" in told) is datasets.available("concrete")


@pytest.mark.slow
def test_a_quick_run_merges_moments_of_each_precision():
    command = [sys.executable, "-m", "benchmarks.merging", "--quick"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    for kept in ("fast", "accurate", "exact"):
        assert f"Total of 100 {kept} moments of 51 columns" in run.stdout


def test_a_total_and_the_plain_sum_are_of_the_same_number_of_parts():
    names, parts = ["a"], [Moments.of_rows(["a"], [[k], [k + 2.0]]) for k in range(3)]
    assert merging.total(names, parts, 7).rows == 14
    assert (merging.plain_sum([np.full((51, 51), 2.0)] * 3, 7) == 14.0).all()


@pytest.mark.slow
def test_reading_is_measured_against_bare_decoding_and_leaves_no_file_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    answers = {answer.what: answer for answer in parquet_reading(quick=True)}
    assert answers["Moments from Parquet, fast / pyarrow decoding it"].target.high == 1.6
    assert answers["Moments from Parquet, accurate / pyarrow decoding it"].target.high == 4.0
    assert all(answer.value > 0.0 for answer in answers.values())
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_dask_over_files_is_measured_against_one_process():
    pytest.importorskip("distributed", reason="distributed is not installed")
    cpu, wall = dask_files(quick=True)
    assert cpu.target.high == 2.5
    assert cpu.value > 0.5  # workers do not count for nothing
    assert wall.value > 0.0


def test_a_missed_target_is_said_in_words():
    slow = Answer("speed", "A / B", (3.0, 2.0, 4.0), Target("at most 2.5", high=2.5))
    quick = Answer("speed", "C / B", (1.0, 2.0, 1.5), Target("at most 2.5", high=2.5))
    text = as_text([slow, quick], judged=True)
    assert "3.00 (2.00 to 4.00)" in text
    assert "MISSED" in text
    assert text.endswith("Targets met: 1 of 2")


def allocate(megabytes):
    return lambda: np.ones(megabytes * 125_000)


@pytest.mark.slow
def test_the_peak_holds_what_was_allocated_and_given_back():
    peak = peak_in_new_process(allocate, MEGABYTES)
    assert MEGABYTES <= peak.megabytes < MEGABYTES + 10  # pages of the interpreter come on top


def test_the_published_algorithm_computes_what_ours_does():
    t = make_tables(300, shared=4, new=2, target_rows=40)
    theta = published_data_pooling(t.X_old, t.y_old, t.X, t.y)
    ours = PooledRegressor(DataPooling(ddof="mle")).fit(t.X, t.y, sources=t.sources())
    assert_allclose(theta[:-1], ours.coef_, rtol=1e-9)  # both solve a condition number below 10


@pytest.mark.parametrize("table", ["large100", "nonadd5"])
def test_the_plain_loop_computes_what_ours_does(monkeypatch, table):
    monkeypatch.setattr(datasets, "load", made_up)
    protocol._rows.cache_clear()
    spec, rows = read_table_spec(table), ordered(made_up("energy"), "published")
    ours = our_errors(spec, "energy", "published", 2)
    loop = list(dataset_errors(spec, rows, "energy", 2))
    protocol._rows.cache_clear()
    assert len(ours) == 2 * 4
    assert_allclose(ours, loop, rtol=1e-9)  # normal columns: a condition number below 10


def test_splits_of_a_cell_are_counted_from_one(monkeypatch):
    monkeypatch.setattr(datasets, "load", made_up)
    first, second = cell_samples("large100", "energy", 2)
    (again,) = cell_samples("large100", "energy", 1, first=2)
    assert_allclose(again.X, second.X, rtol=0)
    assert not np.array_equal(first.X, second.X)


def test_a_method_that_refuses_some_split_is_left_out_of_the_cell(monkeypatch):
    found = {OURS: np.ones(2), "bayes_pooling": np.ones(2), "monotone_likelihood": np.ones(1)}
    monkeypatch.setattr("benchmarks.boosted.datasets.errors_of", lambda *_: found)
    assert set(cell_errors("small5", "energy", 2, 1)) == {OURS, "bayes_pooling"}


def beaten_by(monkeypatch, winner, cells):
    """Answer for cells where ours is far better than others, but for a winner in some cells."""
    below, made = np.linspace(0.01, 0.02, 8), []

    def errors(*_):
        made.append({method: 3.0 + below for method in (*OTHERS, TREES)} | {OURS: np.ones(8)})
        if len(made) <= cells:
            made[-1][winner] = 1.0 - below
        return made[-1]

    monkeypatch.setattr("benchmarks.boosted.datasets.cell_errors", errors)
    return on_datasets(quick=False, jobs=1, firsts=(9,))


def test_two_lost_cells_miss_a_target_that_allows_one(monkeypatch):
    trees, bayes, _ = beaten_by(monkeypatch, "bayes_pooling", 2)
    assert trees.met
    assert "splits 9 to 16" in bayes.what
    assert "34 won, 0 tied, 2 lost" in bayes.detail
    assert "lost: small5 concrete, small5 energy;" in bayes.detail
    assert bayes.value < bayes.target.high
    assert not bayes.met


@pytest.mark.parametrize("winner", [*OTHERS, TREES])
def test_the_best_other_may_be_any_method(monkeypatch, winner):
    *_, best = beaten_by(monkeypatch, winner, 36)
    assert "36 lost" in best.detail
    assert f"the best in hindsight: {winner} 36" in best.detail
    assert not best.met


@pytest.mark.slow
def test_a_fit_grows_five_boosters_on_all_rows_and_three_times_ten_on_the_target():
    t = make_tables(60, shared=3, new=1, target_rows=100)
    fit = PooledRegressor(OURS).fit
    assert boosters_grown(lambda: fit(t.X, t.y, sources=t.sources())) == 35


@pytest.mark.slow
def test_auto_is_as_good_as_the_method_that_it_takes():
    (answer,) = auto(quick=True, jobs=1)
    assert answer.value >= 1.0
    assert "linear 15: " in answer.detail


def test_without_data_the_question_is_left_out_and_says_so(monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.reproduce.missing_data", lambda name: ["energy"])
    assert reproduce(quick=True) == []
    assert capsys.readouterr().out.strip() == LEFT_OUT


ALLOCATE = "import time; rows = bytearray({size}); rows[::4096] = rows[::4096]; time.sleep(1.0)"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc here")
def test_the_cost_of_a_command_holds_the_memory_of_its_children():
    child = ALLOCATE.format(size=MEGABYTES * 1_000_000)
    both = (
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}]); print('end')"
    )
    cost = cost_of([sys.executable, "-c", both])
    assert cost.output == "end\n"
    assert cost.wall > 1.0
    assert cost.cpu < cost.wall
    assert MEGABYTES * 1e6 < cost.peak < (MEGABYTES + 100) * 1e6  # two interpreters come on top


@pytest.mark.skipif(not PROC.exists(), reason="the system does not tell about processes")
@pytest.mark.parametrize("ends", [True, False], ids=["ended", "alive"])
def test_the_cpu_time_of_a_tree_holds_that_of_its_children(ends):
    busy = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\n"
    code = busy if ends else f"{busy}input()"
    before = cpu_of_tree(os.getpid())
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        child.stdout.read(1)
        if ends:
            child.wait()
        used = cpu_of_tree(os.getpid()) - before
        child.communicate(b"\n")
    assert used >= 0.25  # the system counts in hundredths


def test_a_command_that_fails_is_no_answer():
    with pytest.raises(subprocess.CalledProcessError):
        cost_of([sys.executable, "-c", "raise SystemExit(3)"])


def test_a_long_source_repeats_its_rows(monkeypatch):
    monkeypatch.setattr("benchmarks.tables.DISTINCT", 4)
    t = make_tables(10, shared=2)
    assert t.X_old.shape == (10, 2)
    assert t.X_old.flags.c_contiguous
    assert_allclose(t.X_old[8:], t.X_old[:2], rtol=0)
    assert_allclose(t.y_old[4:8], t.y_old[:4], rtol=0)
