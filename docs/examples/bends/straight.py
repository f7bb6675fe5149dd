"""
When is a linear model enough?
==============================

Trees can approximate a linear response by many small steps, at a cost: they need rows to learn the
shape, they are constant beyond the last row, and they have no coefficients. ``method="auto"`` fits
both. It uses trees only if they predict held-out target rows significantly better. Here the
response is linear, and ``reason_`` explains the choice.
"""

import matplotlib.pyplot as plt
import numpy as np

from poolwise import PooledRegressor

rng = np.random.default_rng(1)
X = np.column_stack((rng.uniform(0, 10, 890), rng.uniform(0, 1, 890), rng.gamma(3, 1, 890)))
y = X @ [2.0, 3.0, 1.0] + rng.normal(size=890)
X_old, X_new, X_test = X[:300, :2], X[300:390], X[390:]

# %%
# The same data for ``auto`` and for ``boosted_pooling``.

models = {
    method: PooledRegressor(method).fit(X_new, y[300:390], sources=(X_old, y[:300]))
    for method in ("auto", "boosted_pooling")
}
print(models["auto"].reason_)

# %%
# Sorted errors of single predictions: a curve further left is better.

fig, ax = plt.subplots()
rmse = {}
for (method, model), style in zip(models.items(), ("C1-", "C4-"), strict=True):
    wrong = np.abs(model.predict(X_test) - X_test @ [2.0, 3.0, 1.0])
    rmse[method] = np.sqrt(np.mean(wrong**2))
    ax.plot(np.sort(wrong), np.linspace(0, 1, len(wrong)), style, label=method)
ax.yaxis.set_major_formatter("{x:.0%}")
ax.set(xlabel="distance from the truth (noise is 1)", ylabel="share of new rows below")
ax.set_title("Trees add error if the response is linear")
ax.legend(loc="lower right")

print(
    f"auto chose {type(models['auto'].method_).__name__}. On 500 new rows the RMSE is "
    f"{rmse['auto']:.2f} for auto and {rmse['boosted_pooling']:.2f} for boosted_pooling."
)
