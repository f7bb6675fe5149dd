"""The kinds of fits: how each is read from a model file, and the types it consists of.

A new kind of `Fit` is a class with `record()`, a record beside it that restores it, and its place
in these two lines.
"""

from __future__ import annotations

from typing import TypeAlias

from poolwise.linear import linear_record
from poolwise.methods.boosting import tree_record

FitRecord: TypeAlias = linear_record.LinearRecord | tree_record.TreesRecord
FIT_TYPES: tuple[type, ...] = (*linear_record.TYPES, *tree_record.TYPES)
