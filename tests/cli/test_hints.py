"""Hints: what to do is said in options of the command line, for every error that needs it."""

import datetime
import json

import numpy as np
import pandas as pd
import pytest

from poolwise import Moments, moments_of
from poolwise.cli.hints import HINTS, message_and_hint
from poolwise.errors import BadOption, NotFinite
from poolwise.tables.streamed_rows import check_few
from tests.cli.entry import python_in, quick

pytestmark = pytest.mark.filterwarnings("ignore::poolwise.errors.PoolwiseWarning")
FIT = ["fit", "history.csv", "recent.csv", "--label", "wear"]
SAVE = ["-o", "m.moments.json", "--label", "wear"]


def change(name, **columns):
    """Replace columns of a CSV file in the working directory."""
    pd.read_csv(name).assign(**columns).to_csv(name, index=False)


def existing():
    change("history.csv", load=[np.nan] * 30 + [1.0] * 270)
    moments = "m.without_load.moments.json"
    open(moments, "w").close()
    return ["moments", "history.csv", "--nulls", "split", *SAVE]


def suffix():
    open("history.dta", "w").close()
    return ["fit", "history.dta", *FIT[2:]]


def encoding():
    with open("history.csv", "ab") as file:
        file.write("1.0,30,Küste,5.0,1.0\n".encode("latin1"))
    return FIT


def column():
    change("history.csv", load=["n.m.", *range(299)])
    return FIT


def form():
    with open("history.parquet", "wb") as file:
        file.write(b"PAR1 and then nothing")
    return ["fit", "history.parquet", *FIT[2:]]


def numbers():
    change("recent.csv", hours=["n.m.", *(str(k) for k in range(39))])
    return ["moments", "recent.csv", *SAVE]


def levels():
    pd.DataFrame({"id": [f"a{k}" for k in range(20_000)], "wear": 1.0}).to_csv("ids.csv")
    return ["moments", "ids.csv", *SAVE]


def kinds():
    change("recent.csv", load="many")
    return ["moments", "history.csv", "recent.csv", *SAVE]


def kind():
    recent = pd.read_csv("recent.csv").assign(day=datetime.time(12, 30))
    recent.to_parquet("recent.parquet")
    return ["fit", "history.csv", "recent.parquet", *FIT[3:]]


def largest():
    change("recent.csv", hours=2**60 + np.arange(40))
    return FIT


def missing_values():
    change("history.csv", load=[np.nan, *range(299)])
    return [*FIT, "--nulls", "raise"]


def response():
    change("history.csv", wear=[np.nan, *range(299)])
    return [*FIT, "--drop", "plant", "--strict"]


def no_response():
    pd.read_csv("history.csv").drop(columns="wear").to_csv("history.csv", index=False)
    return FIT


def unseen():
    change("new.csv", site="moon")
    return ["predict", "model.json", "new.csv", "--strict"]


def swapped():
    return ["fit", "recent.csv", "history.csv", *FIT[3:], "--drop", "plant"]


def no_target():
    change("recent.csv", hours=[np.nan] * 20 + [1.0] * 20, load=[1.0] * 20 + [np.nan] * 20)
    return ["fit", "recent.csv", *FIT[3:]]


def no_row():
    pd.read_csv("recent.csv")[:0].to_csv("recent.csv", index=False)
    return FIT


def transform():
    change("recent.csv", wear=[0.0, *range(1, 40)])
    return [*FIT, "--log"]


def planned():
    pd.read_csv("recent.csv")[:3].to_csv("recent.csv", index=False)
    return ["plan", *FIT[1:]]


def dropped():
    change("history.csv", load=[np.nan, *range(299)])
    return [*FIT, "--nulls", "drop"]


def units():
    change("history.csv", hours=pd.read_csv("history.csv")["hours"] * 1000.0)
    return FIT


def groups():
    change("recent.csv", nr=100 + 3 * (np.arange(40) % 20))
    return FIT


