"""Users of the command line and the report read of recent rows and history, never of a target."""

import json
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

from tests.cli.entry import OLD, machines, quick, write_tables

pytestmark = pytest.mark.filterwarnings("ignore::poolwise.errors.PoolwiseWarning")
# Two phrases of the diagnosis, which Python prints too.
API = re.compile(r"\b(target|sources?)\b", re.IGNORECASE)  # not target_only: that is a method

RECENT, HISTORY = machines(40, 1), machines(300, 0, OLD)
GAPS = RECENT.assign(vibration=RECENT["vibration"].where(np.arange(40) > 9))
GAPS.loc[11, "load"] = np.nan
EARLIER = HISTORY.assign(load=HISTORY["load"].where(np.arange(300) > 20))
EARLIER.loc[30:31, "hours"] = np.nan
TABLES = {
    "twice.csv": RECENT.assign(double=2.0 * RECENT["hours"]),
    "flat.csv": RECENT.assign(hours=1.0),
    "still.csv": RECENT.assign(wear=1.0),
    "exact.csv": RECENT.assign(wear=RECENT["hours"]),
    "few.csv": RECENT[:3],
    "none.csv": RECENT[:0],
    "void.csv": RECENT.assign(vibration=np.nan),
    "gaps.csv": GAPS,
    "words.csv": RECENT.assign(wear="low"),
    "dates.csv": RECENT.assign(day="2020-01-01"),
    "numbered.csv": RECENT.assign(site=[f"n{k}" for k in range(40)]),
    "light.csv": RECENT.assign(w=0.01),
    "negative.csv": RECENT.assign(w=-1.0),
    "wear.csv": RECENT[["wear"]],
    "2019.csv": HISTORY[:100].drop(columns="load"),
    "2020.csv": HISTORY[100:],
    "earlier.csv": EARLIER,
    "filled.csv": HISTORY.assign(load=0.0),
    "units.csv": HISTORY.assign(hours=60.0 * HISTORY["hours"]),
    "spelt.csv": HISTORY.assign(site="COAST", Vibrations=1.0),
    "unlabelled.csv": HISTORY.rename(columns={"wear": "use"}),
    "strange.csv": HISTORY[["wear"]].assign(other=2.0),
    "empty.csv": HISTORY[:0],
    "short.csv": HISTORY[:2],
    "holes.csv": HISTORY.assign(wear=HISTORY["wear"].where(np.arange(300) > 3)),
    "exactly.csv": HISTORY.assign(wear=HISTORY["hours"]),
    "far.csv": machines(5, 3).assign(hours=1e6),
    "unsure.csv": machines(5, 3).assign(hours=np.nan),
}
PAIRS = [f"history.csv {name}" for name in list(TABLES)[:14]]
PAIRS += [f"{name} recent.csv" for name in list(TABLES)[15:26]]
PAIRS += ["2019.csv 2020.csv recent.csv", "gaps.csv", "recent.csv history.csv"]
PAIRS += ["history.moments.json numbered.csv", "history.moments.json recent.csv --drop nothing"]
PAIRS += ["light.csv light.csv --weights w", "history.csv negative.csv --weights w"]
PAIRS += ["earlier.csv recent.csv --nulls drop", "earlier.csv recent.csv --nulls raise"]
HARD = ["2019.csv 2020.csv twice.csv", "short.csv few.csv", "exactly.csv exact.csv"]
METHODS = ["data_pooling", "monotone_likelihood", "offset", "source_columns_only", "auto"]
COMMANDS = [
    *(
        f"{command} --help"
        for command in ("fit", "compare", "report", "plan", "predict", "moments")
    ),
    "moments history.csv -o history.moments.json",
    "moments earlier.csv -o earlier.moments.json",
    "moments earlier.csv -o earlier.moments.json --nulls drop",
    *(f"fit {tables} --label wear" for tables in PAIRS),
    *(f"fit {tables} --label wear --method {method}" for tables in HARD for method in METHODS),
    "fit history.moments.json recent.csv --label wear --method kernel_transfer",
    "fit history.csv recent.csv --label worn",
    "compare history.moments.json recent.csv --label wear --folds 2",
    "compare history.csv few.csv --label wear --folds 2",
    "compare history.csv recent.csv --label wear --folds 1000000",
    "plan history.csv few.csv --label wear",
    "plan history.csv recent.csv --label wear --rows 10",
    "fit history.csv few.csv --label wear --method data_pooling -o few.json",
    "fit history.csv recent.csv --label wear -o model.json --no-moments",
    "predict few.json new.csv --std",
    "predict model.json far.csv",
    "predict model.json unsure.csv",
    "predict model.json history.csv",
    "report spelt.csv flat.csv --label wear -o spelt.html --folds 2",
    "report 2019.csv units.csv recent.csv --label wear -o several.html --folds 2",
    "report short.csv few.csv --label wear -o few.html",
    "report gaps.csv --label wear -o gaps.html --folds 2",
]


@pytest.mark.slow
def test_neither_commands_nor_reports_speak_of_target_and_sources(tmp_path, monkeypatch):
    write_tables(tmp_path)
    for name, table in TABLES.items():
        table.to_csv(tmp_path / name, index=False)
    found = {}
    for command in COMMANDS:
        said = quick(tmp_path, monkeypatch, *command.split())
        assert said.exception is None or isinstance(said.exception, SystemExit), command
        found[command] = said.stdout + said.stderr
    found |= {page.name: words_of(page.read_text()) for page in tmp_path.glob("*.html")}
    assert sum(".html" in name for name in found) == 8  # the commands, and their pages
    wrong = {name: API.findall(text) for name, text in unwrapped(found)}
    assert {name: words for name, words in wrong.items() if words} == {}


def test_warnings_in_json_name_the_recent_file(folder, monkeypatch):
    flat = pd.read_csv(folder / "recent.csv").assign(wear=1.0)
    flat.to_csv(folder / "flat.csv", index=False)
    asked = ["fit", "history.csv", "flat.csv", "--label", "wear", "--json"]
    warnings = json.loads(quick(folder, monkeypatch, *asked).stdout)["warnings"]
    assert any("in every row of flat.csv" in warning["message"] for warning in warnings)
    assert not any(API.search(f"{x['message']} {x['hint']}") for x in warnings)


def words_of(page):
    """Return the text of a page."""
    return unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL))


def unwrapped(found):
    return [(name, " ".join(text.split())) for name, text in found.items()]
