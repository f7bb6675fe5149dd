"""
What if one of several sources is wrong?
========================================

Three clinics provide history without the new column. Two of them agree with the target. In the
third, the coefficient of the first column differs more and more. Bayes pooling checks each source
against the target rows and reduces the weight of one that contradicts them; ``conflict_`` is the
probability. Data pooling trusts all three. The fourth curve leaves the third clinic out.
"""

import matplotlib.pyplot as plt
import numpy as np

from poolwise import PooledRegressor

differences = np.array([0.0, 0.25, 0.5, 1.0, 2.0])
errors = {
    name: np.zeros(len(differences))
    for name in ("target alone", "bayes_pooling", "data_pooling", "bayes_pooling, third left out")
}
conflict = {clinic: np.zeros(len(differences)) for clinic in ("first", "second", "third")}

# %%
# Each point is the mean of twelve draws of a target of 25 rows and three sources of 100 rows.

for k, difference in enumerate(differences):
    rng = np.random.default_rng(0)  # the same numbers for each difference
    for _ in range(12):
        X = rng.normal(size=(825, 4))
        truth = X @ [1.0, 1.0, 1.0, 1.0]
        y = truth + rng.normal(size=825)
        y[225:325] += difference * X[225:325, 0]
        X_new, y_new, X_test = X[:25], y[:25], X[325:]
        sources = {
            clinic: (X[start : start + 100, :3], y[start : start + 100])
            for clinic, start in zip(conflict, (25, 125, 225), strict=True)
        }
        good = {clinic: sources[clinic] for clinic in ("first", "second")}
        given = (("target_only", None), ("bayes_pooling", sources))
        given += (("data_pooling", sources), ("bayes_pooling", good))
        for name, (method, history) in zip(errors, given, strict=True):
            model = PooledRegressor(method).fit(X_new, y_new, sources=history)
            errors[name][k] += np.mean((model.predict(X_test) - truth[325:]) ** 2) / 12
            if name == "bayes_pooling":
                for clinic, probability in model.conflict_.items():
                    conflict[clinic][k] += probability / 12

print("difference " + "".join(f"{clinic:>8}" for clinic in conflict))
for k, difference in enumerate(differences):
    print(f"{difference:<11}" + "".join(f"{p[k]:>8.0%}" for p in conflict.values()))

# %%
# The table shows the mean probability of conflict. A wrong source does most harm at medium
# differences, which are large enough to matter and too small to detect.

fig, ax = plt.subplots()
for name, values in errors.items():
    ax.plot(differences, values, label=name)
ax.set(xlabel="error of one coefficient of the third source", ylim=(0.0, 0.6))
ax.set_ylabel("squared error (noise is 1)")
ax.set_title("A clearly wrong source gets no weight")
ax.legend()

alone, bayes, pooled, without = errors.values()
print(
    f"At a difference of {differences[-1]:g} the conflict of the third source is "
    f"{conflict['third'][-1]:.0%}. The squared error is {bayes[-1]:.2f} with it by bayes_pooling, "
    f"{without[-1]:.2f} without it, {pooled[-1]:.2f} by data_pooling, {alone[-1]:.2f} for the "
    f"target alone. At its worst, with a difference of {differences[bayes.argmax()]:g}, "
    f"bayes_pooling has {bayes.max():.2f}."
)
