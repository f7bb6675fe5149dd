"""Every error and warning: documented, in the family, and able to cross processes."""

import inspect
import pickle

import pytest

from poolwise import METHODS, errors
from poolwise.errors import TransferError, TransferWarning

# One of each, as its callers make it.
EXAMPLES = [
    errors.ColumnMismatch(["a"], ["b"]),
    errors.ColumnMismatch(["a"], ["b"], "add", "source 'old'"),
    errors.ShapeMismatch(2, [(3, 1)]),
    errors.MissingColumns(["incom"], ["income"]),
    errors.DuplicateColumns(["a", "a"]),
    errors.BadWeights("Weights have shape (99,) for 100 rows."),
    errors.NotFinite({"age": 41}, 10_000),
    errors.MissingHere({"age": 41}, 10_000, ["bmi"]),
    errors.TooLarge(["a"], 1e300),
    errors.BeyondDoubles(["a"]),
    errors.PredictionsBeyondDoubles(3),
    errors.UnitsApart("a", {"the target": 1e-300, "source 'old'": 1e300}),
    errors.RoundedIntegers(2, 2**53 + 1),
    errors.DigitsLost("the target", 1e-3),
    errors.VarianceLeftOut(["a"]),
    errors.SingularTarget(3, 4),
    errors.NotNumeric("day", "of X holds Date", "Drop it."),
    errors.NotRealNumbers("<U3"),
    errors.RowsWithoutFeatures("the target", 3),
    errors.UnseenLevel("region", ["west"], ["north", "south"]),
    errors.UnknownTable(dict, "X"),
    errors.BadSource("old", 5),
    errors.NotMoments("old", []),
    errors.NotAProblem([1.0]),
    errors.SlicedSources("list", 20),
    errors.NotTwoDimensional("X", (3,)),
    errors.LengthsDiffer("source 'old'", 3, 4),
    errors.OtherColumns(["b", "a"], ["a", "b"]),
    errors.TooFewToCompare(2, 3),
    errors.EmptyTarget(0),
    errors.NoResponse("old", "y", ["age"]),
    errors.NoFeatures("y"),
    errors.NoSharedColumn("old", ["z"], ["a"]),
    errors.TooManyColumns("old", 4, 3),
    errors.DifferentResponse("old", "price", "cost"),
    errors.ResponseInFeatures("y"),
    errors.NeedsRows("kernel_transfer", ["old"]),
    errors.NeedsTargetRows("boosted_pooling"),
    errors.NoCoefficients("coef_", "boosted_pooling"),
    errors.NotALine("boosted_pooling"),
    errors.TooFewRows("offset", 3, 5, "target_only"),
    errors.UnknownMethod("data_poling", ["data_pooling", "offset"]),
    errors.BadOption("ddof", 3, "'unbiased' or 'mle'"),
    errors.NoUncertainty("offset"),
    errors.UnreadableMoments("b.moments.json", "it is empty"),
    errors.NotOverwritten("b.moments.json"),
    errors.NotWritten("a.moments.json", "No space left on device"),
    errors.UnreadableModel("b.model.json", "it is empty"),
    errors.CannotSave("its method Mine is not one of poolwise's", "Keep it in a pickle"),
    errors.MomentsLeftOut("summary"),
    errors.CannotExport("SQL", "a column has the empty name", "Rename it"),
    errors.TooFewToShare("the table", 3, 10),
    errors.CannotSubtract("5 rows of 3"),
    errors.UnknownSource("2018", ["2019"]),
    errors.NewLevels("region", ["west"], ["north", "south"]),
    errors.UnclearLevels("source 'b'", "site", "3% of its rows have none of the levels 'n'"),
    errors.UnusableModel("its means are not known", "Give means"),
    errors.UnknownDataset("whine", ["concrete", "wine"]),
    errors.UnknownResult("smal5", ["small5", "small3"]),
    errors.DatasetNotFound("wine", "uci/wine.csv.gz", ["no file /data/uci/wine.csv.gz"]),
    errors.WrongChecksum("wine", "/data/uci/wine.csv.gz", "e2ca", "542c", "Delete it."),
    errors.UnreadableDataset("airfare", "airfare.csv.gz", "it is empty", "text"),
    errors.FilesNotFound("history/*.csv", "No file matches this pattern."),
    errors.UnknownFormat("history/part-0000", [".csv", ".parquet"]),
    errors.UnreadableFile("old.parquet", "parquet", "it begins like text"),
    errors.UnreadableFile("old.csv", "csv", "column 'a' holds 'x' in line 7", "a"),
    errors.NotACheckpoint("b.part", "ValueError"),
    errors.NotInFile("2019.csv", "wear", ["Wear"], "the name of the response"),
    errors.NullsInFile("2019.csv", {"age": 41}, 41),
    errors.NullResponse("2019.csv", "y", 3, 90),
    errors.TooManyPatterns("source 'old'", 1000),
    errors.WorkerDied(2),
    errors.RowsMoved("old"),
    errors.NotOnWorkers("poolwise", "Spark", "Install it there."),
    errors.WorkersLost("Dask", "history/2019.parquet", "its client is closed"),
    errors.NotInstalled("Downloading", "pooch", "data", "Or name a folder."),
    errors.DroppedColumns("old", ["z"]),
    errors.SwappedTables(["z"], 150, 5_000),
    errors.OtherSpelling("new.csv", {"load": "Load"}),
    errors.ModelAssumes("its means are taken to be the target's."),
    errors.EmptySource("old"),
    errors.LevelAssumed("the target", "site", "'n' is taken for the one that is left out"),
    errors.RowsDropped("old", {"age": 41, "bmi": 2}, 42, 10_000),
    errors.BeginsAnew("b.part"),
    errors.FragmentsLeftOut("X", 3, 2),
    errors.LevelsApart("old", "region", ["n"], ["north"]),
    errors.OtherUnits("old", "temperature", (59.0, 14.4), (15.0, 8.0)),
    errors.FilledColumn("old", "rain", 0.0),
    errors.ConstantFeatures(["a"]),
    errors.ConstantResponse("the target", 2.5),
    errors.RankDeficient(["a", "b"], "the target"),
    errors.FewRows(3, 4),
    errors.NoiseNotEstimable("the target", "3 rows for 4 coefficients", "This stands in."),
    errors.OptionIgnored("means", ["x33"], "unseen features", ["x2"]),
    errors.PredictionsBounded(3, 10, (-1.5, 4.0)),
    errors.SourceLeftOut("offset", ["old"], "it lacks a column"),
]


