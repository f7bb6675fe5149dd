"""
Which method tolerates correlated columns?
==========================================

Simulation 3 of the paper, its Figure 3. Data pooling assumes that the new column is uncorrelated
with the old one. The paper's competing methods predict the new column from the old one and need a
correlation. With targets of 8 rows and sources of 100, the correlation increases from 0 to 0.9.
Data pooling is best near zero, and becomes worse than the target alone at moderate correlations.
"""

import matplotlib.pyplot as plt
import numpy as np

from paper.expectations import judgements
from paper.figures import curve_of, run

points = run("correlation")
held = [judgement.holds for judgement in judgements(points, "correlation")]
print(f"{sum(held)} of {len(held)} statements of the paper hold.")

# %%
# The noise alone gives an error of one.

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
ax.set_title("Data pooling helps if columns are uncorrelated")
ax.legend(ncols=2)

worse = x[mse["data_pooling"] > mse["target_only"]][0]
print(
    f"Without correlation the error is {mse['data_pooling'][0]:.2f} for data pooling and "
    f"{mse['target_only'][0]:.2f} for the target alone. From a correlation of {worse:.2f} on data "
    f"pooling is the worse of the two; at its worst it has {mse['data_pooling'].max():.2f}."
)
