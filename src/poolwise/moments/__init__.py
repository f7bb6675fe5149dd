"""Moments: what is kept of a table once its rows have been read."""
