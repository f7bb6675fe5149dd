"""How a report is made: from which files, when, and with which bars."""

import hashlib
from datetime import UTC, datetime

import numpy as np
import pytest

import poolwise
from poolwise.errors import BadFile
from poolwise.moments import progress
from tests.report.conftest import FEW
from tests.report.stories import diabetes


def test_the_provenance_names_files_versions_and_command(tmp_path):
    file = tmp_path / "recent.csv"
    file.write_bytes(b"a,b\n1,2\n")
    X, y, _ = diabetes(12)
    made = poolwise.report(
        X,
        y,
        files={"target": file, "history": [str(file)]},
        command=["poolwise", "report", "my file.csv"],
        date=datetime(2025, 1, 31, tzinfo=UTC),
        **FEW,
    )
    told = made.data["provenance"]
    digest = hashlib.sha256(b"a,b\n1,2\n").hexdigest()
    assert told["files"] == [
        {"role": role, "path": str(file), "bytes": 8, "sha256": digest}
        for role in ("target", "history")
    ]
    assert told["command"] == "poolwise report 'my file.csv'"
    assert told["date"] == "2025-01-31T00:00:00+00:00"
    assert told["versions"]["numpy"] == np.__version__
    with pytest.raises(BadFile, match="nowhere"):
        poolwise.report(X, y, files=[tmp_path / "nowhere.csv"])


def test_unless_told_otherwise_a_report_is_of_now():
    before = datetime.now(UTC).replace(microsecond=0)
    X, y, _ = diabetes(12)
    made = poolwise.report(X, y, **FEW)
    date = datetime.fromisoformat(made.data["provenance"]["date"])
    assert before <= date <= datetime.now(UTC)


def test_files_and_folds_have_bars_of_their_own(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then treats the stream as a terminal
    content = b"0123456789" * 200_000  # more than a block
    (tmp_path / "a.csv").write_bytes(content)
    (tmp_path / "empty.csv").write_bytes(b"")
    X, y, sources = diabetes()
    files = {"a": tmp_path / "a.csv", "b": [tmp_path / "empty.csv"]}
    made = poolwise.report(X, y, sources=sources, files=files, progress=True, **FEW)
    assert [x["sha256"] for x in made.data["provenance"]["files"]] == [
        hashlib.sha256(content).hexdigest(),
        hashlib.sha256(b"").hexdigest(),
    ]
    shown = capfd.readouterr().err
    assert "Checksums" in shown
    assert "Residuals" in shown
