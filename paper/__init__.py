"""The founding paper, computed again; see docs/reproduction.md. Not part of the wheel."""
