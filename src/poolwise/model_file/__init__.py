"""Model files: a fitted model as JSON, with every bit, and every check on the way back.

A file is text with plain numbers and names: reading one runs no code. What it may hold is published
in ``schemas/model-1.schema.json``.
"""
