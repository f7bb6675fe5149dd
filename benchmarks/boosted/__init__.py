"""Comparison of boosted pooling with other methods, a file for each question."""

OURS = "boosted_pooling"