def classes():
    return [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if kind.__module__ == errors.__name__ and not kind.__name__.startswith("_")
    ]


@pytest.mark.parametrize("kind", classes())
def test_every_class_is_documented_and_in_the_family(kind):
    assert kind.__doc__
    assert kind.__doc__.strip().endswith(".")
    assert issubclass(kind, TransferError) != issubclass(kind, TransferWarning)


def test_errors_are_value_errors_and_warnings_are_user_warnings():
    assert issubclass(TransferError, ValueError)
    assert issubclass(TransferWarning, UserWarning)


def test_every_class_has_an_example_here():
    missing = set(classes()) - {type(e) for e in EXAMPLES} - {TransferError, TransferWarning}
    assert not missing, f"Add {sorted(k.__name__ for k in missing)} to EXAMPLES in {__file__}."


def test_every_class_is_imported_from_the_package():
    kinds, found = [TransferError, TransferWarning], []
    while kinds:
        found.append(kinds.pop())
        kinds += found[-1].__subclasses__()
    assert [k for k in found if k.__module__.startswith(f"{errors.__name__}.")] == []
    assert {k.__name__ for k in classes()} == set(errors.__all__)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: type(e).__name__)
def test_a_message_survives_pickling(example):
    again = pickle.loads(pickle.dumps(example))
    assert type(again) is type(example)
    assert str(again) == str(example)
    assert vars(again) == vars(example)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: type(e).__name__)
def test_a_message_is_made_of_whole_sentences(example):
    message = str(example)
    assert message[-1] in ".)?"
    assert "  " not in message
    assert "{" not in message or isinstance(example, errors.NotFinite | errors.MissingHere)
    assert "invalid input" not in message.lower()


@pytest.mark.parametrize(
    ("example", "parts"),
    [
        (errors.NotFinite({"age": 41}, 10_000), ["'age' in 41 of 10,000 rows", "Drop or impute"]),
        (errors.MissingHere({"age": 41}, 10, ["bmi"]), ["'age' in 41 of 10 rows", "'bmi'"]),
        (errors.MissingHere({"age": 41}, 10, []), ["none may be missing"]),
        (errors.UnknownMethod("data_poling", ["data_pooling"]), ["Did you mean 'data_pooling'?"]),
        (errors.UnknownMethod(5, ["data_pooling"]), ["No method named 5", "'data_pooling'"]),
        (errors.UnknownMethod("pool", list(METHODS)), [repr(name) for name in METHODS]),
        (errors.PredictionsBounded(3, 10, (-1.5, 4.0)), ["3 of 10", "-1.5 to 4", "bounds=None"]),
        (errors.NoUncertainty("offset"), ["This fit of offset", "bayes_pooling has one wherever"]),
        (
            errors.EmptyTarget(7, {"bmi": 7}),
            ["None of the 7 rows of X has all columns (missing: 'bmi' in 7)"],
        ),
        (errors.UnknownTable(dict, "source 'old'"), ["Source 'old' is a builtins.dict"]),
        (errors.SlicedSources("list", 20), ["length 20", "poolwise.Sources(...)"]),
        (errors.UnseenLevel("g", ["w"], ["n", "s"]), ["'g'", "'w'", "'n', 's'", "'n'"]),
        (errors.TooManyColumns("old", 4, 3), ["'old'", "4 columns", "at most 3 columns"]),
        (errors.DifferentResponse("old", "price", "cost"), ["'old'", "'price'", "'cost'"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_message_says_names_numbers_and_what_to_do(example, parts):
    for part in parts:
        assert part in str(example)


def test_a_type_that_cannot_be_read_is_a_type_error_too():
    assert isinstance(errors.UnknownTable(dict, "X"), TypeError)
    assert isinstance(errors.BadSource("old", 5), TypeError)


def test_a_name_in_other_capitals_is_near():
    assert "Did you mean 'cost'?" in str(errors.MissingColumns(["COST"], ["age", "cost"]))
    assert "mean" not in str(errors.MissingColumns(["zzz"], ["age", "cost"]))
