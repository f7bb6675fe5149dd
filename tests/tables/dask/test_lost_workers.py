"""Workers of Dask that die, leave or are slow: no bit changes, or the file is named."""

import os
import signal
import time
from dataclasses import dataclass, replace
from functools import partial

import pytest

from poolwise.errors import WorkersLost
from poolwise.tables import dask as ours
from tests.tables.dask.cluster import until
from tests.tables.dask.reading import SUMS, opened, write
from tests.tables.same import same

pytest.importorskip("dask", reason="dask is not installed")
pytest.importorskip("dask.dataframe", reason="dask[dataframe] is not installed")
pytest.importorskip("distributed", reason="distributed is not installed")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("dask")]


@dataclass(frozen=True)
class KillsOne:
    """Workers one of which is killed while it holds results that nobody has fetched yet."""

    client: object

    def each(self, task, shards, seen):
        for k, result in enumerate(ours.workers(self.client).each(task, shards, seen)):
            if k == 0:
                victim, lost = holder_of_results(self.client)
                assert len(lost) > 2
                os.kill(self.client.run(os.getpid)[victim], signal.SIGKILL)
                until(partial(is_gone, self.client, victim))
            yield result


def have_two_workers(client):
    """Start more workers where some were killed: Dask does not always do so by itself."""
    missing = 2 - len(client.nthreads())
    if missing > 0:
        client.cluster.scale(len(client.cluster.worker_spec) + missing)
        client.wait_for_workers(2, timeout=60)


def is_gone(client, worker):
    return worker not in client.nthreads()


def holder_of_results(client):
    """Wait until a worker holds results, and return it with them."""
    held = {}

    def some():
        held.update(client.has_what())
        return max(map(len, held.values())) > 2

    until(some)
    return max(held.items(), key=lambda item: len(item[1]))


@pytest.mark.parametrize("precision", ["fast", "exact"])
def test_a_worker_that_is_killed_changes_no_bit(tmp_path, client, rows, precision):
    have_two_workers(client)
    table = opened(write(tmp_path / "old", rows, files=40))
    task = replace(SUMS, precision=precision)
    expected = table.total(task)
    batches = replace(table.batches, workers=KillsOne(client))
    found = replace(table, batches=batches).total(task)
    assert same(found.moments, expected.moments)
    assert found.tally == expected.tally


@dataclass(frozen=True)
class Dies:
    """A task that ends the process it runs in."""

    names = ("a",)

    def __call__(self, parts):
        os.kill(os.getpid(), signal.SIGKILL)


def test_when_dask_gives_up_the_file_is_named(tmp_path, client, rows):
    have_two_workers(client)
    table = opened(write(tmp_path / "old", rows, files=1), client)
    try:
        set_allowed_failures(client, 0)
        with pytest.raises(WorkersLost, match=r"000\.parquet was read \(KilledWorker: .* memory"):
            table.total(Dies())
    finally:
        set_allowed_failures(client, 3)


def set_allowed_failures(client, number):
    def set_them(dask_scheduler):
        dask_scheduler.allowed_failures = number

    client.run_on_scheduler(set_them)


def test_a_closed_client_is_told_before_and_in_the_middle(tmp_path, brittle, rows):
    table = opened(write(tmp_path / "old", rows), brittle)
    each = table.batches.each(SUMS, lambda *_: None)
    next(each)
    brittle.close()
    with pytest.raises(
        WorkersLost, match=r"00\d\.parquet was read \(Futures?CancelledError: .*\)\."
    ):
        list(each)
    with pytest.raises(WorkersLost, match=r"000\.parquet was read \(its client is closed\)"):
        table.total(SUMS)


@dataclass(frozen=True)
class Waits:
    """A task that takes longer than its worker lasts."""

    names = ("a",)

    def __call__(self, parts):
        time.sleep(1.0)


def test_workers_that_are_all_gone_are_not_waited_for(tmp_path, brittle, rows, monkeypatch):
    monkeypatch.setattr(ours, "PATIENCE", 0.2)
    table = opened(write(tmp_path / "old", rows, files=2), brittle)
    each = table.batches.each(SUMS, lambda *_: None)
    next(each)
    brittle.cluster.scale(0)
    until(lambda: not brittle.nthreads())
    with pytest.raises(WorkersLost, match=r"001\.parquet was read \(there has been no worker"):
        list(each)


def test_slow_workers_are_waited_for(tmp_path, brittle, rows, monkeypatch):
    monkeypatch.setattr(ours, "PATIENCE", 0.2)
    table = opened(write(tmp_path / "old", rows, files=1), brittle)
    assert list(table.batches.each(Waits(), lambda *_: None)) == [None]
