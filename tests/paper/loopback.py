"""One small dataset, in a folder or on a server of this machine, and nothing beyond.

The address is replaced in every test that takes these fixtures.
"""

import gzip
import hashlib
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from paper import datasets
from paper.datasets import Known

TINY = np.round(np.random.default_rng(0).normal(size=(400, 3)), 4)
CONTENTS = gzip.compress("\n".join(",".join(map(str, row)) for row in TINY).encode(), mtime=0)
KNOWN = Known(*TINY.shape, hashlib.sha256(CONTENTS).hexdigest())
OTHER = gzip.compress(b"1,2,3\n", mtime=0)
REAL, ADDRESS = datasets.UCI, datasets.BASE
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


@pytest.fixture
def real(monkeypatch):
    monkeypatch.undo()  # what is in the folder or the cache, and still no server
    monkeypatch.setattr(datasets, "BASE", "http://127.0.0.1:9")