def time():
    change("recent.csv", year=1980 + np.arange(40) // 4)
    return FIT


def precision():
    hours = pd.read_csv("recent.csv")["hours"]
    noise = np.random.default_rng(0).normal(size=40)
    change("recent.csv", minutes=60.0 * hours + 1e-5 * noise)
    return ["fit", "recent.csv", *FIT[3:], "--precision", "fast", "--method", "target_only"]


def bounds():
    change("new.csv", hours=1e9)
    return ["predict", "model.json", "new.csv"]


# The key of a rule and its class -> what to change and to type, and the hint.
COMMANDS = {
    ("NotWritten", "existing"): (existing, "Give another name, or use --force to replace it."),
    ("BadFile", "suffix"): (suffix, "Rename it. Files of moments end in .moments.json."),
    ("BadFile", "encoding"): (encoding, "set it with --csv encoding=NAME."),
    ("BadFile", "column"): (column, "use --text load, or leave it out with --drop load."),
    ("BadFile", "form"): (form, "Rename it if it has another format."),
    ("NotNumeric", "numbers"): (numbers, "If they are codes, use --text hours."),
    ("NotNumeric", "levels"): (levels, "Leave it out with --drop id."),
    ("NotNumeric", "kinds"): (kinds, "Write it alike in all files, use --text load,"),
    ("NotNumeric", "kind"): (kind, "or text, or leave it out with --drop day."),
    ("NotNumeric", "largest"): (largest, "Leave the column out with --drop if it is an identifier"),
    ("NotFinite", "missing"): (missing_values, "--nulls drop leaves such rows out; --nulls split"),
    ("NotFinite", "transform"): (transform, "--sqrt takes zero, but no negative values."),
    ("NotFinite", "response"): (response, "Leave out all rows that lack a value with --nulls drop"),
    ("BadSource", "response"): (no_response, "Give the column the same name in all tables."),
    ("BadLevels", "unseen"): (unseen, "use --no-strict to predict such rows with the mean effect"),
    ("DataWarning", "swapped"): (swapped, "History comes first, the recent table last."),
    ("TooFewRows", "missing"): (no_target, "Leave columns out with --drop."),
    ("TooFewRows", "rows"): (no_row, "The recent table needs rows."),
    ("TooFewRows", "planned"): (planned, "poolwise fit says what history does today."),
    ("TooFewToShare", "min_rows"): (
        lambda: ["moments", "history.csv", *SAVE, "--min-rows", "1000"],
        "leave the column out with --drop, or use a smaller --min-rows.",
    ),
    ("LeftOut", "dropped"): (dropped, "--nulls split uses the rows that lack a feature."),
    ("DataWarning", "groups"): (groups, "Hold out whole groups with --group nr."),
    ("DataWarning", "time"): (time, "Test on later rows with --time year."),
    ("DataWarning", "source"): (units, "Other units, or scaled in one table only?"),
    ("DigitsLost", "precision"): (precision, "Use --precision accurate."),
    ("PredictionsBounded", "bounds"): (bounds, "Check the columns of these rows."),
}


NOTES = [("DataWarning", "groups"), ("DataWarning", "time")]  # of the account


@pytest.mark.parametrize("rule", COMMANDS, ids=" ".join)
def test_the_hint_names_options(fitted, monkeypatch, rule):
    monkeypatch.chdir(fitted)
    prepare, hint = COMMANDS[rule]
    command = prepare()
    told = quick(fitted, monkeypatch, *command)
    said = json.loads(quick(fitted, monkeypatch, *command, "--json").stdout)
    records = said["warnings"] if "warnings" in said else [said["error"]]
    (record,) = [x for x in records if x["kind"] == rule[0] and hint in x["hint"]]
    line = f"{record['message']} {record['hint']}"
    assert python_in(line) == []
    if rule in NOTES:
        assert f" note {line} " in " ".join(told.stdout.split())
        assert hint not in told.stderr
    else:
        assert told.stderr.splitlines().count(f"{record['kind']}: {line}") == 1


def raised(function, *arguments, **more):
    with pytest.raises(Exception) as caught:  # noqa: PT011  the caller looks at it
        function(*arguments, **more)
    return message_and_hint(caught.value)


def test_hints_that_take_much_data_name_options_too(fitted):
    assert raised(check_few, 10**6, "history")[1].startswith("Use --nulls drop, leave ")
    path = fitted / "m.moments.json"
    moments_of(fitted / "history.csv", response="wear").save(path)
    assert raised(Moments.load, path, max_bytes=10)[1] == ""


def test_every_rule_is_tested():
    others = {("NotFinite", "patterns"), ("BadFile", "max_bytes")}
    assert {(kind.__name__, key) for kind, key, _ in HINTS} == {*COMMANDS, *others}


def test_an_option_is_named_as_it_is_typed():
    for given, typed in {
        ("texts", ("a b", "c")): "--text 'a b,c' is not possible.",
        ("drop", "it's"): """--drop 'it'"'"'s' is not possible.""",
        ("random_state", -1): "--seed -1 is not possible.",
    }.items():
        assert message_and_hint(BadOption.of(*given, "so")) == (typed, "It must be so.")


def test_a_fit_leaves_an_identifier_out_and_says_so(fitted, monkeypatch):
    monkeypatch.chdir(fitted)
    change("history.csv", pump=[f"h{k}" for k in range(300)])
    many = pd.concat([pd.read_csv("recent.csv")] * 10)
    many.assign(pump=[f"r{k}" for k in range(400)]).to_csv("recent.csv", index=False)
    said = " ".join(quick(fitted, monkeypatch, *FIT).stdout.split())
    assert "pump of recent.csv: 400 different texts in 400 rows name rows" in said
    said = quick(fitted, monkeypatch, *FIT, "--strict").stderr
    assert "Column 'pump' of recent.csv would be left out: 400 different texts" in said


def test_without_a_rule_the_hint_is_that_of_the_library():
    error = NotFinite.of({"load": 3}, 40, "the target")
    assert message_and_hint(error) == (error.message, error.hint)
