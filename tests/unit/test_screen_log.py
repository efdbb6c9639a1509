"""The screen log: what is newer after scrolling, wiping, other screens, other sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from termnode.terminal import engines
from termnode.terminal.engine import Engine
from termnode.terminal.pyte_engine.engine import PyteEngine
from termnode.terminal.screen_log import Changes, ScreenLog
from termnode.terminal.screen_log import past as past_module
from termnode.terminal.screen_log.marks import FAR, MAX_MARKS, edited, spans, tidy, whole
from termnode.terminal.screen_log.past import MAX_PARTLY, Past

ALTERNATE, MAIN = b"\x1b[?1049h", b"\x1b[?1049l"


class Lab:
    """An engine of 20 by 4 with its log; each step is one revision."""

    def __init__(self, name: str) -> None:
        self.engine: Engine = engines.make(name)(20, 4, 100)
        self.log = ScreenLog()
        self.log.sync(self.engine, 0)
        self.revision = 0

    def feed(self, data: bytes) -> int:
        """Feed and look; returns the revision."""
        self.skip(data)
        self.log.sync(self.engine, self.revision)
        return self.revision

    def skip(self, data: bytes) -> None:
        """Feed without a look."""
        self.engine.feed(data)
        self.revision += 1

    def resize(self, cols: int, rows: int) -> None:
        held = self.log.hold(self.engine, cols)
        self.engine.resize(cols, rows)
        self.revision += 1
        self.log.resized(self.engine, self.revision, held)

    def fresh(self, after: int) -> list[str]:
        """What of the screen is newer, row by row; rows without are left out."""
        texts = []
        for y, text in enumerate(self.engine.text()):
            texts += [text[a:b] for a, b in self.log.fresh(self.log.base + y, after)]
        return [text for text in texts if text]


@pytest.fixture(params=engines.available())
def lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    made = Lab(request.param)
    yield made
    made.engine.close()


# What is newer


def test_only_the_characters_that_differ_are_newer(lab: Lab) -> None:
    then = lab.feed(b"step 1 of 9 done")
    lab.feed(b"\rstep 2 of 9 done")
    assert lab.fresh(then) == ["2"]
    assert lab.log.changes(then) == Changes(False, (0,), 0)
    lab.feed(b"\r\x1b[Kstep 2 of 9")
    assert lab.fresh(then) == ["2"]
    lab.feed(b" longer")
    assert lab.fresh(then) == ["2", " longer"]


def test_rows_that_only_moved_up_are_not_newer(lab: Lab) -> None:
    then = lab.feed(b"one\r\ntwo\r\nthree\r\nfour")
    lab.feed(b"\r\nfive")
    assert (lab.log.base, lab.log.first) == (1, 0)
    assert lab.log.changes(then) == Changes(False, (4,), 0)
    assert lab.fresh(then) == ["five"]
    assert lab.log.fresh(0, then) == ()


def test_lines_nobody_saw_on_the_screen_are_newer(lab: Lab) -> None:
    then = lab.feed(b"old\r\n")
    lab.feed(b"".join(b"%d\r\n" % n for n in range(1, 51)))
    changes = lab.log.changes(then)
    assert changes == Changes(False, tuple(range(1, 52)), 0)
    assert lab.log.fresh(20, then) == ((0, FAR),)
    assert lab.engine.text(20 - lab.log.base, 1) == ["20"]


def test_newer_lines_that_are_out_of_history_are_missed(lab: Lab) -> None:
    then = lab.feed(b"old\r\n")
    lab.feed(b"".join(b"%d\r\n" % n for n in range(1, 151)))
    changes = lab.log.changes(then)
    assert changes.lines == tuple(range(lab.log.first, 152))
    # Of the rows that were on the screen then nobody knows whether they changed on their way.
    assert changes.missed == lab.log.first - 4
    assert lab.log.fresh(lab.log.first - 1, then) == ()


def test_a_row_that_changed_on_its_way_into_history_is_newer(lab: Lab) -> None:
    then = lab.feed(b"one\r\ntwo\r\nthree\r\nfour")
    lab.feed(b"\x1b[1;1HONE\x1b[2;1H\x1b[31mtwo\x1b[4;1H\n\n\n")
    assert lab.log.changes(then).lines == (0, 1, 4, 5, 6)
    assert lab.log.fresh(0, then) == ((0, FAR),)
    assert lab.log.fresh(1, then) == ()


def test_a_look_alone_changes_the_line_and_not_its_text(lab: Lab) -> None:
    then = lab.feed(b"word")
    lab.feed(b"\r\x1b[7mword")
    assert lab.log.changes(then).lines == (0,)
    assert lab.fresh(then) == []


@pytest.mark.parametrize(
    "clear", [b"\x1b[H\x1b[2J", b"\x1b[H\x1b[J", b"\x1b[H\x1b[2J\x1b[3J", b"\x1bc"]
)
def test_the_same_text_after_a_wipe_is_newer(lab: Lab, clear: bytes) -> None:
    then = lab.feed(b"\x1b[H$ echo done\r\ndone")
    lab.feed(clear + b"$ echo done\r\ndone")
    assert lab.fresh(then)[:2] == ["$ echo done", "done"]
    assert set(range(lab.log.base, lab.log.base + 4)) <= set(lab.log.changes(then).lines)


def test_without_a_look_at_the_anchor_more_is_newer_and_never_less(lab: Lab) -> None:
    lab.skip(b"before\r\n")
    anchor = lab.revision
    lab.feed(b"after")
    assert lab.fresh(anchor) == ["before", "after"]


# Screens


def test_what_stood_there_before_a_full_screen_program_is_not_newer(lab: Lab) -> None:
    then = lab.feed(b"$ make\r\ndone\r\n$ vim")
    inside = lab.feed(b"\r\n" + ALTERNATE + b"\x1b[H\x1b[2Jdone editing")
    assert lab.log.changes(then) == Changes(True, tuple(range(lab.log.base, lab.log.base + 4)), 0)
    assert lab.log.first == lab.log.base
    assert lab.fresh(then) == ["done editing"]
    lab.feed(MAIN + b"$ ")
    assert lab.fresh(then) == ["$"]
    assert lab.log.changes(inside).full
    assert lab.log.layout == 2


@pytest.mark.parametrize("leave", [MAIN, b"\x1b[H\x1b[2J" + MAIN, b"\x1b[H\x1b[J\x1b[?47l"])
def test_what_was_wiped_on_the_other_screen_is_not_the_main_one(lab: Lab, leave: bytes) -> None:
    then = lab.feed(b"done\r\n")
    lab.feed(ALTERNATE + b"inside")
    lab.feed(leave + b"\x1b[3;1H$ x")
    assert lab.fresh(then) == ["$ x"]
    unseen = lab.feed(b"\r\n")
    lab.feed(ALTERNATE + b"\x1b[2Jinside" + leave + b"\x1b[4;1H$ y")
    assert lab.fresh(unseen) == ["$ y"]


def test_a_prompt_that_erases_below_itself_wipes_nothing(lab: Lab) -> None:
    """zsh does with each prompt."""
    then = lab.feed(b"\x1b[Jdone\r\n\x1b[J$ ")
    lab.feed(b"true\r\n\r\x1b[0m\x1b[J$ ")
    assert lab.fresh(then) == [" true", "$"]


def test_a_reset_on_the_alternate_screen_leaves_nothing(lab: Lab) -> None:
    then = lab.feed(b"done")
    lab.feed(ALTERNATE)
    lab.feed(b"\x1bcdone")
    assert lab.fresh(then) == ["done"]


def test_a_clear_right_after_leaving_counts(lab: Lab) -> None:
    then = lab.feed(b"done")
    lab.feed(ALTERNATE + b"x")
    lab.feed(MAIN + b"\x1b[H\x1b[2Jdone")
    assert lab.fresh(then) == ["done"]


@pytest.mark.parametrize("mode", [b"47", b"1047", b"1049"])
def test_a_change_of_screens_is_noted_also_when_nobody_looked_between(
    lab: Lab, mode: bytes
) -> None:
    enter, leave = b"\x1b[?" + mode + b"h", b"\x1b[?" + mode + b"l"
    lab.feed(b"$ vim")
    assert lab.log.switched == -1
    seen = []
    for data in (b"text", b"\x1b[2J", b"\x1b[H\x1b[J", b"\x1bc", enter, b"\x1b[2J~", leave):
        lab.feed(data)
        seen.append(lab.log.switched)
    assert seen == [-1, -1, -1, -1, 6, 6, 8]
    there_and_back = lab.feed(enter + b"vim" + leave + b"$ ")
    assert lab.log.switched == there_and_back
    lab.skip(enter)
    lab.skip(leave)
    assert lab.feed(b"more") == lab.log.switched


def test_another_width_while_another_screen_is_up(lab: Lab) -> None:
    then = lab.feed(b"a line of some length\r\n$ vim\r\n")
    lab.feed(ALTERNATE)
    lab.resize(9, 6)
    lab.feed(MAIN + b"$ x")
    assert lab.fresh(then) == ["$ x"]


def test_another_height_while_another_screen_is_up(lab: Lab) -> None:
    then = lab.feed(b"one\r\ntwo\r\nthree\r\n")
    lab.feed(ALTERNATE)
    lab.resize(20, 2)
    lab.feed(MAIN + b"$ x")
    assert lab.fresh(then) == ["$ x"]


# Sizes


def test_another_height_keeps_numbers_and_ages(lab: Lab) -> None:
    lab.feed(b"\r\n".join(b"line %d" % n for n in range(8)))
    then = lab.revision
    lab.resize(20, 7)
    assert lab.fresh(then) == []
    assert not lab.log.changes(then).full
    for y, text in enumerate(lab.engine.text()):
        assert text in ("", f"line {lab.log.base + y}")
    lab.resize(20, 2)
    assert lab.fresh(then) == []


def test_another_width_begins_anew_and_keeps_ages(lab: Lab) -> None:
    lab.feed(b"x" * 50 + b"\r\n$ ")
    then = lab.feed(b"ls  -l")
    lab.feed(b"\r\nnew output here")
    lab.resize(11, 5)
    assert lab.log.changes(then).full
    assert lab.log.layout == 1
    assert "".join(lab.fresh(then)).split() == ["new", "outputhere"]
    later = lab.revision
    assert lab.log.changes(later) == Changes(False, (), 0)


def test_history_keeps_its_age_at_another_width(lab: Lab) -> None:
    lab.feed(b"".join(b"line %d\r\n" % n for n in range(30)))
    then = lab.feed(b"then\r\n")
    lab.feed(b"".join(b"more %d\r\n" % n for n in range(10)))
    lab.resize(18, 4)
    newer = [line for line in lab.log.changes(then).lines if line < lab.log.base]
    texts = [lab.engine.text(line - lab.log.base, 1)[0] for line in newer]
    assert texts == [f"more {n}" for n in range(7)]


# Anchors of others


def test_an_anchor_of_another_program_knows_nothing() -> None:
    engine = PyteEngine(20, 4)
    log = ScreenLog(50)
    log.sync(engine, 50)
    assert log.changes(50) == Changes(False, (), 0)
    assert log.changes(49) == Changes(True, (0, 1, 2, 3), 0)
    assert log.changes(51) == Changes(True, (0, 1, 2, 3), 0)
    engine.feed(b"x")
    log.sync(engine, 51)
    assert log.changes(50) == Changes(False, (0,), 0)
    assert log.fresh(0, 20) == ((0, FAR),)


def test_an_engine_that_takes_over_begins_anew() -> None:
    log = ScreenLog()
    log.sync(PyteEngine(20, 4), 0)
    other = PyteEngine(20, 4)
    other.feed(b"x")
    log.sync(other, 1)
    assert (log.layout, log.changes(0).full) == (1, True)
    assert log.fresh(0, 0) == ((0, FAR),)


# Costs


class Counting(PyteEngine):
    """Counts the rows that are read."""

    texts_read = looks_read = 0

    def text(self, top: int = 0, count: int | None = None) -> list[str]:
        found = super().text(top, count)
        self.texts_read += len(found)
        return found

    def looks(self, top: int = 0, count: int | None = None) -> Sequence[object]:
        found = super().looks(top, count)
        self.looks_read += len(found)
        return found

    def read_since(self) -> tuple[int, int]:
        counts = self.texts_read, self.looks_read
        self.texts_read = self.looks_read = 0
        return counts


def test_a_look_reads_no_more_than_changed() -> None:
    engine, log = Counting(80, 24), ScreenLog()
    log.sync(engine, 0)
    engine.read_since()
    engine.feed(b"x")
    log.sync(engine, 0)
    assert engine.read_since() == (0, 0)  # the same revision: nothing is asked
    log.sync(engine, 1)
    assert engine.read_since() == (1, 1)
    engine.feed(b"\r\n" * 5_000)
    log.sync(engine, 2)
    texts, looks = engine.read_since()
    assert max(texts, looks) <= 48


class Flooded(PyteEngine):
    """As if far more lines had gone by than anybody could keep."""

    gone = 0

    @property
    def scrolled(self) -> int:
        return super().scrolled + self.gone


def test_lines_that_went_by_are_counted_one_by_one_nowhere() -> None:
    engine, log = Flooded(20, 4, 100), ScreenLog()
    log.sync(engine, 0)
    engine.feed(b"line\r\n" * 200)
    engine.gone = 10**15
    log.sync(engine, 1)
    changes = log.changes(0)
    assert changes.missed == log.first - 4
    assert changes.lines == tuple(range(log.first, log.base + 4))


def test_the_looks_of_a_row_are_read_for_that_row_alone(lab: Lab) -> None:
    lab.engine.feed(b"\x1b[31mone\r\ntwo\r\nthree")
    assert [text for text, _ in lab.engine.runs(1, 1)[0]] == ["two"]
    rows = getattr(lab.engine, "_screen", None)
    if rows is not None:
        assert [row.runs is not None for row in rows.rows()] == [False, True, False, False]
    assert [len(runs) for runs in lab.engine.runs()] == [1, 1, 1, 0]


# Marks and the past


def test_marks_are_bounded_and_never_grow_older() -> None:
    marks, text = whole(0), "." * 100
    for now in range(1, 40):
        new = text[: now * 2] + "x" + text[now * 2 + 1 :]
        marks = edited(marks, text, new, now)
        text = new
        assert len(marks) <= MAX_MARKS
    for now in range(1, 40):
        assert any(start <= now * 2 < end for start, end in spans(marks, now - 1))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("abc", "abXd", ((2, FAR),)),
        ("abc", "aXc", ((1, 2),)),
        ("abc", "ab", ()),
        ("abc", "", ()),
        ("", "abc", ((0, FAR),)),
        ("aaa", "aaaa", ((3, FAR),)),
        ("done", "done", ()),
    ],
)
def test_the_part_of_a_row_that_is_newer(
    old: str, new: str, expected: tuple[tuple[int, int], ...]
) -> None:
    found = spans(edited(whole(1), old, new, 2), 1)
    assert [s for s in found if s[0] < len(new)] == list(expected)


def test_neighbours_of_one_age_are_one_span() -> None:
    assert tidy([(0, 1), (2, 1), (4, 3)]) == ((0, 1), (4, 3))
    assert spans(((0, 5), (2, 6), (4, 1)), 3) == ((0, 4),)


def test_the_past_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past_module, "MAX_RUNS", 64)
    past = Past(0)
    for stamp in range(1_000):
        past.add(stamp, ((0, 0), (1, stamp)))
    assert len(past._starts) <= 65
    assert all(past.stamp(line) >= line for line in range(1_000))
    assert past.marks(999) == ((0, 0), (1, 999))
    assert [line for lines in past.newer(998) for line in lines] == [999]
    for stamp in range(MAX_PARTLY + 10):
        past.add(stamp, ((0, 0), (1, stamp)))
    assert len(past._partly) == MAX_PARTLY


def test_the_past_gives_lines_back() -> None:
    past = Past(10)
    past.extend(5, 1)
    past.extend(5, 7)
    past.extend(5, 3)
    assert [tuple(lines) for lines in past.newer(2)] == [
        (15, 16, 17, 18, 19),
        (20, 21, 22, 23, 24),
    ]
    assert (past.peak(14), past.peak(24), past.peak(9)) == (1, 7, -1)
    past.cut(17)
    assert [tuple(lines) for lines in past.newer(2)] == [(15, 16)]
    assert 17 not in past
    assert past.end == 17
