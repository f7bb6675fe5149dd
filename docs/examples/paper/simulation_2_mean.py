"""
What is the cost of estimating the new column's mean?
=====================================================

Simulation 2 of the paper, its Figure 2b. Data pooling fills the column that old rows lack with its
mean in the few target rows. Here the true mean is one. If it were known, history would help as much
as in the first simulation. The error of the estimated mean enters the level of all filled rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from paper.expectations import judgements
from paper.figures import curve_of, run

points = run("gain_mean")
held = [judgement.holds for judgement in judgements(points, "gain_mean")]
print(f"{sum(held)} of {len(held)} statements of the paper hold.")

# %%
# With fewer than eight rows single targets dominate the mean, and the curves leave the page.

gains = {}
fig, ax = plt.subplots()
for name, style in (("mean_known", "C0--"), ("mean_estimated", "C2-.")):
    curve = [p for p in curve_of(points, name) if p.x >= 8]
    gains[name] = np.array([p.mean for p in curve])
    ax.plot([p.x for p in curve], gains[name], style, label=name.replace("_", " "))
ax.axhline(0.0, color="#222222", linewidth=1)
ax.set(xlabel="rows in the target", ylabel="squared error saved (noise is 1)")
ax.set_title("Estimating the mean loses most of the gain")
ax.legend()

cost = 1.0 - gains["mean_estimated"].sum() / gains["mean_known"].sum()
print(
    f"At 10 rows the gain is {gains['mean_known'][2]:.2f} with the mean known and "
    f"{gains['mean_estimated'][2]:.2f} with it estimated; from 8 rows on {cost:.0%} of it is lost."
)
