"""The native engine's own business: snapshots, death, layout, limits."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from termnode.terminal.engine import MAX_COLS, MAX_EVENTS, MAX_ROWS, Event, EventKind
from termnode.terminal.event_queue import MAX_EVENT_CHARS

pytest.importorskip("pyghostty", reason="the native emulator is not installed")

from termnode.terminal.ghostty_engine import layout, options
from termnode.terminal.ghostty_engine.engine import GhosttyEngine
from termnode.terminal.ghostty_engine.library import CData, ffi
from termnode.terminal.ghostty_engine.native import Native
from termnode.terminal.ghostty_engine.snapshot import SnapshotError


@pytest.fixture
def engine() -> Iterator[GhosttyEngine]:
    made = GhosttyEngine(20, 5, 100)
    yield made
    made.close()


def test_a_snapshot_keeps_both_screens_modes_and_history(engine: GhosttyEngine) -> None:
    engine.feed(b"".join(b"line %d\r\n" % n for n in range(50)))
    engine.feed(b"\x1b]2;name\x07\x1b[22t\x1b]2;other\x07\x1b[3 q\x1b[>4;2m\x1b[?2004h")
    engine.feed("\x1b[1;31mbold 中 e\u0301".encode() + b"\x1b[?1049h\x1b[2;2Halt")
    copy = GhosttyEngine.restore(engine.snapshot(), 100)
    try:
        for each in (engine, copy):
            assert each.text()[1] == " alt"
        assert (copy.cursor, copy.modes, copy.title) == (engine.cursor, engine.modes, engine.title)
        for each in (engine, copy):
            each.feed(b"\x1b[?1049l\x1b[23t")
        assert copy.title == "name"
        assert copy.runs(-100) == engine.runs(-100)
        assert copy.history_len == engine.history_len > 40
        copy.feed(b"\x1b[6n\x07")
        assert copy.take_replies() == b"\x1b[5;10R"
        assert [event.kind for event in copy.take_events()] == [EventKind.TITLE, EventKind.BELL]
    finally:
        copy.close()


@pytest.mark.parametrize("begun", [b"\x1b[", b"\x1b[22;0", b"\x1b]2;half", b"\xe4\xb8", b"\x1b[31"])
def test_a_snapshot_inside_a_sequence_continues_it(engine: GhosttyEngine, begun: bytes) -> None:
    rest = {b"\xe4\xb8": b"\xad"}.get(begun, b"m\x07") + b"x"
    engine.feed(begun)
    copy = GhosttyEngine.restore(engine.snapshot(), 100)
    try:
        for each in (engine, copy):
            each.feed(rest)
        assert copy.runs() == engine.runs()
        assert copy.title == engine.title
    finally:
        copy.close()


def test_a_snapshot_inside_a_prompt_mark_loses_no_mark(engine: GhosttyEngine) -> None:
    engine.feed(b"text\x1b]133;D;")
    copy = GhosttyEngine.restore(engine.snapshot(), 100)
    try:
        copy.feed(b"1\x07")
        assert copy.take_events() == [Event(EventKind.PROMPT_MARK, "D;1", 0, 4)]
        assert copy.text()[0] == "text"
    finally:
        copy.close()


def test_damaged_snapshots_are_refused(engine: GhosttyEngine) -> None:
    engine.feed(b"text\r\n" * 20)
    good = engine.snapshot()
    bad = [b"", b"x", good[:30], good[: len(good) // 2], good[:-1], b"X" + good]
    bad += [
        good[:at] + bytes([good[at] ^ 0x55]) + good[at + 1 :] for at in range(60, len(good), 97)
    ]
    for data in bad:
        with pytest.raises(SnapshotError):
            GhosttyEngine.restore(data)


def test_the_limit_of_history_holds_at_any_width() -> None:
    for cols in (1, 7, 100, 300):
        engine = GhosttyEngine(cols, 5, 1_000)
        engine.feed(b"x\r\n" * 3_000)
        assert engine.history_len == 1_000
        engine.resize(cols * 2, 5)
        engine.feed(b"y\r\n" * 3_000)
        assert engine.history_len == 1_000
        assert engine.text(-1_000, 2) == ["y", "y"]
        engine.close()


def test_no_history_when_none_is_wanted() -> None:
    engine = GhosttyEngine(20, 5, 0)
    engine.feed(b"x\r\n" * 100)
    assert engine.history_len == 0
    assert len(engine.text(-10)) == 5
    engine.close()


def test_sizes_are_checked(engine: GhosttyEngine) -> None:
    for cols, rows in ((0, 5), (5, 0), (MAX_COLS + 1, 5), (5, MAX_ROWS + 1)):
        with pytest.raises(ValueError, match="a terminal has"):
            GhosttyEngine(cols, rows)
        with pytest.raises(ValueError, match="a terminal has"):
            engine.resize(cols, rows)
    engine.resize(MAX_COLS, MAX_ROWS)
    assert len(engine.text()) == MAX_ROWS


def test_links_of_neighbouring_cells_are_told_apart(engine: GhosttyEngine) -> None:
    engine.feed(b"".join(b"\x1b]8;;http://h/%d\x1b\\%d" % (n, n) for n in range(3)))
    assert [(text, style.link) for text, style in engine.runs(0, 1)[0]] == [
        ("0", "http://h/0"),
        ("1", "http://h/1"),
        ("2", "http://h/2"),
    ]


def test_runs_of_history_keep_links_and_looks(engine: GhosttyEngine) -> None:
    engine.feed(b"\x1b[4:3;58;5;9m\x1b]8;;http://h\x1b\\a\x1b]8;;\x1b\\b\x1b[m" + b"\r\n" * 20)
    ((linked, plain),) = engine.runs(-engine.history_len, 1)
    assert (linked[0], linked[1].link, linked[1].underline) == ("a", "http://h", 3)
    assert (plain[0], plain[1].link, plain[1].underline_color) == ("b", None, 9)


def test_more_links_than_the_library_has_room_for_cost_links_only(engine: GhosttyEngine) -> None:
    lossy_before = engine.lossy
    for number in range(5_000):
        engine.feed(b"\x1b]8;;http://h/%d\x1b\\%d" % (number, number % 10))
    assert (lossy_before, engine.lossy) == (False, True)
    assert not engine.dead
    assert "".join(engine.text(-100))[-50:] == "0123456789" * 5


class _Allocator:
    """Memory for the library that can be made to run out."""

    def __init__(self) -> None:
        self.empty = False
        self._blocks: dict[int, CData] = {}
        self._calls = (
            ffi.callback("void *(void *, size_t, uint8_t, uintptr_t)", self._alloc),
            ffi.callback(
                "bool(void *, void *, size_t, uint8_t, size_t, uintptr_t)", lambda *_args: False
            ),
            ffi.callback(
                "void *(void *, void *, size_t, uint8_t, size_t, uintptr_t)",
                lambda *_args: ffi.NULL,
            ),
            ffi.callback("void(void *, void *, size_t, uint8_t, uintptr_t)", self._free),
        )
        self._table = ffi.new("GhosttyAllocatorVtable *", self._calls)
        self.pointer = ffi.new("GhosttyAllocator *", {"ctx": ffi.NULL, "vtable": self._table})

    def _alloc(self, _ctx: CData, size: int, align: int, _caller: int) -> CData:
        if self.empty:
            return ffi.NULL
        step = 1 << align
        block = ffi.new("char[]", size + step)
        start = -(-int(ffi.cast("uintptr_t", block)) // step) * step
        self._blocks[start] = block
        return ffi.cast("void *", start)

    def _free(self, _ctx: CData, memory: CData, _size: int, _align: int, _caller: int) -> None:
        del self._blocks[int(ffi.cast("uintptr_t", memory))]


def test_an_engine_whose_library_runs_out_of_memory_dies_quietly() -> None:
    allocator = _Allocator()
    engine = GhosttyEngine.__new__(GhosttyEngine)
    engine._use(Native(options.new_terminal(20, 5, allocator.pointer), 20, 5, 100))
    engine.feed(b"\x1b]2;name\x07\x1b[Jabove" + b"\r\n" * 5 + b"\x1b[Hfirst\r\nsecond")
    allocator.empty = True
    engine.resize(400, 200)
    assert engine.dead
    assert engine.text()[:2] == ["first", "second"]
    assert engine.runs(1, 1)[0][0][0] == "second"
    assert engine.title == "name"
    assert (engine.cursor.x, engine.cursor.y) == (6, 1)
    engine.feed(b"third")
    engine.resize(30, 5)
    assert engine.text()[:2] == ["first", "second"]
    assert (engine.history_len, engine.take_dirty()) == (0, frozenset())
    assert (engine.scrolled, engine.erasures) == (1, 1)
    with pytest.raises(SnapshotError, match="rebuild the pane"):
        engine.snapshot()
    engine.close()
    del engine
    gc.collect()


def test_the_layout_check_notices_another_packing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert layout.verify() is None
    monkeypatch.setattr(layout, "_CELL_CHECKS", ((1 << 20, "STYLE_ID", "uint16_t", 1),))
    assert layout.verify() == "cell STYLE_ID"
    monkeypatch.setattr(layout, "_CELL_CHECKS", ())
    monkeypatch.setattr(layout, "_ROW_CHECKS", ((1 << 60, "WRAP"),))
    assert layout.verify() == "row WRAP"


def test_a_mark_that_joins_a_shown_character_is_seen(engine: GhosttyEngine) -> None:
    engine.feed(b"one e\r\ntwo")
    assert engine.runs(0, 1)[0][0][0] == "one e"
    engine.take_dirty()
    engine.feed("\x1b[1;6H\u0301".encode())
    assert engine.text(0, 1) == ["one e\u0301"]
    assert engine.runs(0, 1)[0][0][0] == "one e\u0301"
    assert 0 in engine.take_dirty()


def test_reading_history_costs_no_news_of_the_screen(engine: GhosttyEngine) -> None:
    engine.feed(b"line\r\n" * 30)
    engine.take_dirty()
    engine.feed(b"\x1b[3;1Hnew")
    assert [row[0][0] for row in engine.runs(-2, 2)] == ["line", "line"]
    assert engine.runs(2, 1)[0][0][0] == "newe"
    assert 2 in engine.take_dirty()


def test_soft_reset_keeps_the_screen_and_the_cursor(engine: GhosttyEngine) -> None:
    engine.feed(b"text\x1b[2;4r\x1b[?6h\x1b[4h\x1b[?25l\x1b[?1h\x1b=\x1b[1m\x1b[2;3H\x1b[!p")
    cursor, modes = engine.cursor, engine.modes
    assert (cursor.x, cursor.y, cursor.visible) == (2, 2, True)
    assert (modes.app_cursor, modes.app_keypad) == (False, False)
    engine.feed(b"x\r\n\n\ny")
    assert engine.text() == ["", "  x", "", "", "y"]
    assert engine.runs(1, 1)[0][0][1].bold is False


def test_titles_put_aside_are_few(engine: GhosttyEngine) -> None:
    for number in range(100):
        engine.feed(b"\x1b]2;%d\x07\x1b[22t" % number)
    engine.feed(b"\x1b[23t" * 200)
    assert engine.title == "84"


def test_modify_other_keys_is_told_and_reset(engine: GhosttyEngine) -> None:
    levels = []
    for sequence in (b"\x1b[>4;1m", b"\x1b[>4;2m", b"\x1b[>4m", b"\x1b[>4;2m", b"\x1bc"):
        engine.feed(sequence)
        levels.append(engine.modes.modify_other_keys)
    assert levels == [1, 2, 0, 2, 0]


@pytest.mark.parametrize("number", range(7))
def test_the_cursor_has_the_shape_asked_for(engine: GhosttyEngine, number: int) -> None:
    assert engine.cursor.shape == 0
    engine.feed(b"\x1b[%d q" % number)
    assert engine.cursor.shape == number


def test_events_are_bounded_in_number_and_size(engine: GhosttyEngine) -> None:
    engine.feed(b"\x07" * 1_000)
    assert len(engine.take_events()) == MAX_EVENTS
    write = b"\x1b]52;c;" + b"QUFB" * 16_000 + b"\x07"
    for _ in range(100):
        engine.feed(write)
    events = engine.take_events()
    assert sum(len(event.text) for event in events) <= MAX_EVENT_CHARS
    assert {event.kind for event in events} == {EventKind.CLIPBOARD}
    engine.feed(b"\x1b]52;c;" + b"QUFB" * 40_000 + b"\x07")
    assert engine.take_events() == []


def test_no_program_changes_the_width(engine: GhosttyEngine) -> None:
    for begin in (b"\x1b[?40h\x1b[?3h", b"\x1b[?3;40h\x1b[?3h", b"\x1b[?40;3h\x1b[?40s\x1b[?40r"):
        engine.feed(begin + b"\x1b[1;999H!")
        assert engine.cursor.x == 19


def test_a_snapshot_begins_its_numbers_with_its_history(engine: GhosttyEngine) -> None:
    engine.feed(b"".join(b"line %d\r\n" % n for n in range(50)) + b"\x1b[?1049h")
    copy = GhosttyEngine.restore(engine.snapshot(), 100)
    try:
        copy.feed(b"\x1b[?1049l")
        assert copy.scrolled == copy.history_len == 46
        copy.feed(b"more\r\n" * 3)
        assert copy.scrolled == 49
    finally:
        copy.close()


def test_history_wiped_behind_the_filter_gives_every_line_a_new_number(
    engine: GhosttyEngine,
) -> None:
    engine.feed(b"line\r\n" * 30)
    told = engine.scrolled + engine.rows
    # A line feed inside the sequence: the library obeys it, and the filter does not know it.
    engine.feed(b"\x1b[3\nJ" + b"x\r\n" * 30)
    assert engine.scrolled - engine.history_len >= told


def test_a_forgotten_engine_frees_what_it_follows() -> None:
    engine = GhosttyEngine(20, 5)
    engine.feed(b"line\r\n" * 30)
    assert engine.scrolled == 26
    engine._native.terminal, terminal = None, engine._native.terminal
    ffi.release(terminal)  # in the other order than close() has it
    del engine
    gc.collect()


def test_closing_twice_does_nothing() -> None:
    engine = GhosttyEngine(20, 5)
    engine.feed(b"text")
    engine.runs()
    engine.close()
    engine.close()
    engine.feed(b"more")
    assert engine.text() == []
