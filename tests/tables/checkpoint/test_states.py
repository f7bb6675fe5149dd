"""Checkpoints: whole or not there, written in time, refused when damaged."""

import json
import os
import time

import pytest

from poolwise.errors import BadOption, NotACheckpoint
from poolwise.tables import checkpoint as module
from poolwise.tables.checkpoint import Checkpoint
from poolwise.tables.pattern_sums import PatternSums
from poolwise.tables.streamed import LevelsFound


class Texts(LevelsFound):
    """Something that can be kept, and counts how often it was asked to be."""

    asked = 0

    def plain(self):
        Texts.asked += 1
        return super().plain()


FOUND = Texts({"site": frozenset(["coast", "Ærø"])})
MORE = Texts({"site": frozenset(["coast", "inland", "Ærø"])})


@pytest.fixture
def written(path):
    kept = Checkpoint(path, pause=0.0)
    kept.keep(kept.task("levels of a"), 3, FOUND)
    return path


def test_what_was_kept_is_found_by_the_next_run(written):
    kept = Checkpoint(written)
    found = kept.restored(kept.task("levels of a"), LevelsFound.of_plain)
    assert found == (3, LevelsFound(FOUND.texts))
    assert kept.is_resumed
    assert not kept.is_anew


def test_nothing_was_kept_of_another_task(written):
    kept = Checkpoint(written)
    assert kept.restored(kept.task("levels of b"), LevelsFound.of_plain) == (0, None)
    assert not kept.is_resumed
    assert kept.is_anew


def test_a_new_checkpoint_makes_no_file_before_there_is_something_to_keep(path):
    kept = Checkpoint(path, pause=0.0)
    name = kept.task("levels of a")
    assert kept.restored(name, LevelsFound.of_plain) == (0, None)
    kept.keep(name, 0, None, at_once=True)
    assert not path.exists()
    assert not kept.is_resumed
    assert not kept.is_anew


def test_another_version_of_poolwise_begins_anew(written, monkeypatch):
    monkeypatch.setattr(module, "version", lambda name: "0.0.1")
    kept = Checkpoint(written)
    assert kept.restored(kept.task("levels of a"), LevelsFound.of_plain) == (0, None)


def test_states_that_a_run_does_not_come_to_go_with_its_first_writing(written):
    kept = Checkpoint(written, pause=0.0)
    name = kept.task("levels of b")
    kept.keep(name, 1, FOUND)
    states = json.loads(written.read_text().splitlines()[1])
    assert list(states) == [name]
    later = Checkpoint(written, pause=0.0)
    later.task("levels of b")
    later.keep(later.task("sums of b"), 1, FOUND)  # the second task of the same job
    assert len(json.loads(written.read_text().splitlines()[1])) == 2


def change(text, old, new):
    assert text.count(old) >= 1
    return text.replace(old, new, 1)


