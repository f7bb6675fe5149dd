"""Files, changed in a few places."""

import json
from copy import deepcopy

from hypothesis import strategies as st

ODD = st.sampled_from(
    (
        *(None, True, "", "x", "-f", [], {}, [[]], -1, 0, 1, 2, 10**30, 10**400),
        *(-0.0, 0.5, -1.5, 1e-320, 1e16, 1e155, -1e299, 1e308, "inf", [1.0], {"units": []}),
    )
)


@st.composite
def mutations(draw, data):
    """Change a file in a few places: a key, an entry, a digit or a length."""
    data = json.loads(json.dumps(data))
    for _ in range(draw(st.integers(1, 3))):
        holder, key = data, draw(st.sampled_from(sorted(data)))
        while isinstance(holder[key], list | dict) and holder[key] and draw(st.integers(0, 4)):
            holder = holder[key]
            keys = range(len(holder)) if isinstance(holder, list) else sorted(holder)
            key = draw(st.sampled_from(list(keys)))
        old, kind = holder[key], draw(st.integers(0, 5))
        if kind == 0 and isinstance(holder, list):
            holder.insert(key, deepcopy(draw(ODD)))
        elif kind == 1:
            del holder[key]
            if not data:
                break
        elif kind >= 2 and type(old) in (int, float) and abs(old) < 1e300:
            factor = draw(st.sampled_from([0, -1, 1 + 1e-15, 1.001, 2, 1e10, 1e-10, 1e100]))
            holder[key] = old * factor if draw(st.booleans()) else old + draw(st.integers(-2, 2))
        else:
            holder[key] = deepcopy(draw(ODD))
    return data


@st.composite
def garbled(draw, text):
    """Change a text in a few places, by letters that files have."""
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        end = min(len(text), at + draw(st.integers(0, 3)))
        new = draw(st.text(alphabet='0123456789eE+-.,:[]{}"NaInfty \\u', max_size=3))
        text = text[:at] + new + text[end:]
    return text
