"""The file of a checkpoint."""

import pytest


@pytest.fixture
def path(tmp_path):
    return tmp_path / "job.part"
