"""The screen log against full copies of the screen: nothing is missed, nothing old is newer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termnode.terminal import engines
from termnode.terminal.engine import Engine, Run
from termnode.terminal.screen_log import ScreenLog

SCROLLBACK = 8
Size = tuple[int, int]
Op = bytes | Size
"""Output, or another size."""

Shown = tuple[str, Sequence[Run]]
"""Text and look of a line."""


@dataclass
class Copy:
    """All that can be read of a screen."""

    revision: int
    layout: int
    alternate: bool
    lines: dict[int, Shown]


@dataclass
class Watched:
    """An engine with its log, and a reader that looks at everything after each step."""

    engine: Engine
    log: ScreenLog
    revision: int = 0
    anchors: list[Copy] = field(default_factory=list)
    touched: dict[int, int] = field(default_factory=dict)
    """The last revision at which a line was seen to change, or may have been wiped."""
    wiped: dict[int, int] = field(default_factory=dict)
    """The last revision at which a line was on the screen while everything was wiped."""

    def __post_init__(self) -> None:
        self.log.sync(self.engine, 0)
        self._erasures = self.engine.erasures
        self._seen = self.copy()

    def copy(self) -> Copy:
        engine = self.engine
        alternate = engine.modes.alternate
        above = 0 if alternate else engine.history_len
        rows = zip(engine.text(-above), map(tuple, engine.runs(-above)), strict=True)
        lines: dict[int, Shown] = dict(enumerate(rows, engine.scrolled - above))
        return Copy(self.revision, self.log.layout, alternate, lines)

    def step(self, op: Op) -> None:
        self.revision += 1
        if isinstance(op, bytes):
            self.engine.feed(op)
        else:
            self._resize(*op)
        now = self.copy()
        self._note_wipes(now)
        before, self._seen = self._seen, now
        for line in now.lines.keys() | before.lines.keys():
            if now.lines.get(line) != before.lines.get(line):
                self.touched[line] = self.revision

    def _resize(self, cols: int, rows: int) -> None:
        """As a terminal does it."""
        self.log.sync(self.engine, self.revision)
        held = self.log.hold(self.engine, cols)
        self.engine.resize(cols, rows)
        self.revision += 1
        self.log.resized(self.engine, self.revision, held)

    def _note_wipes(self, now: Copy) -> None:
        if self.engine.erasures == self._erasures:
            return
        self._erasures = self.engine.erasures
        base = self.engine.scrolled
        for line in range(min(base, self.log.base), base + self.engine.rows):
            self.touched[line] = self.revision
            if now.alternate == self._seen.alternate and line >= base:
                self.wiped[line] = self.revision

    def look(self, *, anchor: bool) -> None:
        """Sync, check against every anchor, and maybe make this another one."""
        self.log.sync(self.engine, self.revision)
        now = self.copy()
        assert self.log.first == min(now.lines)
        for then in self.anchors:
            self._check(then, now)
        if anchor:
            self.anchors = [*self.anchors[-3:], now]

    def _check(self, then: Copy, now: Copy) -> None:
        changes = self.log.changes(then.revision)
        assert list(changes.lines) == sorted(set(changes.lines))
        assert set(changes.lines) <= now.lines.keys()
        assert changes.full == (then.layout != now.layout)
        if changes.full:
            screen = range(self.log.base, self.log.base + self.engine.rows)
            assert set(screen) <= set(changes.lines)
            return
        for line, shown in now.lines.items():
            self._check_line(then, line, shown, changes.lines)

    def _check_line(self, then: Copy, line: int, shown: Shown, changed: Sequence[int]) -> None:
        if line < min(then.lines):
            return  # an emulator may give a line back that was out of history
        old = then.lines.get(line)
        new = characters(self.log, line, then.revision, shown[0])
        if self.wiped.get(line, -1) > then.revision:
            assert line in changed
            assert all(new)
        elif old is None or old != shown:
            assert line in changed
            before = "" if old is None else old[0]
            for place, char in enumerate(shown[0]):
                assert new[place] or before[place : place + 1] == char
        elif self.touched.get(line, -1) <= then.revision:
            assert line not in changed
            assert not any(new)


def characters(log: ScreenLog, line: int, after: int, text: str) -> list[bool]:
    """For each character of a line, whether it is newer."""
    new = [False] * len(text)
    for start, end in log.fresh(line, after):
        assert start < end
        new[start:end] = [True] * len(new[start:end])
    return new


def csi(final: bytes, *numbers: int) -> bytes:
    return b"\x1b[" + b";".join(b"%d" % number for number in numbers) + final


small = st.integers(1, 5)
word = st.sampled_from([b"a", b"ab", b"abc", b"x y", b"12345678901", "日本".encode(), b"done"])
write = st.builds(lambda text, end: text + end, word, st.sampled_from([b"", b"\r\n", b"\r", b" "]))
place = st.builds(lambda y, x: csi(b"H", y, x), small, st.integers(1, 10))
scroll = st.builds(lambda n: csi(b"H", 99, 1) + b"\n" * n, st.integers(1, 12))
edit = st.builds(csi, st.sampled_from([b"L", b"M", b"P", b"@", b"X"]), small)
erase = st.builds(csi, st.sampled_from([b"K", b"K", b"J"]), st.integers(0, 2))
look = st.builds(lambda n: csi(b"m", n), st.sampled_from([0, 1, 7, 31]))
region = st.sampled_from([csi(b"r", 1, 3), csi(b"r", 2, 4), csi(b"r"), b"\x1bM", b"\x1bD"])
switch = st.sampled_from([b"\x1b[?1049h", b"\x1b[?1049l", b"\x1bc", b"\x1b[3J"])
output = st.one_of(write, write, write, place, scroll, edit, erase, look, region, switch)
taller = st.tuples(st.just(10), st.integers(1, 7))
wider = st.tuples(st.integers(2, 14), st.integers(1, 7))
step = st.tuples(
    st.one_of(output, output, output, output, output, taller, wider), st.sampled_from("-la")
)
"""What happens, and then: nothing, a look, or a look that is an anchor from then on."""


def run(name: str, steps: Sequence[tuple[Op, str]], log: Callable[[], ScreenLog]) -> None:
    engine = engines.make(name)(10, 4, SCROLLBACK)
    try:
        watched = Watched(engine, log())
        watched.look(anchor=True)
        for op, then in steps:
            watched.step(op)
            if then != "-":
                watched.look(anchor=then == "a")
        watched.look(anchor=False)
    finally:
        engine.close()


@pytest.mark.parametrize("name", engines.available())
@settings(max_examples=400, deadline=None)
@given(steps=st.lists(step, max_size=25))
def test_it_says_what_a_reader_of_everything_sees(name: str, steps: list[tuple[Op, str]]) -> None:
    run(name, steps, ScreenLog)


class Forgetful(ScreenLog):
    """A broken log: what was wiped and written again in the same place is not new."""

    def _look_at_main(self, engine: Engine) -> None:
        self._main.look(engine, self.revision)


class Careless(ScreenLog):
    """A broken log: rows that went into history are not looked at again."""

    def _look(self, engine: Engine, revision: int) -> None:
        gone = self._main.rows[: max(0, engine.scrolled - self.base)]
        for row in gone:
            self._main.past.add(row.stamp, row.marks)
        del self._main.rows[: len(gone)]
        self._main.base += len(gone)
        super()._look(engine, revision)


class Textual(ScreenLog):
    """A broken log: a look alone is no change."""

    def _look(self, engine: Engine, revision: int) -> None:
        for row in self._main.rows:
            row.look = None if row.text == "" else row.look
        texts = [row.text for row in self._main.rows]
        super()._look(engine, revision)
        for row, text in zip(self._main.rows, texts, strict=False):
            if row.text == text and row.stamp == revision:
                row.stamp = min(stamp for _, stamp in row.marks)


BROKEN: list[tuple[Callable[[], ScreenLog], list[tuple[Op, str]]]] = [
    (Forgetful, [(b"done", "a"), (b"\x1b[H\x1b[2Jdone", "l")]),
    (Careless, [(b"one\r\n" * 3, "a"), (b"\x1b[1;1HONE\x1b[4;1H\n\n", "l")]),
    (Textual, [(b"one", "a"), (b"\r\x1b[31mone", "l")]),
]


@pytest.mark.parametrize("name", engines.available())
@pytest.mark.parametrize(("broken", "steps"), BROKEN)
def test_the_check_finds_a_broken_log(
    name: str, broken: Callable[[], ScreenLog], steps: list[tuple[Op, str]]
) -> None:
    run(name, steps, ScreenLog)
    with pytest.raises(AssertionError):
        run(name, steps, broken)


# Words that are written once: wherever they go, they are as new as when they were written.

ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"
CARRY = st.sampled_from([(40, 8), (17, 8), (9, 8), (25, 3), (40, 12), (9, 2)])
VISIT = ENTER + b"\x1b[2Jinside\x1b[H\x1b[J" + LEAVE
CLEAR = b"\x1b[2J"
SCREENS = st.sampled_from([ENTER, LEAVE, VISIT, CLEAR])
line = st.integers(1, 6)
"""So many words and a new line."""


def written(log: ScreenLog, engine: Engine, after: int) -> dict[str, bool]:
    """Every whole word on the screen, and whether all of it is newer."""
    found = {}
    for y, text in enumerate(engine.text()):
        new = characters(log, log.base + y, after, text)
        for start in range(len(text) - 4):
            word = text[start : start + 5]
            if word.startswith("w") and word[1:].isdigit():
                flags = new[start : start + 5]
                assert all(flags) == any(flags)
                found[word] = all(flags)
    return found


def check_words(name: str, steps: Sequence[int | bytes | Size], anchor_at: int) -> None:
    engine = engines.make(name)(25, 8, 100)
    watched = Watched(engine, ScreenLog())
    age: dict[str, int] = {}
    anchor = 0
    try:
        for number, op in enumerate(steps):
            if isinstance(op, int):
                words = [f"w{len(age) + n:04}" for n in range(op)]
                age |= dict.fromkeys(words, number)
                watched.step(" ".join(words).encode() + b"\r\n")
            elif engine.modes.alternate == (op in (LEAVE, CLEAR)) or not isinstance(op, bytes):
                watched.step(op)
            watched.log.sync(engine, watched.revision)
            if number == anchor_at:
                anchor = watched.revision
        if anchor:
            for word, new in written(watched.log, engine, anchor).items():
                assert new == (age[word] > anchor_at), word
    finally:
        engine.close()


@pytest.mark.parametrize("name", engines.available())
@settings(max_examples=200, deadline=None)
@given(steps=st.lists(st.one_of(line, line, CARRY), max_size=16), anchor_at=st.integers(0, 12))
def test_words_keep_their_age_whatever_the_width(
    name: str, steps: list[int | bytes | Size], anchor_at: int
) -> None:
    check_words(name, steps, anchor_at)


@pytest.mark.parametrize("name", engines.available())
@settings(max_examples=200, deadline=None)
@given(steps=st.lists(st.one_of(line, line, SCREENS), max_size=16), anchor_at=st.integers(0, 12))
def test_words_keep_their_age_while_another_screen_is_up(
    name: str, steps: list[int | bytes | Size], anchor_at: int
) -> None:
    check_words(name, steps, anchor_at)
