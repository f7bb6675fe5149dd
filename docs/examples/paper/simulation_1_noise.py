"""
What is the cost of estimating the noise?
=========================================

Simulation 1 of the paper, its Figure 2a. Data pooling weights a table by the inverse of its noise,
which in practice is estimated from the same few rows. The paper draws targets of 5 to 30 rows and
sources of 100 rows, 200 of each, and compares weights from the true noise with weights from the
estimated noise. A spec file defines the simulation, and ``run`` computes the figure as published.
"""

import matplotlib.pyplot as plt

from paper.expectations import judgements
from paper.figures import curve_of, run

points = run("gain_noise")
known, estimated = curve_of(points, "noise_known"), curve_of(points, "noise_estimated")

# %%
# The spec also lists the paper's statements about its figure, which are checked here.

held = [judgement.holds for judgement in judgements(points, "gain_noise")]
print(f"{sum(held)} of {len(held)} statements of the paper hold.")

# %%
# The gain decreases by more than an order of magnitude, so the axis is logarithmic.

fig, ax = plt.subplots()
for label, style, curve in (("known", "C0--", known), ("estimated", "C2-.", estimated)):
    ax.plot([p.x for p in curve], [p.mean for p in curve], style, label=f"noise {label}")
ax.set(yscale="log", xlabel="rows in the target", ylabel="squared error saved (noise is 1)")
ax.set_title("Estimated noise is nearly as good as known noise")
ax.legend()

lost = [1.0 - e.mean / k.mean for e, k in zip(estimated, known, strict=True)]
print(
    f"Estimating the noise costs {min(lost):.0%} to {max(lost):.0%} of the gain. The gain is still "
    f"positive from {estimated[0].x:.0f} rows ({estimated[0].mean:.2f}) to {estimated[-1].x:.0f} "
    f"({estimated[-1].mean:.3f})."
)
