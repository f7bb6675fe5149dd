"""
What if the new column had another mean in history?
===================================================

Simulation 4 of the paper, its Figure 7. The mean of a missing column cannot be observed. All
methods of the paper assume the target's mean. If that is wrong, the level of all old rows is wrong
by the coefficient times the difference, and more old rows make it worse: the error increases with
the square of the shift. Bayes pooling, which is not in the paper, compares the levels and reduces
the weight of the history.
"""

import matplotlib.pyplot as plt
import numpy as np

from paper.expectations import judgements
from paper.figures import curve_of, run

held = [judgement.holds for judgement in judgements(run("mean_shift"), "mean_shift")]
print(f"{sum(held)} of {len(held)} statements of the paper hold.")

# %%
# ``run`` accepts further methods by name. They are fitted one by one, so the figure uses the first
# 20 of the 200 repetitions.

points = run("mean_shift", repetitions=20, methods=["bayes_pooling"])

# %%
# The kernel method of the paper is worse than the others everywhere, and is not shown.

mse = {}
fig, ax = plt.subplots()
for name in ("target_only", "bayes_pooling", "data_pooling", "feature_transfer"):
    curve = curve_of(points, name)
    mse[name] = np.array([p.mean for p in curve])
    ax.plot([p.x for p in curve], mse[name], label=name.replace("_only", " alone"))
ax.set(xlabel="mean in the target minus mean in history")
ax.set_ylabel("mean squared error (noise is 1)")
ax.set_title("The error increases with the square of the shift")
ax.legend()

print(
    f"At a shift of one the error is {mse['target_only'][-1]:.2f} for the target alone, "
    f"{mse['data_pooling'][-1]:.2f} for data pooling, {mse['feature_transfer'][-1]:.2f} for "
    f"feature transfer and {mse['bayes_pooling'][-1]:.2f} for bayes_pooling, which has at most "
    f"{mse['bayes_pooling'].max():.2f}."
)
