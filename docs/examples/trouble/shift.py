"""
What if history comes from another population?
==============================================

Two things can differ between history and target. If the shared columns have other values, because
older machines run slower for example, the relation to the response can still be the same, and no
harm is done. If the level of the response differs, because the instrument was calibrated
differently, history contradicts the target. Here each shifts by up to two noise standard
deviations. The target has 15 rows, history 200, and each point is the mean of sixteen draws.
"""

import matplotlib.pyplot as plt
import numpy as np

from poolwise import PooledRegressor

shifts = np.array([0.0, 0.25, 0.5, 1.0, 2.0])
curves = {  # what shifts in the old rows, and the method
    "target alone": ("nothing", "target_only"),
    "columns shift, bayes_pooling": ("columns", "bayes_pooling"),
    "level shifts, data_pooling": ("level", "data_pooling"),
    "level shifts, bayes_pooling": ("level", "bayes_pooling"),
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
# A small shift of the level cannot be detected with 15 rows. A large one can.

fig, ax = plt.subplots()
for label, values in errors.items():
    ax.plot(shifts, values, label=label)
ax.set(yscale="log", ylim=(0.1, 30), xlabel="shift of history (noise sd)")
ax.set_ylabel("squared error (noise is 1)")
ax.set_title("Only a shift of the level does harm")
ax.legend()

alone, columns, pooled, level = (values[-1] for values in errors.values())
print(
    f"With a shift of {shifts[-1]:g}, the squared error is {columns:.2f} if columns shift. If the "
    f"level shifts, it is {level:.2f} for bayes_pooling and {pooled:.1f} for data_pooling; "
    f"the target alone has {alone:.2f}. The mean probability of conflict rises from "
    f"{conflict[0]:.0%} to {conflict[-1]:.0%} with the level."
)
