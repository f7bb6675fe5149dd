"""Boosting: what trees learn from history, as columns and candidates beside linear fits."""
