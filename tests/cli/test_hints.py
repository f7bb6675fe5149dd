"""Hints: what to do is said in options of the command line, for every error that needs it."""

import datetime
import json
import os
import re

import numpy as np
import pandas as pd
import pytest

from poolwise import Moments, PooledRegressor, moments_of
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


def taken():
    change("recent.csv", **{"log(wear)": 1.0 + np.arange(40) % 7})
    change("history.csv", wear=1.0)
    return [*FIT, "--log"]


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
    ("NotFinite", "response"): (response, "out of the file, or use the command without --strict."),
    ("BadSource", "response"): (no_response, "Give the column the same name in all tables."),
    ("BadColumns", "response"): (taken, "Leave it out with --drop 'log(wear)', or rename it."),
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


def rewrite(**columns):
    """Write new.csv as Parquet, with other columns."""
    pd.read_csv("new.csv").assign(**columns).to_parquet("new.parquet")
    return ["new.parquet"]


def emptied():
    open("new.csv", "w").close()
    return ["new.csv"]


def shortened():
    with open("model.json") as file:
        text = file.read()
    with open("model.json", "w") as file:
        file.write(text[:1000])
    return ["new.csv"]


def without_moments():
    PooledRegressor.load("model.json").save("model.json", overwrite=True, moments=False)
    change("new.csv", hours=np.nan)
    return ["new.csv"]


def without_deviation():
    recent = pd.read_csv("recent.csv")
    model = PooledRegressor("feature_transfer").fit(
        recent.drop(columns="wear"), recent["wear"], sources=["history.csv"]
    )
    model.save("model.json", overwrite=True)
    return ["new.csv", "--std"]


def changed(**columns):
    return lambda: change("new.csv", **columns) or ["new.csv"]


def bytes_in(name, content):
    def write():
        with open(name, "wb") as file:
            file.write(content)
        return [name]

    return write


# What to change, and to type after "predict model.json"; a part of the message.
PREDICT_FAILS = {
    "no file": (lambda: ["gone.csv"], "There is no such file"),
    "no model": (lambda: os.remove("model.json") or ["new.csv"], "there is no such file"),
    "a damaged model": (shortened, "cannot be read as a model file"),
    "a suffix": (bytes_in("new.dta", b"a"), "does not say how it is written"),
    "an encoding": (
        bytes_in("new.csv", "hours,load,site\n1,1,Küste\n".encode("latin1")),
        "--csv encoding=NAME",
    ),
    "a damaged file": (bytes_in("new.parquet", b"PAR1 and nothing"), "Write it again if it was"),
    "another format": (bytes_in("new.parquet", b"hours\n1\n"), "its name says Parquet"),
    "an empty file": (emptied, "cannot be read as CSV"),
    "text among numbers": (changed(hours="n.m."), "the column held numbers at fit"),
    "a time": (lambda: rewrite(hours=datetime.time(12)), "kind of value that it held at fit"),
    "text in Parquet": (lambda: rewrite(hours="many"), "kind of value that it held at fit"),
    "truth for text": (lambda: rewrite(site=True), "kind of value that it held at fit"),
    "long integers": (lambda: rewrite(hours=2**60 + np.arange(6)), "with fewer digits"),
    "infinity": (changed(hours=np.inf), "'hours' in 6 of 6 rows"),
    "beyond doubles": (changed(hours=1e308, load=-1e308), ""),
    "a repeated column": (
        bytes_in("new.csv", b"hours,hours,load,site\n1,1,1,coast\n"),
        "more than one column named 'hours'",
    ),
    "a lacking column": (
        bytes_in("new.csv", b"hours,site\n1,coast\n"),
        "may lack columns that some table lacked at fit: 'vibration'",
    ),
    "a new level": (lambda: unseen()[2:], "use --no-strict"),
    "no moments": (without_moments, "saved without moments"),
    "no deviation": (without_deviation, "no standard deviation"),
    "a column of predictions": (lambda: ["new.csv", "--column", "load"], "--column"),
    "a wrong interval": (lambda: ["new.csv", "--interval", "2"], "--interval"),
    "a wrong option of CSV": (lambda: ["new.csv", "--csv", "comma=;"], "named like an option"),
    "a file that is there": (lambda: ["new.csv", "-o", "recent.csv"], "--force"),
    "no folder": (lambda: ["new.csv", "-o", "gone/out.csv"], "There is no folder gone."),
    "several files": (lambda: ["*.csv"], "is one file"),
}


@pytest.mark.parametrize("fault", PREDICT_FAILS)
def test_errors_of_predict_name_options_that_it_has(fitted, monkeypatch, fault):
    monkeypatch.chdir(fitted)
    prepare, part = PREDICT_FAILS[fault]
    told = quick(fitted, monkeypatch, "predict", "model.json", *prepare())
    said = " ".join(told.stderr.replace("│", " ").split())
    assert told.exit_code in (1, 2), told.output
    assert part in said
    assert python_in(said) == []
    options = quick(fitted, monkeypatch, "predict", "--help").stdout
    assert all(option in options for option in re.findall(r"--[a-z-]+", said)), said


def test_each_of_several_faults_names_options(fitted, monkeypatch):
    monkeypatch.chdir(fitted)
    change("recent.csv", wear=[np.nan, *range(39)], pump=[f"r{k}" for k in range(40)])
    said = quick(fitted, monkeypatch, *FIT, "--strict").stderr
    assert said.startswith("BadColumns: There are 2 faults.\n- Column 'pump' of recent.csv would")
    assert "Leave such rows out of the file, or use the command without --strict." in said
    assert python_in(said) == []


def test_cautions_of_a_report_and_of_a_summary_name_options(fitted, monkeypatch):
    monkeypatch.chdir(fitted)
    command = groups()
    told = quick(fitted, monkeypatch, *command, "--report", "r.json", "--json")
    assert told.exit_code == 0, told.output
    cautions = json.loads((fitted / "r.json").read_text())["cautions"]
    assert any("Hold out whole groups with --group nr." in text for text in cautions)
    notes = json.loads((fitted / "r.json").read_text())["columns"]["account"]["notes"]
    assert [text for text in notes if "--group nr" in text] == notes
    change("history.csv", hours=pd.read_csv("history.csv")["hours"] * 1000.0)
    told = json.loads(quick(fitted, monkeypatch, *FIT, "--json").stdout)
    for text in (*cautions, *told["summary"]["cautions"]):
        assert python_in(text) == []
    assert any("Other units" in text for text in told["summary"]["cautions"])


def test_swapped_tables_are_told_first(fitted, monkeypatch):
    monkeypatch.chdir(fitted)
    change("history.csv", hours=pd.read_csv("history.csv")["hours"] * 1000.0)
    told = quick(fitted, monkeypatch, *swapped())
    kinds = told.stderr.splitlines()
    assert len(kinds) > 1
    assert "Are they swapped? History comes first" in kinds[0]


def test_moments_of_rows_without_the_label_have_a_hint_of_their_own(fitted, monkeypatch):
    monkeypatch.chdir(fitted)
    change("history.csv", wear=[np.nan, *range(299)])
    said = quick(fitted, monkeypatch, "moments", "history.csv", "--nulls", "split", *SAVE).stderr
    assert said.endswith("Leave out all rows that lack a value with --nulls drop.\n")


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
