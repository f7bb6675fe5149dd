"""In a terminal: colours, a narrow window, a bar, and Ctrl-C."""

import re
import sys
import time

import pytest

from tests.cli.entry import COMMAND, machines, quick
from tests.cli.in_terminal import CODE, in_terminal

pytestmark = pytest.mark.slow

FIT = ["fit", "history.csv", "recent.csv", "--label", "wear"]


def words(shown):
    return " ".join(CODE.sub("", shown).split())


def test_a_verdict_stands_out_in_colour_and_not_where_colours_are_unwanted(folder):
    command = [*COMMAND, *FIT, "-o", "m.json"]
    code, shown = in_terminal(folder, command)
    assert code == 0, shown
    assert re.search(r"\x1b\[1;3[123]m(Measured|Expected)", shown)
    assert "Written: m.json" in words(shown)
    code, plain = in_terminal(folder, [*command, "--force"], NO_COLOR="1")
    assert code == 0, plain
    assert not re.findall(r"\x1b\[[\d;]*3\d[\d;]*m", plain)
    verdict = words(shown)[words(shown).index("Expected with") :]
    assert words(plain).endswith(verdict)  # before it a bar may show


@pytest.mark.filterwarnings("ignore::poolwise.errors.LeftOut")
def test_in_a_narrow_window_nothing_is_lost_and_no_line_is_too_long(folder, monkeypatch):
    code, shown = in_terminal(folder, [*COMMAND, *FIT], columns=40)
    assert code == 0, shown
    lines = CODE.sub("", shown).replace("\r", "").splitlines()
    assert max(map(len, lines)) <= 40
    numbers = re.findall(r"-?\d+\.\d{3,}", quick(folder, monkeypatch, *FIT).stdout)
    assert len(numbers) > 10
    assert [number for number in numbers if number not in words(shown)] == []


# The command, in which reading a batch of a file takes a while.
SLOW = """
import sys, time
from poolwise.cli import main
from poolwise.moments import progress
from poolwise.tables.file_reader import Reader
batches = Reader.batches
def slow(reader, *args):
    for batch in batches(reader, *args):
        if {which!r} in reader.where:
            time.sleep({seconds})
        yield batch
Reader.batches = slow
progress.PATIENCE = {patience} or progress.PATIENCE
sys.argv = ["poolwise", *{arguments!r}]
main()
"""


SOON = 0.2  # seconds until a bar shows, where a test is not about when it does


def slow(seconds, arguments, which="history", patience=None):
    program = SLOW.format(seconds=seconds, arguments=arguments, which=which, patience=patience)
    return [sys.executable, "-c", program]


def test_what_takes_long_shows_a_bar_which_is_gone_in_the_end(folder):
    (folder / "history").mkdir()
    for k in range(8):
        machines(50, k, ("hours", "load", "wear")).to_parquet(folder / f"history/{k}.parquet")
    arguments = ["fit", "history", "recent.csv", "--label", "wear", "-o", "m.json"]
    code, shown = in_terminal(folder, slow(0.4, arguments))
    assert code == 0, shown
    assert "rows" in shown
    assert "━" in shown
    assert "Written: m.json" in words(shown)


@pytest.mark.parametrize(
    ("slowed", "label"),
    [
        ("poolwise.model.regressor.PooledRegressor.predict", "Predicting 6 rows"),
        ("poolwise.cli.write_table._csv", "Writing out.csv"),
        ("poolwise.tables.file_reader.Reader.batches", "Reading new.csv"),
    ],
    ids=["predicting", "writing", "reading"],
)
def test_predictions_that_take_long_show_a_bar(fitted, slowed, label):
    where, _, function = slowed.rpartition(".")
    program = (
        "import sys, time, pkgutil\n"
        "from poolwise.cli import main\n"
        "from poolwise.moments import progress\n"
        f"progress.PATIENCE = {SOON}\n"
        f"where = pkgutil.resolve_name({where!r})\n"
        f"quick = getattr(where, {function!r})\n"
        "def slow(*args, **more):\n"
        "    time.sleep(1.0)\n"
        "    return quick(*args, **more)\n"
        f"setattr(where, {function!r}, slow)\n"
        "sys.argv = ['poolwise', 'predict', 'model.json', 'new.csv', '-o', 'out.csv']\n"
        "main()\n"
    )
    code, shown = in_terminal(fitted, [sys.executable, "-c", program])
    assert code == 0, shown
    assert label in words(shown)
    assert "Written: out.csv, 6 rows predicted." in words(shown)


def test_reading_the_recent_table_shows_a_bar(folder):
    code, shown = in_terminal(folder, slow(1.0, FIT, which="recent", patience=SOON))
    assert code == 0, shown
    assert "Reading recent.csv" in words(shown)


def test_a_bar_shows_markup_in_a_name_and_does_not_obey_it(folder):
    (folder / "history").mkdir()
    for k in range(8):
        machines(50, k, ("hours", "load", "wear")).to_parquet(folder / f"history/{k}.parquet")
    name = "[/]x[red]y"
    arguments = ["fit", "--history", f"{name}=history", "recent.csv", "--label", "wear"]
    code, shown = in_terminal(folder, slow(0.1, arguments, patience=SOON))
    assert code == 0, shown
    assert f"Reading table '{name}'" in words(shown)


def test_predictions_on_a_terminal_obey_no_cell(fitted):
    new = machines(1, 2).drop(columns="wear").assign(id="\x1b[2J\x07gone", note="\u202egnp")
    new.to_parquet(fitted / "new.parquet")
    code, shown = in_terminal(fitted, [*COMMAND, "predict", "model.json", "new.parquet"])
    assert code == 0, shown
    assert "\\x1b[2J\\x07gone" in shown
    assert "\\u202egnp" in shown
    rows = shown[shown.index('"hours"') :]  # before them a bar hides the cursor and shows it again
    assert not {"\x1b", "\x07", "\u202e"} & set(rows)


@pytest.mark.parametrize("there", [False, True], ids=["new", "replaced"])
def test_an_interrupt_loses_nothing_and_leaves_nothing(folder, there):
    if there:
        (folder / "m.json").write_text("what was there")
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    arguments = [*FIT, "-o", "m.json", "--force", "--report", "r.html"]
    start = time.monotonic()
    code, shown = in_terminal(folder, slow(60, arguments), interrupt_at=b"Reading")
    assert time.monotonic() - start < 50
    assert code == 130
    assert words(shown).endswith("Interrupted. Nothing was written.")
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
