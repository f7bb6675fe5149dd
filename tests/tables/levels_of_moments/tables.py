"""Tables with a text column, their moments with an indicator for every level, and models."""

import numpy as np
import pandas as pd

from poolwise import Moments, PooledRegressor

RNG = np.random.default_rng(11)


def table(rows, sites, *, site="site"):
    """Return made-up rows: two numbers, a text column and the response."""
    frame = pd.DataFrame(
        {
            "age": RNG.normal(60.0, 8.0, rows),
            site: RNG.choice(list(sites), rows),
            "dose": RNG.normal(size=rows),
        }
    )
    effect = frame[site].map({level: 0.7 * k for k, level in enumerate(sorted(sites))})
    frame["cost"] = 0.1 * frame["age"] + 2.0 * frame["dose"] + effect + RNG.normal(size=rows)
    return frame


def in_full(frame, weights=None, precision="exact", texts=("site",)):
    """Return moments with an indicator for every level, as a hospital writes them."""
    parts = {}
    for name in frame:
        if name in texts:
            for level in sorted(set(frame[name])):
                parts[f"{name}={level}"] = (frame[name] == level).to_numpy(dtype=float)
        else:
            parts[name] = frame[name].to_numpy()
    return Moments.of_rows(
        list(parts), np.column_stack([*parts.values()]), weights, precision=precision
    )


def leaving_out(moments, *names):
    return moments.select([n for n in moments.names if n not in names])


def fitted(target, sources, method="bayes_pooling", *, precision="exact", weights=None, **options):
    model = PooledRegressor(method, precision=precision, **options)
    return model.fit(
        target.drop(columns="cost"), target["cost"], sources=sources, sample_weight=weights
    )


TARGET = table(60, ["coast", "inland", "valley"])
OLD = table(300, ["coast", "inland", "valley"]).drop(columns="dose")
OTHER = table(200, ["bay", "inland"]).drop(columns="dose")  # not the reference, and a level more
MORE = table(80, ["inland", "valley"]).drop(columns="dose")
