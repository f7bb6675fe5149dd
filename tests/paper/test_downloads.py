"""Datasets from a server: whole and kept once, or nothing and a clear error."""

import hashlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from numpy.testing import assert_array_equal

from paper import datasets
from paper.datasets import available, fetch, load
from paper.errors import OutOfReach
from tests.paper.loopback import (
    CONTENTS,
    KNOWN,
    OTHER,
    TINY,
    cached,
    folder,
    left_in,
    nowhere,
    remote,
    written,
)

__all__ = ["cached", "folder", "nowhere", "remote"]


def test_a_download_is_made_once_and_kept_under_its_name(remote, cached):
    for _ in range(2):
        assert_array_equal(load("tiny"), TINY)
    assert remote.requests == ["/tiny/data.csv.gz"]
    assert left_in(cached) == ["tiny.csv.gz"]


def test_the_cache_is_a_folder_of_data(remote, cached):
    load("tiny")
    assert_array_equal(load("tiny", cached.parents[1]), TINY)


def test_a_server_that_is_down_is_told_with_what_was_tried(tmp_path, cached):
    with pytest.raises(OutOfReach) as caught:
        load("tiny", tmp_path)
    for part in (
        "'tiny'",
        f"no file {tmp_path / 'uci' / 'tiny.csv.gz'}",
        "http://127.0.0.1:9/tiny/data.csv.gz",
        "refused",
        "POOLWISE_DATA",
        "--data DIR",
        "connection",
    ):
        assert part in str(caught.value)
    assert left_in(cached) == []


def test_a_file_that_the_server_lacks_is_told(remote, cached):
    remote.file.unlink()
    with pytest.raises(OutOfReach, match="404"):
        load("tiny")
    assert left_in(cached) == []


def test_a_transfer_that_breaks_off_leaves_nothing_and_can_be_repeated(remote, cached):
    remote.keep_back = 100
    with pytest.raises(OutOfReach, match=f"{len(CONTENTS) - 100} bytes read, 100 more"):
        load("tiny")
    assert left_in(cached) == []
    remote.keep_back = 0
    assert_array_equal(load("tiny"), TINY)


def test_a_server_that_falls_silent_is_not_waited_for_forever(remote, monkeypatch):
    remote.keep_back = 100
    remote.release.clear()
    monkeypatch.setattr(datasets, "TIMEOUT", (5.0, 0.1))
    with pytest.raises(OutOfReach, match="timed out"):
        load("tiny")


def test_other_contents_on_the_server_are_an_error_and_not_kept(remote, cached):
    remote.file.write_bytes(OTHER)
    with pytest.raises(OutOfReach) as caught:
        load("tiny")
    for part in (remote.address, KNOWN.sha256, hashlib.sha256(OTHER).hexdigest(), "POOLWISE_DATA"):
        assert part in str(caught.value)
    assert left_in(cached) == []


@pytest.mark.parametrize("damaged", [b"", CONTENTS[:-100], OTHER], ids=["empty", "cut", "other"])
def test_a_damaged_file_in_the_cache_is_downloaded_again_once(remote, cached, damaged):
    written(cached, damaged)
    for _ in range(2):
        assert_array_equal(load("tiny"), TINY)
    assert len(remote.requests) == 1


def test_a_damaged_file_in_the_cache_and_another_on_the_server_are_an_error(remote, cached):
    written(cached, CONTENTS[:-100])
    remote.file.write_bytes(OTHER)
    with pytest.raises(OutOfReach, match=re.escape(remote.address)):
        load("tiny")
    assert len(remote.requests) == 1


def test_a_cache_that_cannot_be_written_to_is_told(remote, cached):
    written(cached.parent, b"a file where a folder should be")
    with pytest.raises(OutOfReach, match=re.escape(str(cached.parent))):
        load("tiny")


@pytest.mark.slow
def test_a_download_that_was_killed_is_made_anew(remote, cached):
    remote.keep_back = 100
    remote.release.clear()
    code = f"""
from pathlib import Path
from paper import datasets
datasets.BASE = {remote.address!r}
datasets.UCI = {{"tiny": datasets.Known(400, 3, {KNOWN.sha256!r})}}
datasets.cache = lambda: Path({str(cached.parents[1])!r})
datasets.load("tiny")
"""
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL) as process:
        assert remote.held.wait(60)
        process.kill()
    (temporary,) = left_in(cached)
    assert temporary != "tiny.csv.gz"  # left behind, and never read
    remote.keep_back = 0
    remote.release.set()
    assert not available("tiny")
    assert_array_equal(load("tiny"), TINY)
    assert left_in(cached) == ["tiny.csv.gz", temporary]


def test_many_may_download_the_same_at_once(remote, cached):
    with ThreadPoolExecutor(6) as pool:
        for rows in pool.map(load, ["tiny"] * 6):
            assert_array_equal(rows, TINY)
    assert left_in(cached) == ["tiny.csv.gz"]


def test_a_missing_pooch_is_told_with_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(OutOfReach, match=r"no package pooch.*POOLWISE_DATA"):
        load("tiny")


def test_notes_of_pooch_are_left_out(remote, caplog):
    logger = __import__("pooch").get_logger()
    logger.addHandler(caplog.handler)
    try:
        load("tiny")
        assert caplog.records == []
    finally:
        logger.removeHandler(caplog.handler)


def test_what_was_fetched_is_not_downloaded_again(remote, cached, folder):
    assert fetch("tiny", folder) == folder / "uci" / "tiny.csv.gz"
    assert remote.requests == []
    assert fetch("tiny") == cached
    assert_array_equal(load("tiny"), TINY)
    assert len(remote.requests) == 1
