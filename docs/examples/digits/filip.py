"""
How many digits are correct on Filip, the hardest NIST dataset?
===============================================================

Filip is one of the NIST Statistical Reference Datasets: 82 rows, a polynomial of degree ten, and
certified coefficients. Its columns, the powers of one number, are nearly collinear, and sums of
their products in doubles lose all digits. poolwise also fits from such sums, but stores them with
more digits or without rounding. The powers are rounded to doubles before any program sees them, so
the reference here is the exact solution for these doubles, computed in fractions. The data are in a
clone of the repository, under ``benchmarks/nist``.
"""

import json
import warnings
from fractions import Fraction
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from poolwise import PooledRegressor
from poolwise.errors import PoolwiseWarning

here = Path.cwd()
nist = next(
    p / "benchmarks/nist" for p in (here, *here.parents) if (p / "benchmarks/nist").exists()
)
y, x = np.loadtxt(nist / "filip.csv", delimiter=",", skiprows=1).T
certified = np.array(json.loads((nist / "certified.json").read_text())["filip"]["coefficients"])
X = x[:, None] ** np.arange(11)

# %%
# The exact solution: the normal equations in fractions, by elimination.

rows = [[Fraction(v) for v in row] for row in np.column_stack((X, y))]
system = [[sum(row[i] * row[j] for row in rows) for j in range(12)] for i in range(11)]
for k in range(11):
    system[k] = [v / system[k][k] for v in system[k]]
    for i in {*range(11)} - {k}:
        factor = system[i][k]
        system[i] = [a - factor * b for a, b in zip(system[i], system[k], strict=True)]
exact = np.array([float(line[11]) for line in system])

# %%
# All programs get the same doubles. NumPy's lstsq drops directions that look like rounding errors,
# but matter here. poolwise warns if digits are lost.

Q, R = np.linalg.qr(X)
found = {
    "normal equations": np.linalg.solve(X.T @ X, X.T @ y),
    "NumPy lstsq": np.linalg.lstsq(X, y)[0],
    "NumPy QR": np.linalg.solve(R, Q.T @ y),
}
for precision in ("fast", "accurate", "exact", "auto"):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", PoolwiseWarning)
        model = PooledRegressor("target_only", precision=precision).fit(X[:, 1:], y)
    found[f"poolwise, {precision}"] = np.append(model.intercept_, model.coef_)
    print(precision, *(f"warns: {warning.category.__name__}" for warning in said))

# %%
# Correct digits of the worst of the eleven coefficients, at most 15.

digits = {
    name: np.clip(-np.log10(np.abs(coef / exact - 1.0).max() + 1e-15), 0.0, 15.0)
    for name, coef in {**found, "certified": certified}.items()
}
fig, ax = plt.subplots()
bars = ax.barh(list(found), [digits[n] for n in found], color=["C0"] * 3 + ["C1"] * 4)
ax.bar_label(bars, fmt="%.1f", padding=4)
ax.grid(visible=False)
ax.invert_yaxis()
ax.set(xlim=(0, 17), xlabel="correct digits of the worst coefficient")
ax.set_title("Filip: eleven coefficients")

print(
    f"poolwise has {digits['poolwise, auto']:.1f} correct digits by default, QR of the "
    f"rows {digits['NumPy QR']:.1f}, the normal equations in doubles "
    f"{digits['normal equations']:.1f}. The certified and the exact solution agree "
    f"in {digits['certified']:.1f} digits."
)
