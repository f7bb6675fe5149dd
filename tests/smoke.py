"""Smoke: a few minutes' use of an installed poolwise, against answers known beforehand.

``make release-check`` runs it in fresh environments: ``python -I smoke.py [--extras]``. It needs
what poolwise itself needs and nothing of the clone, so a part that the package lacks is noticed.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import sysconfig
import tempfile
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import numpy as np

import poolwise
from poolwise import Moments, PooledRegressor, compare

COLUMNS = ["load", "speed", "vibration"]


def main() -> None:
    """Use what is installed; the first wrong answer ends it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extras", action="store_true", help="cli, io and report are installed")
    extras = parser.parse_args().extras
    where = Path(poolwise.__file__).resolve()
    same(where.is_relative_to(Path(sys.prefix).resolve()), True, f"{where} is the installed one")
    same(version("poolwise"), poolwise.__version__, "the version is that of the metadata")
    old, y_old, new, y_new = tables()
    least_squares(old, y_old, new, y_new)
    with tempfile.TemporaryDirectory() as folder:
        default_method(old, y_old, new, y_new, Path(folder))
        trees(old, y_old, new, y_new, Path(folder))
        package_data()
        write(Path(folder) / "history.csv", COLUMNS[:2], old, y_old)
        write(Path(folder) / "recent.csv", COLUMNS, new, y_new)
        if extras:
            command_line(Path(folder), PooledRegressor().fit(new, y_new, sources=(old, y_old)))
        else:
            command_line_without_extras(Path(folder))
    packages = ("numpy", "scipy", "scikit-learn", "joblib", "lightgbm", "narwhals", "threadpoolctl")
    print(f"poolwise {version('poolwise')} works on Python {sys.version.split()[0]} with "
          + ", ".join(f"{p} {version(p)}" for p in packages))  # fmt: skip


def tables() -> tuple[np.ndarray, ...]:
    """Return 300 old rows with two columns, and 30 new ones with three."""
    rng = np.random.default_rng(0)
    X = rng.normal([40.0, 1500.0, 3.0], [20.0, 200.0, 0.4], size=(330, 3))
    y = X @ [0.2, 0.01, 4.0] + rng.normal(size=330)
    return X[:300, :2], y[:300], X[300:], y[300:]


def least_squares(old: np.ndarray, y_old: np.ndarray, new: np.ndarray, y_new: np.ndarray) -> None:
    """Methods that are least squares on some rows have the coefficients that numpy finds."""
    whole = PooledRegressor("target_only").fit(new, y_new)
    close(coefficients(whole), solved(new, y_new), "target_only is least squares")
    filled = np.column_stack((old, np.full(len(old), new[:, 2].mean())))
    rows, y = np.vstack((new, filled)), np.concatenate((y_new, y_old))
    alike = PooledRegressor("mean_fill").fit(new, y_new, sources=(old, y_old))
    close(coefficients(alike), solved(rows, y), "mean_fill is least squares on filled rows")
    root = np.sqrt(noise(new, y_new) / noise(old, y_old))
    weights = np.concatenate((np.ones(len(new)), np.full(len(old), root)))
    pooled = PooledRegressor("data_pooling").fit(new, y_new, sources=(old, y_old))
    close(coefficients(pooled), solved(rows, y, weights), "data_pooling weighs by precision")


def trees(
    old: np.ndarray, y_old: np.ndarray, new: np.ndarray, y_new: np.ndarray, folder: Path
) -> None:
    """LightGBM grows trees, and a model with trees comes back from a file with the same bits."""
    model = PooledRegressor("boosted_pooling").fit(new, y_new, sources={"history": (old, y_old)})
    path = folder / "trees.model.json"
    model.save(path)
    found = PooledRegressor.load(path).predict(new)
    same(found.tolist(), model.predict(new).tolist(), "a model file with trees")
    same(bool(np.std(found - y_new) < np.std(y_new)), True, "trees predict")


