"""Reproduction of the founding paper; see docs/reproduction.md. Not part of the wheel."""
