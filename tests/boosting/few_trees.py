"""Few trees: what does not depend on how well trees predict is tried with a tenth of them."""

import pytest

from poolwise.boosting import candidates, deriving


def grow_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grow a tenth of the trees."""
    for module in (deriving, candidates):
        monkeypatch.setattr(module, "STAGES", (2, 6, 20))
    monkeypatch.setattr(deriving, "POOLED", deriving.POOLED._replace(trees=20))
    for name in ("OWN", "CORRECTION"):
        monkeypatch.setattr(candidates, name, getattr(candidates, name)._replace(trees=15))
