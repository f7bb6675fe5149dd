"""
Can a row be predicted without its new sensor?
==============================================

Rows to predict may lack every column that some source lacked at fit: pass ``NaN``. Bayes pooling
then predicts from the available columns, with the same posterior and a wider interval. Filling in
the mean of the sensor ignores what the other columns say about it, and the loss increases with the
correlation. Forty new rows and 300 old ones are fitted at each correlation of the sensor with an
old column.
"""

import matplotlib.pyplot as plt
import numpy as np

from poolwise import PooledRegressor

correlations = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 0.95])
labels = ("mean filled in", "NaN", "sensor works")
squares, inside = {label: np.zeros(len(correlations)) for label in labels}, []

# %%
# The test rows are predicted three times: with the sensor, with its mean, and without it.

for k, r in enumerate(correlations):
    rng = np.random.default_rng(2)  # the same numbers for each correlation
    for _ in range(10):
        Z = rng.normal(size=(1340, 3))
        X = np.column_stack((Z[:, 0], Z[:, 1], r * Z[:, 0] + np.sqrt(1.0 - r**2) * Z[:, 2]))
        y = X @ [1.0, 1.0, 2.0] + rng.normal(size=1340)
        model = PooledRegressor().fit(X[:40], y[:40], sources=(X[40:340, :2], y[40:340]))
        X_test, y_test = X[340:], y[340:]
        silent, filled = X_test.copy(), X_test.copy()
        silent[:, 2], filled[:, 2] = np.nan, X[:40, 2].mean()
        for label, rows in zip(labels, (filled, silent, X_test), strict=True):
            squares[label][k] += np.mean((model.predict(rows) - y_test) ** 2) / 10
        low, high = model.predict_interval(silent).T
        inside.append(np.mean((low <= y_test) & (y_test <= high)))

# %%
# With a correlation near one the sensor is hardly needed.

fig, ax = plt.subplots()
rmse = {label: np.sqrt(values) for label, values in squares.items()}
for (label, values), style in zip(rmse.items(), ("C0--", "C1-", "C3:"), strict=True):
    ax.plot(correlations, values, style, label=label)
ax.set(xlabel="correlation of the sensor with an old column", ylim=(0.0, 2.9))
ax.set_ylabel("error (RMSE, noise is 1)")
ax.set_title("NaN is better than a filled-in mean")
ax.legend()

print(
    f"At a correlation of {correlations[4]} the error is {rmse['sensor works'][4]:.2f} with the "
    f"sensor, {rmse['NaN'][4]:.2f} without it and "
    f"{rmse['mean filled in'][4]:.2f} with its mean filled in. "
    f"{np.mean(inside):.1%} of all rows without the sensor are inside their 95 % interval."
)