DAMAGES = {
    "empty": (lambda text: "", "does not begin"),
    "prose": (lambda text: "Dear Sir,\n", "does not begin"),
    "binary": (lambda text: "\x00\x01Ã", "does not begin"),
    "a list": (lambda text: "[1, 2]\n", '"format"'),
    "moments": (lambda text: '{"format": "poolwise moments", "version": 1}', '"format"'),
    "newer": (lambda text: change(text, '"version": 1', '"version": 2'), "version is 2"),
    "no version": (lambda text: change(text, '"version": 1, ', ""), "version is None"),
    "cut short": (lambda text: text[:-20], "cut short"),
    "one line": (lambda text: text.splitlines()[0], "cut short"),
    "more shards than were done": (lambda text: change(text, "[3, ", "[4, "), "changed"),
    "shards that are no number": (lambda text: change(text, "[3, ", '["3", '), "changed"),
    "another letter": (lambda text: change(text, "coast", "Coast"), "changed"),
    "nothing found": (lambda text: text.splitlines()[0] + "\n{}\n", "changed"),
    "no digest": (lambda text: change(text, '"sha256"', '"sha1"'), "changed"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused_and_left_alone(written, damage):
    spoil, why = DAMAGES[damage]
    written.write_bytes(spoil(written.read_text()).encode("latin1"))
    before = written.read_bytes()
    with pytest.raises(NotACheckpoint, match=rf"job\.part.*{why}.*Remove it"):
        Checkpoint(written)
    assert written.read_bytes() == before


def test_a_folder_is_no_checkpoint(tmp_path):
    with pytest.raises(NotACheckpoint, match="directory"):
        Checkpoint(tmp_path)
    with pytest.raises(BadOption, match="folder that is there"):
        Checkpoint(tmp_path / "no" / "job.part")


@pytest.mark.parametrize("found", [None, [], {"site": 5}, {"moments": [["a"]]}, 3])
def test_a_state_that_holds_something_else_is_refused(path, found):
    class Odd:
        def plain(self):
            return found

    kept = Checkpoint(path, pause=0.0)
    kept.keep(kept.task("sums"), 1, Odd())
    again = Checkpoint(path)
    name = again.task("sums")
    for make in (LevelsFound.of_plain, PatternSums.of_plain):
        with pytest.raises(NotACheckpoint, match="something else"):
            again.restored(name, make)


def test_an_interrupt_while_writing_leaves_the_earlier_state(written, monkeypatch):
    kept = Checkpoint(written, pause=0.0)
    name = kept.task("levels of a")

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            kept.keep(name, 4, MORE)
    assert [file.name for file in written.parent.iterdir()] == ["job.part"]
    again = Checkpoint(written)
    assert again.restored(again.task("levels of a"), LevelsFound.of_plain)[0] == 3
    kept.keep(name, 4, MORE, at_once=True)  # what was not written is no more taken for written
    again = Checkpoint(written)
    found = again.restored(again.task("levels of a"), LevelsFound.of_plain)
    assert found == (4, LevelsFound(MORE.texts))


class Clock:
    """A clock that goes when it is told."""

    def __init__(self, monkeypatch, writing=0.0):
        self.now, self.writing, self.writings = 100.0, writing, 0
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)
        write = module.write

        def slow(*args, **options):
            self.writings += 1
            self.now += self.writing
            write(*args, **options)

        monkeypatch.setattr(module, "write", slow)


def test_nothing_is_written_before_its_time(path, monkeypatch):
    clock = Clock(monkeypatch)
    kept = Checkpoint(path, pause=2.0)
    name = kept.task("levels")
    kept.keep(name, 1, FOUND)
    kept.end(name, 1, FOUND)  # a quick job leaves no file behind
    clock.now += 1.9
    kept.keep(name, 2, FOUND)
    assert not path.exists()
    clock.now += 0.2
    kept.keep(name, 3, FOUND)
    kept.keep(name, 4, FOUND)
    assert clock.writings == 1
    kept.end(name, 5, FOUND)  # of a long job, the end of a task is written at once
    kept.end(name, 5, FOUND)
    assert clock.writings == 2
    later = Checkpoint(path)
    assert later.restored(later.task("levels"), LevelsFound.of_plain)[0] == 5


def test_a_task_that_was_quick_is_written_with_the_next(path):
    kept = Checkpoint(path, pause=1e9)
    first = kept.task("levels")
    kept.keep(first, 1, FOUND)
    kept.end(first, 2, FOUND)
    assert not path.exists()
    kept.keep(kept.task("sums"), 0, None, at_once=True)  # an interrupt at its beginning
    later = Checkpoint(path)
    assert later.restored(later.task("levels"), LevelsFound.of_plain)[0] == 2
    assert later.restored(later.task("sums"), LevelsFound.of_plain) == (0, None)
    assert later.is_resumed
    assert not later.is_anew


def test_large_states_are_written_less_often(path, monkeypatch):
    clock = Clock(monkeypatch, writing=3.0)
    kept = Checkpoint(path, pause=2.0)
    name, begin, Texts.asked = kept.task("sums"), clock.now, 0
    for done in range(1, 1001):
        clock.now += 1.0  # a second of work
        kept.keep(name, done, FOUND)
    share = clock.writings * clock.writing / (clock.now - begin)
    assert 0.03 < share < 0.06  # a twentieth, and a first one
    assert Texts.asked == clock.writings  # nor is it turned into text for nothing


def test_drafts_of_killed_processes_are_removed_in_the_end(written):
    folder = written.parent
    old, young = folder / f".job.part.{'0' * 16}", folder / f".job.part.{'1' * 16}"
    others = [folder / f".other.part.{'0' * 16}", folder / ".job.part.notes"]
    for file in (old, young, *others):
        file.write_text("half a state")
    for file in (old, *others):
        os.utime(file, (time.time() - 3600,) * 2)
    Checkpoint(written).remove()
    assert {*folder.iterdir()} == {young, *others}
    Checkpoint(written).remove()  # nothing there
