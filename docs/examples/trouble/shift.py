"""
What if history comes from elsewhere?
=====================================

Two things can move between history and target. If old rows have other values in the columns that
both tables share, older machines run slower say, the relation to the response can still be the
same, and no harm is done. If the level of the response moves, because the instrument was set
otherwise, history contradicts the target. Here either moves by up to two standard deviations of
the noise. The target has 15 rows, history 200, and each point is the mean of sixteen draws.
"""

import matplotlib.pyplot as plt
import numpy as np

from poolwise import PooledRegressor

shifts = np.array([0.0, 0.25, 0.5, 1.0, 2.0])
curves = {  # what moves in the old rows, and what is fitted
    "target alone": ("nothing", "target_only"),
    "columns moved, bayes_pooling": ("columns", "bayes_pooling"),
    "level moved, data_pooling": ("level", "data_pooling"),
    "level moved, bayes_pooling": ("level", "bayes_pooling"),
}
errors = {label: np.zeros(len(shifts)) for label in curves}
conflict = np.zeros(len(shifts))

# %%
# ``conflict_`` is the probability, according to the model, that a source contradicts the target.

for k, shift in enumerate(shifts):
    rng = np.random.default_rng(0)  # the same numbers for each shift
    for _ in range(16):
        X = rng.normal(size=(715, 3))
        noise = rng.normal(size=715)
        for label, (moved, method) in curves.items():
            X_all, level = X.copy(), np.zeros(715)
            if moved == "columns":
                X_all[15:215, :2] += shift
            elif moved == "level":
                level[15:215] = shift
            truth = X_all @ [1.0, -1.0, 1.0]
            y = truth + level + noise
            history = X_all[15:215, :2], y[15:215]
            model = PooledRegressor(method).fit(X_all[:15], y[:15], sources=history)
            wrong = model.predict(X_all[215:]) - truth[215:]
            errors[label][k] += np.mean(wrong**2) / 16
        conflict[k] += model.conflict_["source"] / 16  # of the last curve

# %%
# A small move of the level can hardly be told from chance in 15 rows. A large one is seen.

fig, ax = plt.subplots()
for label, values in errors.items():
    ax.plot(shifts, values, label=label)
ax.set(yscale="log", ylim=(0.1, 30), xlabel="how far history is moved (noise sd)")
ax.set_ylabel("squared error (noise is 1)")
ax.set_title("Only a moved level does harm")
ax.legend()

alone, columns, pooled, level = (values[-1] for values in errors.values())
print(
    f"Moved by {shifts[-1]:g}, the squared error is {columns:.2f} where columns moved, and where "
    f"the level moved {level:.2f} by bayes_pooling and {pooled:.1f} by data_pooling; the target "
    f"alone has {alone:.2f}. The mean probability of conflict rises from {conflict[0]:.0%} to "
    f"{conflict[-1]:.0%} with the level."
)
