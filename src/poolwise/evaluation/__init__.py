"""Does history help? Comparison, diagnosis and planning."""

from poolwise.evaluation.diagnosis import Diagnosis, diagnose
from poolwise.evaluation.gain import Gain, GainLine, gain
from poolwise.evaluation.influence import Influence, InfluenceLine, influence
from poolwise.evaluation.plan import Plan, plan
from poolwise.evaluation.predictability import Predictability, PredictabilityLine, predictability
from poolwise.evaluation.shift import Shift, ShiftLine, shift
from poolwise.evaluation.source_conflict import Conflict, ConflictLine, conflict

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
