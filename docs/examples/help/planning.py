"""
How many more rows are needed?
==============================

Sixty patients have a body mass index and a blood pressure on file, 380 earlier ones do not. Each
further patient costs money, and makes history less important. ``plan`` simulates future patients
from the fitted model, refits with and without history, and estimates when history stops mattering:
when its gain is below one percent of the noise variance. This is a forecast by the model, not a
measurement. The band contains eight of ten simulated futures.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from poolwise import PooledRegressor, plan

X, y = load_diabetes(return_X_y=True)
X = X[:, [0, 1, 4, 5, 6, 7, 8, 9, 2, 3]]  # the body mass index and the blood pressure last
X_new, y_new = X[:60], y[:60]
history = X[60:, :8], y[60:]

# %%
# Without ``rows=``, the target is doubled until history stops mattering.

model = PooledRegressor().fit(X_new, y_new, sources=history)
found = plan(model)
print(found.verdict)

# %%
# The answer is where the curve crosses the line.

fig, ax = plt.subplots()
ax.plot(found.rows, found.gain, color="C1", linestyle="-", marker="o", label="mean of all futures")
ax.fill_between(
    found.rows, found.gain_low, found.gain_high, color="C1", alpha=0.2, label="eight of ten futures"
)
ax.axhline(found.enough, color="C0", linestyle="--", label="no longer matters")
ax.set(xscale="log", xticks=found.rows, xticklabels=[f"{n:.0f}" for n in found.rows])
ax.minorticks_off()
ax.yaxis.set_major_formatter("{x:.0%}")
ax.set(xlabel="rows that have the new columns", ylabel="gain, share of the noise variance")
ax.set_title("Expected gain from history")
ax.legend()

more = found.stops_at - found.rows[0]
print(
    f"After about {round(more, -1):.0f} more patients. History brings {found.gain[0]:.1%} of the "
    f"noise variance today and {found.gain[-1]:.1%} with {found.rows[-1]:.0f} patients."
)
