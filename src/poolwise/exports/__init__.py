"""Exports: a fitted model in words that others understand, one file per language."""
