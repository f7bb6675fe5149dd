"""The methods that always return a linear fit in the columns as they are."""

from __future__ import annotations

from poolwise import METHODS
from poolwise.methods import needs_rows

LINEAR_METHODS = {name: kind for name, kind in METHODS.items() if not needs_rows(kind)}
TREE_METHODS = {name: kind for name, kind in METHODS.items() if needs_rows(kind)}
