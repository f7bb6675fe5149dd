"""Boosted trees on all rows, as derived columns and as candidates beside linear fits."""
