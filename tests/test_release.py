"""What a release says of itself; ``make release-check`` builds it, installs it and uses it."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import poolwise
from tests import release, smoke

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def citation():
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def settings():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_citation_is_of_this_version_and_licence(citation, settings):
    assert citation["version"] == poolwise.__version__
    assert citation["license"] == settings["project"]["license"]


def test_the_citation_has_what_its_format_asks_for(citation):
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    (paper,) = citation["references"]
    assert {"type", "title", "authors"} <= set(paper)
    assert [a["family-names"] for a in paper["authors"]] == [
        "Silvestrin",
        "Zanten",
        "Hoogendoorn",
        "Koole",
    ]
    assert paper["url"].endswith("/2202.05069")


def test_the_version_is_written_in_one_place(settings):
    project = settings["project"]
    assert "version" not in project
    assert project["dynamic"] == ["version"]
    written = ROOT / settings["tool"]["hatch"]["version"]["path"]
    assert written.samefile(poolwise.__file__)
    elsewhere = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "src").rglob("*.py")
        if re.search(rf"[\"']{re.escape(poolwise.__version__)}[\"']", path.read_text("utf-8"))
    ]
    assert elsewhere == ["src/poolwise/__init__.py"]


def test_the_changelog_has_a_section_of_this_version_that_tells_of_numbers():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first, *_ = re.split(r"^## ", changes, flags=re.M)[1:]
    assert first.startswith(f"{poolwise.__version__} (")
    assert "### Numbers" in first


def test_each_oldest_version_is_a_pin_of_a_package_that_is_tried():
    pins = release.floors()
    named = {re.split(r"==", pin)[0] for pin in pins}
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+", pin) for pin in pins), pins
    assert {"numpy", "scipy", "scikit-learn", "typer", "pyarrow"} <= named


def test_what_must_be_in_the_sdist_and_what_is_tried_with_it_is_here():
    assert [p for p in (*release.IN_SDIST, *release.CORE) if not (ROOT / p).exists()] == []


def test_the_smoke_test_passes_what_numpy_finds_and_nothing_else():
    tables = *_, new, y_new = smoke.tables()
    smoke.least_squares(*tables)  # it ends the process where numpy finds something else
    model = poolwise.PooledRegressor("target_only").fit(new, y_new)
    with pytest.raises(SystemExit, match="Not true: it is 1"):
        smoke.close(smoke.coefficients(model), smoke.solved(new, y_new + 1.0), "it is 1")