def default_method(
    old: np.ndarray, y_old: np.ndarray, new: np.ndarray, y_new: np.ndarray, folder: Path
) -> None:
    """Bayes pooling fits, predicts, compares and comes back from a file with the same bits."""
    model = PooledRegressor().fit(new, y_new, sources={"history": (old, y_old)})
    low, high = model.predict_interval(new).T
    same(bool(np.all((low < model.predict(new)) & (model.predict(new) < high))), True, "intervals")
    same(bool(np.isfinite(model.predict(new * [1.0, 1.0, np.nan])).all()), True, "rows that lack")
    model.save(folder / "saved.model.json")
    again = PooledRegressor.load(folder / "saved.model.json")
    same(again.predict(new).tolist(), model.predict(new).tolist(), "a loaded model predicts alike")
    same(str(again.summary()), str(model.summary()), "a loaded model has the same summary")
    moments = Moments.of_rows([*COLUMNS, "y"], np.column_stack((new, y_new)))
    moments.save(folder / "new.moments.json")
    loaded = Moments.load(folder / "new.moments.json")
    same(loaded.mean.tolist(), moments.mean.tolist(), "moments come back from a file")
    methods = ["bayes_pooling", "mean_fill"]
    told = str(compare(new, y_new, sources=(old, y_old), methods=methods, cv=3))
    same([m in told for m in (*methods, "target_only")], [True] * 3, "compare tells all methods")


def package_data() -> None:
    """Files that are not Python are in the package."""
    package = files("poolwise")
    same(package.joinpath("py.typed").is_file(), True, "types are declared")
    for name in ("model/model-1", "moments/moments-1"):
        schema = json.loads(package.joinpath(f"{name}.schema.json").read_text("utf-8"))
        same(schema["type"], "object", f"the schema {name} is there")


def command_line(folder: Path, expected: PooledRegressor) -> None:
    """Two files become a model, predictions, a comparison and a report."""
    two = ["history.csv", "recent.csv", "--label", "y"]
    poolwise_("fit", *two, "-o", "model.json", cwd=folder)
    poolwise_("predict", "model.json", "recent.csv", "-o", "predicted.csv", cwd=folder)
    with (folder / "predicted.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    column = header.index("predicted") if "predicted" in header else -1
    found = np.array([float(row[column]) for row in rows])
    with (folder / "recent.csv").open(newline="") as file:
        X = np.array([row[:-1] for row in list(csv.reader(file))[1:]], dtype=np.float64)
    close(found, expected.predict(X), "the command line predicts what the library does")
    told = json.loads(
        poolwise_("compare", *two, "--method", "bayes_pooling", "--json", cwd=folder).stdout
    )
    same("bayes_pooling" in json.dumps(told), True, "compare speaks JSON")
    poolwise_("report", *two, "-o", "report.html", cwd=folder)
    page = (folder / "report.html").read_text("utf-8")
    same(page.lstrip().lower().startswith("<!doctype html>") and "<svg" in page, True, "a report")


def command_line_without_extras(folder: Path) -> None:
    """It ends with the words that bring what it needs."""
    run = poolwise_("version", cwd=folder, status=1)
    same("poolwise[cli]" in run.stderr, True, f"what to install is said: {run.stderr!r}")


def poolwise_(*arguments: str, cwd: Path, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the installed command."""
    command = [str(Path(sysconfig.get_path("scripts")) / "poolwise"), *arguments]
    run = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    same(run.returncode, status, f"poolwise {' '.join(arguments)}: {run.stdout}{run.stderr}")
    return run


def write(path: Path, names: list[str], rows: np.ndarray, y: np.ndarray) -> None:
    """Write a table, with all digits."""
    with path.open("w", newline="") as file:
        written = csv.writer(file)
        written.writerow([*names, "y"])
        written.writerows(np.column_stack((rows, y)).tolist())


def solved(rows: np.ndarray, y: np.ndarray, roots: np.ndarray | float = 1.0) -> np.ndarray:
    """Return the intercept and the coefficients, by numpy."""
    design = np.column_stack((np.ones(len(rows)), rows))
    scaled = design * np.broadcast_to(roots, len(y))[:, None]
    return np.linalg.lstsq(scaled, y * roots, rcond=None)[0]


def noise(rows: np.ndarray, y: np.ndarray) -> float:
    """Return the unbiased residual variance, by numpy."""
    intercept, *coef = solved(rows, y)
    return float(np.sum((y - intercept - rows @ coef) ** 2)) / (len(y) - rows.shape[1] - 1)


def coefficients(model: PooledRegressor) -> np.ndarray:
    return np.array([model.intercept_, *model.coef_])


def close(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    """Stop unless all but the last digits agree: numpy solves rows, with a condition of 1e4."""
    if not np.allclose(found, expected, rtol=1e-9, atol=1e-9):
        sys.exit(f"Not true: {what}. Found {found}, expected {expected}.")


def same(found: object, expected: object, what: str) -> None:
    """Stop unless they are equal."""
    if found != expected:
        sys.exit(f"Not true: {what}. Found {found!r}, expected {expected!r}.")


if __name__ == "__main__":
    main()
