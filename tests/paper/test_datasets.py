"""Datasets from a folder: the right bytes or a clear error, and what is there."""

import hashlib
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from paper.datasets import available, load
from paper.errors import OutOfReach, PaperError
from tests.paper.loopback import (
    ADDRESS,
    CONTENTS,
    KNOWN,
    NOT_HERE,
    OTHER,
    REAL,
    TINY,
    cached,
    folder,
    nowhere,
    real,
    remote,
    written,
)

__all__ = ["cached", "folder", "nowhere", "real", "remote"]


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
    with pytest.raises(PaperError, match=r"data='.*typo' must be an existing folder"):
        load("tiny", tmp_path / "typo")
    monkeypatch.setenv("POOLWISE_DATA", str(tmp_path / "typo"))
    with pytest.raises(PaperError, match="POOLWISE_DATA="):
        load("tiny")
    assert remote.requests == []


def test_a_variable_that_is_empty_is_not_set(monkeypatch, remote):
    monkeypatch.setenv("POOLWISE_DATA", "")
    assert_array_equal(load("tiny"), TINY)


def test_a_file_of_other_contents_is_named_with_both_checksums(folder, remote):
    file = written(folder / "uci" / "tiny.csv.gz", OTHER)
    with pytest.raises(OutOfReach) as caught:
        load("tiny", folder)
    for part in (str(file), KNOWN.sha256, hashlib.sha256(OTHER).hexdigest(), "Delete the file"):
        assert part in str(caught.value)
    assert file.read_bytes() == OTHER  # it is the user's: left as it is
    assert remote.requests == []


def test_a_file_that_was_cut_off_is_not_read(folder):
    written(folder / "uci" / "tiny.csv.gz", CONTENTS[:-100])
    with pytest.raises(OutOfReach):
        load("tiny", folder)


def test_a_name_that_is_close_is_suggested():
    with pytest.raises(PaperError, match=r"No dataset named 'tinny'.*Did you mean 'tiny'\?"):
        load("tinny")
    with pytest.raises(PaperError, match="airfare"):
        available("airfair")


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


@pytest.mark.parametrize("name", REAL)
def test_the_real_datasets_have_their_shape_and_are_centred(real, name):
    if not available(name):
        pytest.skip(f"{name} is not here: {NOT_HERE}")
    rows = load(name)
    assert rows.shape == (REAL[name].rows, REAL[name].columns)
    assert np.isfinite(rows).all()
    # Stored with five digits, so the means are zero up to those.
    assert np.all(np.abs(rows.mean(axis=0)) <= 1e-4 * np.abs(rows).max(axis=0))


def test_the_address_is_that_of_the_pinned_commit():
    assert ADDRESS == (
        "https://raw.githubusercontent.com/treforevans/uci_datasets/"
        "f0737523712fe66a1640e4b980b927e8490b58eb/uci_datasets"
    )
    assert len(REAL) == 10
