"""Sums in one double, in two, and in integers, and the solver; they need only NumPy."""
