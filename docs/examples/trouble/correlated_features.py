"""
What if the new column is correlated with the old ones?
=======================================================

Old rows then contain information about the new column although they lack it. Data pooling, which
assumes that new columns are uncorrelated with old ones, attributes part of the effect of the new
column to the old one. Bayes pooling learns the relation from the target and accounts for its
uncertainty. Leaving out the new column costs less if the correlation is high. Thirty targets of 20
rows with 300 old rows are drawn for each correlation.
"""

import matplotlib.pyplot as plt
import numpy as np

from poolwise import PooledRegressor

methods = {
    "target_only": "target alone",
    "bayes_pooling": "bayes_pooling",
    "data_pooling": "data_pooling",
    "source_columns_only": "without the new column",
}
correlations = np.array([0.0, 0.3, 0.6, 0.8, 0.95])
errors = {method: np.zeros(len(correlations)) for method in methods}

# %%
# Predictions are compared with the true response of 500 new rows, without noise.

for k, r in enumerate(correlations):
    rng = np.random.default_rng(0)  # the same numbers for each correlation
    for _ in range(30):
        Z = rng.normal(size=(820, 3))
        X = np.column_stack((Z[:, 0], Z[:, 1], r * Z[:, 0] + np.sqrt(1.0 - r**2) * Z[:, 2]))
        truth = X @ [1.0, 1.0, 2.0]
        y = truth + rng.normal(size=820)
        X_new, X_old, X_test = X[:20], X[20:320, :2], X[320:]
        for method in methods:
            model = PooledRegressor(method).fit(X_new, y[:20], sources=(X_old, y[20:320]))
            errors[method][k] += np.mean((model.predict(X_test) - truth[320:]) ** 2) / 30

# %%
# Without the new column and without correlation, its whole effect is lost.

fig, ax = plt.subplots()
for method, label in methods.items():
    ax.plot(correlations, errors[method], label=label)
ax.set(yscale="log", xlabel="correlation of the new column with an old one")
ax.set(ylabel="squared error (noise is 1)", ylim=(0.04, 12))
ax.set_title("Bayes pooling stays below the target alone")
ax.legend(ncols=2)

alone, bayes, pooled = (errors[m] for m in list(methods)[:3])
print(
    f"At a correlation of {correlations[2]} the squared error is {alone[2]:.2f} for the target "
    f"alone, {bayes[2]:.2f} for bayes_pooling and {pooled[2]:.2f} for data_pooling. "
    f"bayes_pooling is lower than the target alone at {np.sum(bayes < alone)} of "
    f"{len(correlations)} correlations, data_pooling at {np.sum(pooled < alone)}."
)
