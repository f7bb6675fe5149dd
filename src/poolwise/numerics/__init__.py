"""Sums in one double, in two, and in integers; the solver. Numpy only."""
