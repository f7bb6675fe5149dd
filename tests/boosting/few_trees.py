"""Few trees: what does not depend on how well trees predict is tried with a tenth of them."""

import pytest

from poolwise.boosting import deriving, making, stack, target_trees


def grow_few(
    monkeypatch: pytest.MonkeyPatch, stages: tuple[int, ...] = (2, 6, 20), own: int = 15
) -> None:
    """Grow few trees: on all rows as many as the last stage, on the target its own number.

    What is made of the target is made without a fifth, instead of a tenth: half as often.
    """
    for module in (making, stack, target_trees):
        monkeypatch.setattr(module, "tenths", lambda fold: 2 * fold)
    for module in (deriving, making):
        monkeypatch.setattr(module, "STAGES", stages)
    monkeypatch.setattr(deriving, "POOLED", deriving.POOLED._replace(trees=stages[-1]))
    few = {name: growth._replace(trees=own) for name, growth in target_trees.OWN.items()}
    monkeypatch.setattr(target_trees, "OWN", few)
    monkeypatch.setattr(making, "CORRECTION", making.CORRECTION._replace(trees=own))
