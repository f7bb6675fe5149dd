"""A small set of cases in which every pair of parameter values still meets.

A law over methods, sizes and precisions is tried for every method with every size, and for every
precision with every size. Methods take precisions in turn: how rows are summed does not depend on
what is fitted to the sums. A test marked ``in_turn`` is tried with every value, and not with every
pair: each of its cases starts processes.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations

IN_TURN = frozenset({("method", "precision")})  # pairs of parameters whose values need not all meet


def covering(cases: Sequence[Mapping[str, Hashable]], *, in_turn: bool = False) -> list[int]:
    """Return the indices of cases that together have every pair of values that all cases have.

    If all values take turns, the cases have every value.
    """
    pairs = [{(v,) for v in case.items()} if in_turn else _pairs(case) for case in cases]
    missing = set().union(*pairs)
    used: Counter[tuple[str, Hashable]] = Counter()

    def worth(k: int) -> tuple[int, int]:
        return len(pairs[k] & missing), -sum(used[value] for value in cases[k].items())

    chosen = []
    while missing:
        best = max(range(len(cases)), key=worth)
        chosen.append(best)
        missing -= pairs[best]
        used.update(cases[best].items())
    return sorted(chosen)


def _pairs(case: Mapping[str, Hashable]) -> set[tuple[tuple[str, Hashable], ...]]:
    """Return the values of a case, and the pairs of them that must meet."""
    values = sorted(case.items())
    return {(v,) for v in values} | {
        (one, other) for one, other in combinations(values, 2) if (one[0], other[0]) not in IN_TURN
    }
