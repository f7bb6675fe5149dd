"""Every error and warning that poolwise raises on purpose.

A message says what is wrong, with names and numbers, and then what to do about it.
"""

from __future__ import annotations

from poolwise.errors.data_warnings import (
    BeginsAnew,
    ConstantFeatures,
    ConstantResponse,
    DroppedColumns,
    EmptySource,
    FewRows,
    FilledColumn,
    FragmentsLeftOut,
    LevelAssumed,
    LevelsApart,
    ModelAssumes,
    OtherSpelling,
    OtherUnits,
    RowsDropped,
    SwappedTables,
)
from poolwise.errors.datasets import (
    DatasetNotFound,
    NotInstalled,
    UnknownDataset,
    UnknownResult,
    UnreadableDataset,
    WrongChecksum,
)
from poolwise.errors.family import TransferError, TransferWarning, _restored
from poolwise.errors.files import (
    FilesNotFound,
    NotACheckpoint,
    NotInFile,
    NullResponse,
    NullsInFile,
    TooManyPatterns,
    UnknownFormat,
    UnreadableFile,
)
from poolwise.errors.method_warnings import (
    DigitsLost,
    NoiseNotEstimable,
    OptionIgnored,
    PredictionsBounded,
    RankDeficient,
    SourceLeftOut,
    VarianceLeftOut,
)
from poolwise.errors.methods import (
    BadOption,
    NeedsRows,
    NeedsTargetRows,
    NoCoefficients,
    NotALine,
    NoUncertainty,
    SingularTarget,
    TooFewRows,
    TooFewToCompare,
    UnknownMethod,
)
from poolwise.errors.numbers import (
    BadWeights,
    BeyondDoubles,
    CannotSubtract,
    MissingHere,
    NotFinite,
    PredictionsBeyondDoubles,
    RoundedIntegers,
    TooLarge,
    UnitsApart,
)
from poolwise.errors.problems import (
    BadSource,
    DifferentResponse,
    EmptyTarget,
    NoFeatures,
    NoResponse,
    NoSharedColumn,
    NotAProblem,
    NotMoments,
    ResponseInFeatures,
    SlicedSources,
    TooManyColumns,
    UnclearLevels,
    UnknownSource,
    UnusableModel,
)
from poolwise.errors.processes import NotOnWorkers, RowsMoved, WorkerDied, WorkersLost
from poolwise.errors.saving import (
    CannotExport,
    CannotSave,
    MomentsLeftOut,
    NotOverwritten,
    NotWritten,
    TooFewToShare,
    UnreadableModel,
    UnreadableMoments,
)
from poolwise.errors.tables import (
    ColumnMismatch,
    DuplicateColumns,
    LengthsDiffer,
    MissingColumns,
    NewLevels,
    NotNumeric,
    NotRealNumbers,
    NotTwoDimensional,
    OtherColumns,
    RowsWithoutFeatures,
    ShapeMismatch,
    UnknownTable,
    UnseenLevel,
)

__all__ = [  # noqa: RUF022  in the order of the guide that explains them
    "TransferError", "UnknownTable", "DuplicateColumns", "MissingColumns", "NotNumeric",
    "NotRealNumbers", "RowsWithoutFeatures", "UnseenLevel", "NotTwoDimensional", "LengthsDiffer",
    "OtherColumns", "ShapeMismatch", "ColumnMismatch", "NewLevels", "NotFinite", "MissingHere",
    "TooLarge", "BeyondDoubles", "PredictionsBeyondDoubles", "UnitsApart", "RoundedIntegers",
    "BadWeights", "CannotSubtract", "BadSource", "NoResponse", "NotMoments", "NotAProblem",
    "SlicedSources", "NoSharedColumn", "TooManyColumns", "DifferentResponse", "ResponseInFeatures",
    "EmptyTarget", "NoFeatures", "UnknownSource", "UnclearLevels", "UnusableModel",
    "UnreadableMoments", "NotOverwritten", "NotWritten", "TooFewToShare", "UnreadableModel",
    "CannotSave", "MomentsLeftOut", "CannotExport", "FilesNotFound", "UnknownFormat",
    "UnreadableFile", "NotACheckpoint", "NotInFile", "NullsInFile", "NullResponse",
    "TooManyPatterns", "UnknownMethod", "BadOption", "NeedsRows", "NeedsTargetRows",
    "NoCoefficients", "NotALine", "NoUncertainty", "SingularTarget", "TooFewToCompare",
    "TooFewRows", "UnknownDataset", "UnknownResult", "DatasetNotFound", "WrongChecksum",
    "UnreadableDataset", "NotInstalled", "NotOnWorkers", "WorkerDied", "WorkersLost", "RowsMoved",
    "TransferWarning", "DroppedColumns", "SwappedTables", "OtherSpelling", "ModelAssumes",
    "EmptySource", "LevelAssumed", "RowsDropped", "BeginsAnew", "FragmentsLeftOut", "LevelsApart",
    "OtherUnits", "FilledColumn", "ConstantFeatures", "ConstantResponse", "FewRows",
    "RankDeficient", "DigitsLost", "VarianceLeftOut", "NoiseNotEstimable", "OptionIgnored",
    "SourceLeftOut", "PredictionsBounded",
]  # fmt: skip

# Tracebacks, pickles and skops name a class by its module: let that be the one to import it from,
# in whichever file here it stands.
for _name in __all__:
    globals()[_name].__module__ = __name__
_restored.__module__ = __name__
