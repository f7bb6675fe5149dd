"""Datasets: the right bytes or a clear error, from a folder or from a server on loopback.

No test here reaches beyond this machine: the address is replaced in every one of them.
"""

import gzip
import hashlib
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from poolwise.errors import (
    BadOption,
    DatasetNotFound,
    MissingColumns,
    NotFinite,
    NotInstalled,
    UnknownDataset,
    UnreadableDataset,
    WrongChecksum,
)
from poolwise.experiments import datasets, downloads
from poolwise.experiments.datasets import Known, available, fetch, load, load_airfare

TINY = np.round(np.random.default_rng(0).normal(size=(400, 3)), 4)
CONTENTS = gzip.compress("\n".join(",".join(map(str, row)) for row in TINY).encode(), mtime=0)
KNOWN = Known(*TINY.shape, hashlib.sha256(CONTENTS).hexdigest())
OTHER = gzip.compress(b"1,2,3\n", mtime=0)
REAL, ADDRESS = datasets.UCI, datasets.BASE
HERE = [n for n in REAL if available(n)]
NOT_HERE = "set POOLWISE_DATA to a folder that holds the datasets"


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """One small dataset 'tiny', no server, no folder, an empty cache."""
    pytest.importorskip("pooch")
    monkeypatch.delenv("POOLWISE_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(datasets, "BASE", "http://127.0.0.1:9")  # the port "discard": closed
    monkeypatch.setattr(datasets, "UCI", {"tiny": KNOWN})
    monkeypatch.setattr(datasets, "cache", lambda: tmp_path / "cache")


@pytest.fixture
def cached(tmp_path):
    return tmp_path / "cache" / "uci" / "tiny.csv.gz"


@pytest.fixture
def folder(tmp_path):
    """A folder that holds the dataset."""
    return written(tmp_path / "folder" / "uci" / "tiny.csv.gz", CONTENTS).parents[1]


@pytest.fixture
def remote(monkeypatch, tmp_path):
    """The file that a server serves; delete or change it to change what is sent."""
    with serving(tmp_path / "served") as server:
        monkeypatch.setattr(datasets, "BASE", server.address)
        yield server


class Server(ThreadingHTTPServer):
    """Serves a folder; ``keep_back`` bytes of each file are announced and never sent."""

    daemon_threads = True
    keep_back = 0

    def __init__(self, root):
        self.file = written(root / "tiny" / "data.csv.gz", CONTENTS)
        self.requests = []
        self.held = threading.Event()  # a file kept back in part has been sent that far
        self.release = threading.Event()  # the connection may be closed
        self.release.set()
        super().__init__(("127.0.0.1", 0), partial(Handler, directory=str(root)))
        self.address = f"http://127.0.0.1:{self.server_port}"


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        self.server.requests.append(self.path)

    def copyfile(self, source, outputfile):
        contents = source.read()
        outputfile.write(contents[: len(contents) - self.server.keep_back])
        outputfile.flush()
        self.server.held.set()
        self.server.release.wait(60)


class serving:  # noqa: N801, reads as a verb
    def __init__(self, root):
        self.server = Server(root)

    def __enter__(self):
        self.thread = threading.Thread(target=partial(self.server.serve_forever, 0.01))
        self.thread.start()
        return self.server

    def __exit__(self, *_):
        self.server.release.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def written(path, contents):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(contents)
    return path


def left_in(path):
    return sorted(p.name for p in path.parent.glob("*")) if path.parent.exists() else []


# From a folder


def test_a_folder_gives_the_rows(folder):
    rows = load("tiny", folder)
    assert_array_equal(rows, TINY)
    assert rows.dtype == np.float64


def test_the_variable_names_a_folder_too(folder, monkeypatch):
    monkeypatch.setenv("POOLWISE_DATA", str(folder))
    assert_array_equal(load("tiny"), TINY)


def test_the_argument_comes_before_the_variable(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("POOLWISE_DATA", str(tmp_path / "not there"))
    assert_array_equal(load("tiny", str(folder)), TINY)


def test_a_folder_without_the_file_leads_to_the_next_place(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("POOLWISE_DATA", str(folder))
    assert_array_equal(load("tiny", tmp_path), TINY)


def test_a_folder_needs_neither_pooch_nor_a_server(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert_array_equal(load("tiny", folder), TINY)


def test_a_folder_that_is_not_there_is_an_error_and_no_download(monkeypatch, remote, tmp_path):
    with pytest.raises(BadOption, match=r"data='.*typo' is not possible.*folder that is there"):
        load("tiny", tmp_path / "typo")
    monkeypatch.setenv("POOLWISE_DATA", str(tmp_path / "typo"))
    with pytest.raises(BadOption, match="POOLWISE_DATA="):
        load("tiny")
    assert remote.requests == []


def test_a_variable_that_is_empty_is_not_set(monkeypatch, remote):
    monkeypatch.setenv("POOLWISE_DATA", "")
    assert_array_equal(load("tiny"), TINY)


def test_a_file_of_other_contents_is_named_with_both_checksums(folder, remote):
    file = written(folder / "uci" / "tiny.csv.gz", OTHER)
    with pytest.raises(WrongChecksum) as caught:
        load("tiny", folder)
    for part in (str(file), KNOWN.sha256, hashlib.sha256(OTHER).hexdigest(), "Delete the file"):
        assert part in str(caught.value)
    assert file.read_bytes() == OTHER  # it is the user's: left as it is
    assert remote.requests == []


def test_a_file_that_was_cut_off_is_not_read(folder):
    written(folder / "uci" / "tiny.csv.gz", CONTENTS[:-100])
    with pytest.raises(WrongChecksum):
        load("tiny", folder)


def test_a_name_that_is_close_is_suggested():
    with pytest.raises(UnknownDataset, match=r"No dataset named 'tinny'.*Did you mean 'tiny'\?"):
        load("tinny")
    with pytest.raises(UnknownDataset, match="airfare"):
        available("airfair")


# From a server


def test_a_download_is_made_once_and_kept_under_its_name(remote, cached):
    for _ in range(2):
        assert_array_equal(load("tiny"), TINY)
    assert remote.requests == ["/tiny/data.csv.gz"]
    assert left_in(cached) == ["tiny.csv.gz"]


def test_the_cache_is_a_folder_of_data(remote, cached):
    load("tiny")
    assert_array_equal(load("tiny", cached.parents[1]), TINY)


def test_a_server_that_is_down_is_told_with_what_was_tried(tmp_path, cached):
    with pytest.raises(DatasetNotFound) as caught:
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
    with pytest.raises(DatasetNotFound, match="the server answers 404"):
        load("tiny")
    assert left_in(cached) == []


def test_a_transfer_that_breaks_off_leaves_nothing_and_can_be_repeated(remote, cached):
    remote.keep_back = 100
    with pytest.raises(DatasetNotFound, match=f"{len(CONTENTS) - 100} bytes read, 100 more"):
        load("tiny")
    assert left_in(cached) == []
    remote.keep_back = 0
    assert_array_equal(load("tiny"), TINY)


def test_a_server_that_falls_silent_is_not_waited_for_forever(remote, monkeypatch):
    remote.keep_back = 100
    remote.release.clear()
    monkeypatch.setattr(downloads, "TIMEOUT", (5.0, 0.1))
    with pytest.raises(DatasetNotFound, match="timed out"):
        load("tiny")


def test_other_contents_on_the_server_are_an_error_and_not_kept(remote, cached):
    remote.file.write_bytes(OTHER)
    with pytest.raises(WrongChecksum) as caught:
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
    with pytest.raises(WrongChecksum, match=re.escape(remote.address)):
        load("tiny")
    assert len(remote.requests) == 1


def test_a_cache_that_cannot_be_written_to_is_told(remote, cached):
    written(cached.parent, b"a file where a folder should be")
    with pytest.raises(DatasetNotFound, match=re.escape(str(cached.parent))):
        load("tiny")


@pytest.mark.slow
def test_a_download_that_was_killed_is_made_anew(remote, cached):
    remote.keep_back = 100
    remote.release.clear()
    code = f"""
from pathlib import Path
from poolwise.experiments import datasets, downloads
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


def test_many_may_download_the_same_at_once(remote, cached):
    with ThreadPoolExecutor(6) as pool:
        for rows in pool.map(load, ["tiny"] * 6):
            assert_array_equal(rows, TINY)
    assert left_in(cached) == ["tiny.csv.gz"]


def test_a_missing_pooch_is_told_with_the_extra_that_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(NotInstalled, match=r'pip install "poolwise\[data\]".*POOLWISE_DATA'):
        load("tiny")


def test_a_bar_moves_with_the_download(remote, capfd, monkeypatch):
    from poolwise import progress

    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(downloads, "transfer_bar", partial(progress.transfer_bar, show=True))
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert_array_equal(load("tiny"), TINY)
    assert "Downloading tiny" in capfd.readouterr().err


def test_notes_of_pooch_are_left_out_and_its_logger_is_as_before(remote, caplog):
    logger = __import__("pooch").get_logger()
    logger.addHandler(caplog.handler)
    before = (logger.level, list(logger.filters))
    try:
        load("tiny")
        assert caplog.records == []
        assert (logger.level, logger.filters) == before
        logger.info("of someone else")
        assert len(caplog.records) == 1
    finally:
        logger.removeHandler(caplog.handler)


def test_what_was_fetched_is_not_downloaded_again(remote, cached, folder):
    assert fetch("tiny", folder) == folder / "uci" / "tiny.csv.gz"
    assert remote.requests == []
    assert fetch("tiny") == cached
    assert_array_equal(load("tiny"), TINY)
    assert len(remote.requests) == 1


# What is there


def test_asking_what_is_there_downloads_nothing(remote, folder):
    assert not available("tiny")
    assert available("tiny", folder)
    assert remote.requests == []
    load("tiny")
    assert available("tiny")


def test_a_wrong_file_in_a_folder_is_there_and_one_in_the_cache_is_not(folder, cached):
    written(folder / "uci" / "tiny.csv.gz", OTHER)
    written(cached, OTHER)
    assert available("tiny", folder)  # a test that loads it then fails, and does not skip
    assert not available("tiny")


def test_without_pooch_there_is_no_cache(monkeypatch):
    monkeypatch.undo()
    monkeypatch.delenv("POOLWISE_DATA", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert not available("wine")


# Air fares


def airfares(folder, text):
    folder.mkdir(exist_ok=True)
    return written(folder / "airfare.csv.gz", gzip.compress(text.encode()))


def test_air_fares_are_three_columns_in_the_order_of_the_paper(tmp_path):
    airfares(tmp_path, "Year,fare,nsmiles,large_ms\n2009,151.46,1204,0.29\n2000,172.83,692,0.63\n")
    assert_array_equal(load_airfare(tmp_path), [[1204, 0.29, 151.46], [692, 0.63, 172.83]])
    assert available("airfare", tmp_path)


def test_air_fares_may_stand_beside_names_with_commas(tmp_path):
    airfares(tmp_path, '\ufeffcity1,nsmiles,large_ms,fare\n"Albany, NY #1",970,0.4,81.4\n')
    assert_array_equal(load_airfare(tmp_path), [[970, 0.4, 81.4]])


def test_air_fares_come_from_a_folder_alone_and_the_error_names_their_source(tmp_path, remote):
    with pytest.raises(DatasetNotFound) as caught:
        load_airfare(tmp_path)
    for part in (
        f"no file {tmp_path / 'airfare.csv.gz'}",
        "no address",
        "Consumer Airfare Report of the US Department of Transportation, table 1",
        "POOLWISE_DATA",
        "--data DIR",
    ):
        assert part in str(caught.value)
    with pytest.raises(DatasetNotFound, match="No folder was named"):
        load_airfare()
    assert not available("airfare")
    assert remote.requests == []


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("", MissingColumns, r"\['nsmiles', 'large_ms', 'fare'\]"),
        ("fare,nsmiles\n1,2\n", MissingColumns, r"\['large_ms'\].*airfare.csv.gz has"),
        ("nsmiles,large_ms,fare\n", UnreadableDataset, "no rows"),
        ("nsmiles,large_ms,fare\n1,2,cheap\n", UnreadableDataset, "'cheap'.*must be the Consumer"),
        ("nsmiles,large_ms,fare\n1,2,nan\n1,2,3\n", NotFinite, "{'fare': 1} of 2 rows"),
    ],
    ids=["empty", "column", "rows", "word", "nan"],
)
def test_air_fares_that_are_not_such_are_told(tmp_path, text, kind, message):
    airfares(tmp_path, text)
    with pytest.raises(kind, match=message):
        load_airfare(tmp_path)


@pytest.mark.parametrize(
    "spoil",
    [lambda c: c[:-20], lambda c: b"plain text", lambda c: c[:12] + bytes(8) + c[20:]],
    ids=["cut", "plain", "damaged"],
)
def test_an_air_fare_file_that_is_damaged_is_told(tmp_path, spoil):
    file = airfares(tmp_path, "nsmiles,large_ms,fare\n" + "1204,0.29,151.46\n" * 99)
    file.write_bytes(spoil(file.read_bytes()))
    with pytest.raises(UnreadableDataset, match="airfare"):
        load_airfare(tmp_path)


# The real ones


@pytest.fixture
def real(monkeypatch):
    monkeypatch.undo()  # what is in the folder or the cache, and still no server
    monkeypatch.setattr(datasets, "BASE", "http://127.0.0.1:9")


@pytest.mark.parametrize("name", REAL)
def test_the_real_datasets_have_their_shape_and_are_centred(real, name):
    if name not in HERE:
        pytest.skip(f"{name} is not here: {NOT_HERE}")
    rows = load(name)
    assert rows.shape == (REAL[name].rows, REAL[name].columns)
    assert np.isfinite(rows).all()
    # Stored with five digits, so the means are zero up to those.
    assert np.all(np.abs(rows.mean(axis=0)) <= 1e-4 * np.abs(rows).max(axis=0))


@pytest.mark.skipif(not available("airfare"), reason=NOT_HERE)
def test_the_real_air_fares_correlate_as_documented(real):
    rows = load_airfare()
    assert rows.shape == (90_021, 3)
    correlations = np.corrcoef(rows.T)[[0, 0, 1], [1, 2, 2]]
    assert_array_equal(np.round(correlations, 3), [-0.500, 0.528, -0.206])


def test_the_address_is_that_of_the_pinned_commit():
    assert ADDRESS == (
        "https://raw.githubusercontent.com/treforevans/uci_datasets/"
        "f0737523712fe66a1640e4b980b927e8490b58eb/uci_datasets"
    )
    assert len(REAL) == 10
