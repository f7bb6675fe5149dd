"""
When does pooling help?
=======================

Three hundred old rows lack the third of three columns. The fewer new rows there are, the less
information they have about the two shared columns, and the more history can add. Targets of
increasing size are drawn thirty times each, and fitted alone and by
:class:`~poolwise.methods.DataPooling`. The figure shows the reduction of the squared error, and the
gain that :mod:`poolwise.linear.theory` expects if the noise of both tables and the mean of the new
column are known.
"""

import matplotlib.pyplot as plt
import numpy as np

from poolwise import Moments, PooledRegressor
from poolwise.linear.theory import PooledTable, empirical_gain, gain_at, optimal_variance_gain

names, truth, noise = ["a", "b", "new"], np.array([1.0, -1.0, 1.0]), 1.0
rng = np.random.default_rng(0)
X_test = rng.normal(size=(2000, 3))
sizes = np.array([10, 14, 20, 28, 40, 56, 80])
measured, expected = np.empty((2, len(sizes), 30))

# %%
# The test responses have no noise, so all of the error comes from the coefficients. In the old rows
# the effect of the new column is part of the noise.

for k, n in enumerate(sizes):
    for draw in range(30):
        X = rng.normal(size=(300 + n, 3))
        y = X @ truth + rng.normal(size=300 + n)
        X_old, y_old, X_new, y_new = X[:300, :2], y[:300], X[300:], y[300:]
        alone = PooledRegressor("target_only").fit(X_new, y_new)
        pooled = PooledRegressor("data_pooling").fit(X_new, y_new, sources=(X_old, y_old))
        measured[k, draw] = empirical_gain(alone.fit_, pooled.fit_, X_test, X_test @ truth)
        new = PooledTable(Moments.of_rows(names, X_new), noise)
        old = PooledTable(
            Moments.of_rows(names[:2], X_old).fill({"new": 0.0}), noise + truth[2] ** 2
        )
        H = optimal_variance_gain(new, [old], names, np.zeros(3))
        expected[k, draw] = gain_at(H, X_test, np.zeros(3)).mean()

# %%
# Theory and measurement agree. The difference is chance, and the cost of estimating quantities that
# the theory treats as known.

gain, error = measured.mean(axis=1), measured.std(axis=1, ddof=1) / np.sqrt(30)
fig, ax = plt.subplots()
ax.plot(sizes, expected.mean(axis=1), label="theory")
ax.errorbar(sizes, gain, 2 * error, fmt="C2o-.", label="measured, ± 2 standard errors")
ax.set(xscale="log", yscale="log", xticks=sizes[::2], xticklabels=sizes[::2])
ax.minorticks_off()
ax.set(xlabel="rows that have the new column", ylabel="squared error saved (noise is 1)")
ax.set_title("History helps most with few new rows")
ax.legend()

print(
    f"History saves {gain[0]:.2f} of squared error with {sizes[0]} new rows and {gain[-1]:.3f} "
    f"with {sizes[-1]}; theory expects {expected[0].mean():.2f} and {expected[-1].mean():.3f}."
)
