"""Seconds and bytes, as ratios measured in one run: ``make bench``."""
