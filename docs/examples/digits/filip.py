"""
How many digits are right on NIST's hardest set?
================================================

Filip is a set of the Statistical Reference Datasets of NIST: 82 rows, a polynomial of degree ten,
and coefficients that are certified to 15 digits. Its columns, the powers of one number, nearly
depend on each other. Sums of products in doubles lose all digits of the coefficients there.
poolwise fits from such sums too, but it keeps them with more digits, or without any rounding. The
data are in a clone of the repository, under ``benchmarks/nist``, with their source.
"""

import json
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from poolwise import PooledRegressor
from poolwise.errors import TransferWarning

here = Path.cwd()
nist = next(
    p / "benchmarks/nist" for p in (here, *here.parents) if (p / "benchmarks/nist").exists()
)
y, x = np.loadtxt(nist / "filip.csv", delimiter=",", skiprows=1).T
certified = np.array(json.loads((nist / "certified.json").read_text())["filip"]["coefficients"])
X = x[:, None] ** np.arange(1, 11)
design = np.column_stack((np.ones(len(x)), X))

# %%
# The peers get the same doubles. NumPy's least squares drops what it takes for dependent unless
# told otherwise.

Q, R = np.linalg.qr(design)
found = {
    "normal equations": np.linalg.solve(design.T @ design, design.T @ y),
    "NumPy lstsq": np.linalg.lstsq(design, y)[0],
    "NumPy QR": np.linalg.solve(R, Q.T @ y),
}
for precision in ("fast", "accurate", "exact", "auto"):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", TransferWarning)
        model = PooledRegressor("target_only", precision=precision).fit(X, y)
    found[f"poolwise, {precision}"] = np.append(model.intercept_, model.coef_)
    for warning in said:
        print(f"{precision} warns: {warning.category.__name__}")

# %%
# Right digits are those of the worst of the eleven coefficients.

digits = {
    name: max(0.0, -np.log10(np.abs(coef / certified - 1.0).max())) for name, coef in found.items()
}
fig, ax = plt.subplots()
names = list(digits)[::-1]
bars = ax.barh(names, [digits[n] for n in names], color=["C1"] * 4 + ["C0"] * 3)
ax.bar_label(bars, fmt="%.1f", padding=4)
ax.grid(visible=False)
ax.set(xlim=(0, 16), xlabel="right digits, at most 15 can be checked")
ax.set_title("Filip: worst coefficient of eleven")

print(
    f"poolwise has {digits['poolwise, auto']:.1f} right digits unless told otherwise, QR of the "
    f"rows {digits['NumPy QR']:.1f}, the normal equations in doubles "
    f"{digits['normal equations']:.1f}."
)
