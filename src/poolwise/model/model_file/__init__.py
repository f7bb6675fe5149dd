"""Model files: a fitted model as JSON, with all its bits, checked when it is read."""
