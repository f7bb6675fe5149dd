"""
Which method stands correlated columns?
=======================================

Simulation 3 of the paper, its Figure 3. Data pooling assumes that the new column is unrelated to
the old one; the rival methods of the paper, which predict the new column from the old, live from
the relation. With targets of 8 rows and sources of 100, the correlation of the two columns goes
from 0 to 0.9. The first is best while it is near zero, and loses to the target alone long before
the relation is strong.
"""

import matplotlib.pyplot as plt
import numpy as np

from poolwise.experiments.figures import judgements, run
from poolwise.experiments.points import curve_of

points = run("correlation")
held = [judgement.holds for judgement in judgements(points, "correlation")]
print(f"{sum(held)} of {len(held)} statements of the paper hold.")

# %%
# The noise alone makes an error of one.

x = np.array([p.x for p in curve_of(points, "target_only")])
styles = {"target_only": "C0--", "data_pooling": "C2-."}
styles |= {"feature_transfer": "C3:", "kernel_transfer": "C4-"}
mse = {}
fig, ax = plt.subplots()
for name, style in styles.items():
    mse[name] = np.array([p.mean for p in curve_of(points, name)])
    ax.plot(x, mse[name], style, label=name.replace("_only", " alone"))
ax.set(xlabel="correlation of old and new column", ylim=(1.0, 3.3))
ax.set_ylabel("mean squared error (noise is 1)")
ax.set_title("Pooling pays while columns are unrelated")
ax.legend(ncols=2)

worse = x[mse["data_pooling"] > mse["target_only"]][0]
print(
    f"Without correlation the error is {mse['data_pooling'][0]:.2f} for data pooling and "
    f"{mse['target_only'][0]:.2f} for the target alone. From a correlation of {worse:.2f} on data "
    f"pooling is the worse of the two; at its worst it has {mse['data_pooling'].max():.2f}."
)
