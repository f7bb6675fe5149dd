"""
When does a line suffice?
=========================

Trees can follow a line too, by many small steps, and pay for it: they spend rows on learning what a
line takes for granted, they are flat beyond the last row, and they have no coefficients to read.
``method="auto"`` fits both and lets the target decide. It takes trees only if they predict target
rows, which they have not seen, better by more than chance explains. Here the truth is a line, and
its ``reason_`` says what it found.
"""

import matplotlib.pyplot as plt
import numpy as np

from poolwise import PooledRegressor

rng = np.random.default_rng(1)
X = np.column_stack((rng.uniform(0, 10, 890), rng.uniform(0, 1, 890), rng.gamma(3, 1, 890)))
y = X @ [2.0, 3.0, 1.0] + rng.normal(size=890)
X_old, X_new, X_test = X[:300, :2], X[300:390], X[390:]

# %%
# The same data for auto, and for those who take trees without asking.

models = {
    method: PooledRegressor(method).fit(X_new, y[300:390], sources=(X_old, y[:300]))
    for method in ("auto", "boosted_pooling")
}
print(models["auto"].reason_)

# %%
# The errors of single predictions, sorted: a curve further left is better.

fig, ax = plt.subplots()
rmse = {}
for (method, model), style in zip(models.items(), ("C1-", "C4-"), strict=True):
    wrong = np.abs(model.predict(X_test) - X_test @ [2.0, 3.0, 1.0])
    rmse[method] = np.sqrt(np.mean(wrong**2))
    ax.plot(np.sort(wrong), np.linspace(0, 1, len(wrong)), style, label=method)
ax.yaxis.set_major_formatter("{x:.0%}")
ax.set(xlabel="distance from the truth (noise is 1)", ylabel="share of new rows below")
ax.set_title("On a line, trees only add error")
ax.legend(loc="lower right")

print(
    f"auto took {type(models['auto'].method_).__name__}. Its predictions of 500 new rows are off "
    f"by {rmse['auto']:.2f} (RMSE), those of boosted_pooling by {rmse['boosted_pooling']:.2f}."
)
