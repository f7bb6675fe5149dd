"""Two stories and a page of bad names, for tests of the report."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

NEW = ("bmi", "bp")
# Names that would be markup, code, or invisible, if anything let them.
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "</title></svg><svg onload=alert(3)>",
    "' onmouseover='alert(4)",
    "{{ 7 * 7 }}{% raw %}",
    "&amp;&lt;b&gt;",
    "]]><!-- -->",
    "bell\x07 escape\x1b[31m",
    "\u202egnp.exe",
    "zero\u200bwidth",
    "two\nlines",
    "Straße 温度 🌡",
    "x" * 400,
    "many words " * 30,
]


def diabetes(rows=40):
    """A clinic adds two measurements: history helps."""
    data = load_diabetes(as_frame=True, scaled=False)
    X, y = data.data, data.target.rename("progression")
    old = [c for c in X.columns if c not in NEW]
    order = np.random.default_rng(0).permutation(len(X))
    past, new = order[:250], order[250 : 250 + rows]
    return X.iloc[new], y.iloc[new], {"past patients": (X.iloc[past][old], y.iloc[past])}


def bearings(rows=60):
    """Old bearings wear in another way: history does not help."""
    rng = np.random.default_rng(0)

    def draw(n, level, coef):
        load, speed = rng.gamma(4.0, 10.0, n), rng.normal(1500.0, 200.0, n)
        vibration = 0.02 * load + 0.001 * (speed - 1500.0) + rng.normal(0.0, 0.4, n)
        X = pd.DataFrame({"load": load, "speed": speed, "vibration": vibration})
        wear = level + X.to_numpy() @ coef + rng.normal(0.0, 3.0, n)
        return X, pd.Series(wear, name="wear")

    X, y = draw(rows, 10.0, [0.25, 0.004, 6.0])
    X_old, y_old = draw(1000, 0.0, [-0.1, 0.03, 0.0])
    return X, y, {"old bearings": (X_old.drop(columns="vibration"), y_old)}


def hostile(rows=40):
    """Every name that the user may choose is a bad one."""
    rng = np.random.default_rng(0)
    names, size = HOSTILE[:-1], rows + 200
    X = pd.DataFrame(rng.normal(size=(size, len(names))), columns=names)
    X[HOSTILE[-1]] = rng.choice(["<i>a</i>", "b\x00", "c"], size)
    y = pd.Series(X[names].sum(axis=1) + rng.normal(size=size), name="<u>y</u>")
    sources = {}
    for k in range(2):
        part = slice(rows + 100 * k, rows + 100 * (k + 1))
        kept = X.iloc[part].drop(columns=names[: 2 + k]).assign(**{"<s>gone\u2028</s>": 1.0})
        sources[f"<a href=//x>{k}\ud800"] = (kept, y.iloc[part])
    return X.iloc[:rows], y.iloc[:rows], sources
