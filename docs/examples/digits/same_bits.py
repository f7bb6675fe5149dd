"""
Does the order of the rows change the result?
=============================================

In doubles it does: a sum depends on the order of addition, and so do the last digits of a
coefficient. Two machines that read the same files in different orders get different results. With
``precision="exact"`` sums are integers without rounding. Rows can then be shuffled, split and added
in any order, and the fit has the same bits.
"""

import matplotlib.pyplot as plt
import numpy as np

from poolwise import Moments, PooledRegressor

names = ["a", "b", "c", "y"]
rng = np.random.default_rng(0)
rows = rng.normal((0.0, 5.0, 100.0, 0.0), 1.0, size=(2000, 4))
rows[:, 3] += rows[:, :3] @ [1.0, 2.0, 3.0]

# %%
# Forty times, the rows are shuffled, split into up to ten parts, and their moments added.

coefficients = {"fast": [], "exact": []}
for _ in range(40):
    pieces = np.array_split(rng.permutation(rows), rng.integers(1, 11))
    for precision, found in coefficients.items():
        moments = (Moments.of_rows(names, piece, precision=precision) for piece in pieces)
        total = sum(moments, start=Moments.empty(names))
        found.append(PooledRegressor("target_only").fit_moments(total).coef_[0])

# %%
# The unit is the last binary digit of the coefficient, the smallest difference of two doubles.

exact = coefficients["exact"][0]
fig, ax = plt.subplots()
for color, (precision, found) in zip(("C0", "C1"), coefficients.items(), strict=True):
    apart = (np.array(found) - exact) / np.spacing(exact)
    ax.plot(apart, "o", color=color, label=f'precision="{precision}"')
ax.set(xlabel="shuffle", ylabel="distance in last binary digits")
ax.set_title("One coefficient, forty orders of the same rows")
ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)

print(
    f"Forty orders of the same rows give {len(set(coefficients['fast']))} different coefficients "
    f"with fast sums and {len(set(coefficients['exact']))} with exact ones."
)
