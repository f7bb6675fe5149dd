"""
What if the new column's mean was another in history?
=====================================================

Simulation 4 of the paper, its Figure 7. Nobody can see in rows that lack a column what its mean
was. All methods of the paper take it to be that of the target. If it was not, all the old rows are
at the wrong level, by the coefficient times the difference, and more old rows make it worse: the
error grows with the square of the shift. Bayes pooling, which the paper does not have, compares the
levels and gives way.
"""

import matplotlib.pyplot as plt
import numpy as np

from poolwise.experiments.figures import judgements, run
from poolwise.experiments.points import curve_of

held = [judgement.holds for judgement in judgements(run("mean_shift"), "mean_shift")]
print(f"{sum(held)} of {len(held)} statements of the paper hold.")

# %%
# ``run`` takes further methods by their names. They are fitted one by one, so that the figure is
# made of the first 20 of the 200 repetitions.

points = run("mean_shift", repetitions=20, methods=["bayes_pooling"])

# %%
# The kernel method of the paper is above the others everywhere, and not drawn.

mse = {}
fig, ax = plt.subplots()
for name in ("target_only", "bayes_pooling", "data_pooling", "feature_transfer"):
    curve = curve_of(points, name)
    mse[name] = np.array([p.mean for p in curve])
    ax.plot([p.x for p in curve], mse[name], label=name.replace("_only", " alone"))
ax.set(xlabel="mean in the target, less that in history")
ax.set_ylabel("mean squared error (noise is 1)")
ax.set_title("An unseen shift grows with its square")
ax.legend()

print(
    f"At a shift of one the error is {mse['target_only'][-1]:.2f} for the target alone, "
    f"{mse['data_pooling'][-1]:.2f} for data pooling, {mse['feature_transfer'][-1]:.2f} for "
    f"feature transfer and {mse['bayes_pooling'][-1]:.2f} for bayes_pooling, which has at most "
    f"{mse['bayes_pooling'].max():.2f}."
)
