"""Few trees: what does not depend on how well trees predict is tried with a tenth of them."""

import pytest

from poolwise.methods.boosting import candidates, derivation, stack


def grow_few(
    monkeypatch: pytest.MonkeyPatch, stages: tuple[int, ...] = (2, 6, 20), own: int = 15
) -> None:
    """Grow few trees: on all rows as many as the last stage, on the target its own number.

    What is made of the target is made without a fifth, instead of a tenth: half as often.
    """
    for module in (candidates, stack):
        monkeypatch.setattr(module, "tenths", lambda fold: 2 * fold)
    for module in (derivation, candidates):
        monkeypatch.setattr(module, "STAGES", stages)
    monkeypatch.setattr(derivation, "POOLED", derivation.POOLED._replace(trees=stages[-1]))
    few = {name: growth._replace(trees=own) for name, growth in candidates.OWN.items()}
    monkeypatch.setattr(candidates, "OWN", few)
    monkeypatch.setattr(candidates, "CORRECTION", candidates.CORRECTION._replace(trees=own))
