"""Diagnostics: should we have transferred? One question per file, each answered from moments."""

from poolwise.diagnostics.conflict import Conflict, ConflictLine, conflict
from poolwise.diagnostics.diagnosis import Diagnosis, diagnose
from poolwise.diagnostics.gain import Gain, GainLine, gain
from poolwise.diagnostics.influence import Influence, InfluenceLine, influence
from poolwise.diagnostics.plan import Plan, plan
from poolwise.diagnostics.predictability import (
    Predictability,
    PredictabilityLine,
    predictability,
)
from poolwise.diagnostics.shift import Shift, shift
from poolwise.diagnostics.table_pair import ShiftLine

__all__ = [
    "Conflict",
    "ConflictLine",
    "Diagnosis",
    "Gain",
    "GainLine",
    "Influence",
    "InfluenceLine",
    "Plan",
    "Predictability",
    "PredictabilityLine",
    "Shift",
    "ShiftLine",
    "conflict",
    "diagnose",
    "gain",
    "influence",
    "plan",
    "predictability",
    "shift",
]
