"""
What does it cost not to know the noise?
========================================

Simulation 1 of the paper, its Figure 2a. Data pooling weighs a table by its precision, the inverse
of its noise, which in practice is estimated from the same few rows. The paper draws targets of 5 to
30 rows and sources of 100 rows, 200 of each, and compares the weights that the true noise gives
with the estimated ones. The truth, the sizes and the curves are a file of the package; ``run``
computes the figure from it, as published.
"""

import matplotlib.pyplot as plt

from poolwise.experiments.figures import judgements, run
from poolwise.experiments.points import curve_of

points = run("gain_noise")
known, estimated = curve_of(points, "noise_known"), curve_of(points, "noise_estimated")

# %%
# The package also knows what the paper says of its figure, and holds ours against it.

held = [judgement.holds for judgement in judgements(points, "gain_noise")]
print(f"{sum(held)} of {len(held)} statements of the paper hold.")

# %%
# The gain falls by more than an order of magnitude, hence the logarithms.

fig, ax = plt.subplots()
for label, style, curve in (("known", "C0--", known), ("estimated", "C2-.", estimated)):
    ax.plot([p.x for p in curve], [p.mean for p in curve], style, label=f"noise {label}")
ax.set(yscale="log", xlabel="rows in the target", ylabel="squared error saved (noise is 1)")
ax.set_title("Estimated noise is nearly as good")
ax.legend()

lost = [1.0 - e.mean / k.mean for e, k in zip(estimated, known, strict=True)]
print(
    f"Estimating the noise costs {min(lost):.0%} to {max(lost):.0%} of the gain; what is left is "
    f"positive from {estimated[0].x:.0f} rows ({estimated[0].mean:.2f}) to {estimated[-1].x:.0f} "
    f"({estimated[-1].mean:.3f})."
)
