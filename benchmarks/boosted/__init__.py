"""Boosted pooling held against others: a file for each question."""

OURS = "boosted_pooling"
