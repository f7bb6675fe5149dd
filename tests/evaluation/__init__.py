"""Tests of the diagnostics, one file per file."""
