"""Release: build wheel and sdist, look into them, install them afresh and use them.

``make release-check``, or ``python -m tests.release [--only WHAT]...``. It needs the network, or
whatever pip is told to use instead, and takes minutes; the tests have what is cheap to check.

Of each Python from 3.11 on that is found, the wheel is installed with what the command line needs,
and used. Of the oldest, the sdist by itself, and the wheel with the oldest packages that
``pyproject.toml`` allows, where the tests of the core run as well, those that the sdist has.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
EXTRAS = ("cli", "io", "report")
# What the tests of the core need: the newest that goes with the oldest of the others.
TOOLS = (
    "hypothesis",
    "jsonschema",
    "pandas",
    "polars",
    "pytest",
    "pytest-randomly",
    "pytest-xdist",
    "statsmodels",
)
CORE = (
    "tests/laws",
    "tests/methods",
    "tests/model/model_file",
    "tests/numerics/near_dependence",
    "tests/model/regressor",
    "tests/cli/test_predictions.py",
    "tests/cli/test_sources_and_columns.py",
    "tests/cli/test_verbs.py",
    "tests/cli/test_wrong_commands.py",
    "tests/moments/test_damaged_moments.py",
    "tests/linear/test_regress.py",
    "tests/numerics/test_least_squares.py",
    "tests/moments/test_moments_schema.py",
    "tests/model/test_sklearn.py",
    "tests/moments/test_moments_json.py",
)
IN_SDIST = ("LICENSE", "CHANGELOG.md", "CITATION.cff", "SECURITY.md", "README.md", "pyproject.toml",
            "Makefile", "DATA.md", "CONTRIBUTING.md", "tests/smoke.py", "docs/index.md",
            "src/poolwise/py.typed")  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Do all of it; the first thing that is not true ends it."""
    steps = ("newest", "sdist", "oldest")
    parser = argparse.ArgumentParser(prog="tests.release", description=__doc__)
    parser.add_argument("--only", action="append", choices=steps, metavar="WHAT")
    asked = parser.parse_args(arguments).only or steps
    wheel, sdist = build()
    check_wheel(wheel)
    check_sdist(sdist)
    found = dict(pythons())
    say(f"Pythons found: {', '.join(found)}")
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        if "newest" in asked:
            for version, python in found.items():
                say(f"{wheel.name}[{','.join(EXTRAS)}] on Python {version}")
                made = fresh(here / f"newest-{version}", python)
                install(made, f"{wheel}[{','.join(EXTRAS)}]")
                smoke(made, "--extras")
        oldest = found[min(found, key=lambda v: [int(n) for n in v.split(".")])]
        if "sdist" in asked:
            say(f"{sdist.name} by itself")
            made = fresh(here / "sdist", oldest)
            install(made, str(sdist))
            smoke(made)
        if "oldest" in asked:
            say(f"{wheel.name} with the oldest packages that pyproject.toml allows")
            made = fresh(here / "oldest", oldest)
            pins = here / "oldest.txt"
            pins.write_text("\n".join(floors()) + "\n")
            install(made, f"{wheel}[{','.join(EXTRAS)}]", *TOOLS, "-c", str(pins))
            smoke(made, "--extras")
            core_tests(made, sdist, here / "unpacked")
    say("Wheel and sdist can be released.")


def build() -> tuple[Path, Path]:
    """Return the wheel and the sdist, the only ones in dist."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT))
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    return wheel, sdist


def check_wheel(wheel: Path) -> None:
    """Stop unless the wheel has the files of the package, its metadata, and nothing else."""
    package = ROOT / "src" / "poolwise"
    there = {
        p.relative_to(ROOT / "src").as_posix()
        for p in package.rglob("*")
        if p.is_file() and "__pycache__" not in p.parts
    }
    with zipfile.ZipFile(wheel) as file:
        packed = {n for n in file.namelist() if ".dist-info/" not in n}
    if packed != there:
        sys.exit(f"{wheel.name} lacks {sorted(there - packed)}, has {sorted(packed - there)} more.")
    say(f"{wheel.name}: {len(packed)} files, {wheel.stat().st_size / 1e3:.0f} kB")


def check_sdist(sdist: Path) -> None:
    """Stop if a file lacks that others need who build, test or cite."""
    with tarfile.open(sdist) as file:
        packed = {n.partition("/")[2] for n in file.getnames()}
    if lacks := sorted(set(IN_SDIST) - packed):
        sys.exit(f"{sdist.name} lacks {lacks}.")
    say(f"{sdist.name}: {len(packed)} files, {sdist.stat().st_size / 1e3:.0f} kB")


def pythons() -> Iterator[tuple[str, str]]:
    """Yield the Pythons of the classifiers that can be found and run: version and command."""
    asks = "import ensurepip, platform, venv; print(platform.python_version())"
    for version in supported():
        for command in filter(shutil.which, (f"python{version}", sys.executable)):
            told = subprocess.run(
                [command, "-c", asks], capture_output=True, text=True, check=False
            )
            if told.stdout.startswith(f"{version}."):
                yield version, command
                break


def supported() -> list[str]:
    """Return the versions of Python that the classifiers claim."""
    claimed = [re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", c)
               for c in project()["classifiers"]]  # fmt: skip
    return [c[1] for c in claimed if c]


def floors() -> list[str]:
    """Return the oldest version of each direct dependency, as pins."""
    extras = project()["optional-dependencies"]
    wanted = [*project()["dependencies"], *(r for e in EXTRAS for r in extras[e])]
    return [requirement.replace(">=", "==") for requirement in wanted]


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def fresh(folder: Path, python: str) -> Path:
    """Return the Python of a new virtual environment."""
    run(python, "-m", "venv", str(folder))
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def install(python: Path, *what: str) -> None:
    quiet = ("-qq", "--no-input", "--disable-pip-version-check")
    run(str(python), "-m", "pip", *quiet, "install", "--no-compile", *what)


def smoke(python: Path, *options: str) -> None:
    """Run a copy that stands alone, so that nothing of the clone is imported."""
    alone = python.parents[1] / "smoke.py"
    shutil.copy(ROOT / "tests" / "smoke.py", alone)
    run(str(python), "-I", str(alone), *options, cwd=alone.parent)


def core_tests(python: Path, sdist: Path, folder: Path) -> None:
    """Run the tests of the core as the sdist has them, on the installed package."""
    with tarfile.open(sdist) as file:
        file.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    shutil.rmtree(root / "src")
    # Our warnings are errors, as in make test; what old packages say of each other is not ours.
    warned = "filterwarnings=error::poolwise.errors.PoolwiseWarning"
    quick = ["-n", "2", "-o", "addopts=", "-o", warned, "-m", "not browser and not slow"]
    run(str(python), "-m", "pytest", "-q", *quick, *CORE, cwd=root)


def run(*command: str, cwd: Path | None = None) -> None:
    """Run a command; if it fails, so do we."""
    done = subprocess.run(command, cwd=cwd, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}.")


def say(words: str) -> None:
    print(words, flush=True)


if __name__ == "__main__":
    main()
