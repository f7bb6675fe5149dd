"""
What can be done with fewer rows than columns?
==============================================

Four old columns and two new ones make seven coefficients with the intercept. Least squares on the
target needs at least seven rows, and stays poor for many more. History determines the old
coefficients, so the few new rows only have to determine two. With three rows there is little
information about the new columns, and leaving them out is better. Targets of 3 to 20 rows are drawn
15 times each, with 300 old rows.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from poolwise import PooledRegressor
from poolwise.errors import PoolwiseWarning

methods = {
    "target_only": "target alone",
    "bayes_pooling": "bayes_pooling",
    "data_pooling": "data_pooling",
    "source_columns_only": "without new columns",
}
sizes = np.array([3, 5, 7, 10, 20])
errors = {method: np.zeros((len(sizes), 15)) for method in methods}

# %%
# A fit warns if there are too few rows. The warnings are recorded.

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always", PoolwiseWarning)
    for draw in range(15):
        rng = np.random.default_rng(draw)
        X = rng.normal(size=(820, 6))
        truth = X.sum(axis=1)
        y = truth + rng.normal(size=820)
        history = X[20:320, :4], y[20:320]
        for k, n in enumerate(sizes):  # the first rows of the same twenty
            for method in methods:
                model = PooledRegressor(method).fit(X[:n], y[:n], sources=history)
                wrong = model.predict(X[320:]) - truth[320:]
                errors[method][k, draw] = np.mean(wrong**2)

print(said[0].message)

# %%
# Means would depend on single targets, so the figure shows medians of the 15.

fig, ax = plt.subplots()
for method, label in methods.items():
    ax.plot(sizes, np.median(errors[method], axis=1), label=label)
ax.axvline(7, color="#999999", linewidth=1)
ax.annotate("7 coefficients", (7, 0.13), (7.3, 0.13), color="#666666", fontsize=11)
ax.set(yscale="log", ylim=(0.1, 30), xticks=sizes, xlabel="rows that have the new columns")
ax.set_ylabel("squared error (noise is 1)")
ax.set_title("History replaces missing target rows")
ax.legend()

middle = {method: np.median(values, axis=1) for method, values in errors.items()}
alone, bayes, pooled, without = middle.values()
print(
    f"With {sizes[2]} rows for 7 coefficients the median squared error is {alone[2]:.1f} for the "
    f"target alone, {bayes[2]:.2f} for bayes_pooling, {pooled[2]:.2f} for data_pooling and "
    f"{without[2]:.2f} without the new columns. With {sizes[0]} rows "
    f"bayes_pooling has {bayes[0]:.2f}, data_pooling {pooled[0]:.1f}, and a model without the new "
    f"columns {without[0]:.2f}."
)
