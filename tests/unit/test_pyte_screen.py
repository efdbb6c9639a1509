"""Details of the screen that the shared cases leave out."""

from __future__ import annotations

import pyte
import pytest

from termnode.terminal.engine import PLAIN, EventKind, Style
from termnode.terminal.pyte_engine import PyteEngine, invariants, widths
from termnode.terminal.pyte_engine.cells import Row


def fed(data: str | bytes, cols: int = 20, rows: int = 5) -> PyteEngine:
    engine = PyteEngine(cols, rows, 100)
    engine.feed(data.encode() if isinstance(data, str) else data)
    engine.verify()
    return engine


def events(data: bytes) -> list[tuple[EventKind, str]]:
    return [(event.kind, event.text) for event in fed(data).take_events()]


def test_the_screen_is_a_pyte_screen() -> None:
    engine = fed("日x", cols=5, rows=2)
    assert isinstance(engine.screen, pyte.Screen)
    assert engine.screen.display == ["日x  ", "     "]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("日本\rx", "x 本"),
        ("日本\x1b[2Gx", " x本"),
        ("日本\r\x1b[X", "  本"),
        ("日本\r\x1b[3P", " "),
        ("日本\x1b[2G\x1b[P", " 本"),
        ("日本\x1b[2G\x1b[X", "  本"),
        ("日本\x1b[2G\x1b[@", "   本"),
        ("日本\x1b[2G\x1b[1K", "  本"),
        ("ab日\x1b[1G\x1b[17@x", "x" + " " * 16 + "ab"),
        ("\x1b[4habc\r日", "日abc"),
        ("x\x1b[10G\u0301", "x       \u0020\u0301"),
        ("\u0301a", "a"),
        ("\x1b[?7l" + "日" * 12, "日" * 10),
        ("e\u0301\x1b[2b", "e\u0301e\u0301e\u0301"),
        ("日\x1b[2b", "日日日"),
        ("\x1b*0\x1bNqq", "─q"),
        ("\x1b)0\x0ex\x1b7\x0fx\x1b8x", "││"),
        ("\x1b(A#", "£"),
        ("ab\x1b[?6l\x1b[5;5H\x1b[?1048l!", "!b"),
    ],
)
def test_text(data: str, expected: str) -> None:
    assert fed(data).text()[0] == expected.rstrip()


def test_erased_cells_keep_the_background_alone() -> None:
    engine = fed("\x1b[1;4;31;44mab\x1b[K\n", cols=5, rows=1)
    assert list(engine.runs()[0]) == [(" " * 5, Style(bg=4))]
    assert list(engine.runs(-1, 1)[0]) == [
        ("ab", Style(bold=True, underline=1, fg=1, bg=4)),
        ("   ", Style(bg=4)),
    ]


def test_a_filled_row_is_like_written_cells() -> None:
    blue = Style(bg=4)
    engine = fed(
        "\x1b[44m\x1b[2J\x1b[3;3Hx\x1b[m\x1b[2D\x1b[K\x1b[4;2H\x1b[2X\x1b[5;3H\x1b[P", cols=5
    )
    assert [list(row) for row in engine.runs()] == [
        [("     ", blue)],
        [("     ", blue)],
        [(" ", blue)],
        [(" ", blue), ("  ", PLAIN), ("  ", blue)],
        [("    ", blue)],
    ]
    assert engine.text() == [""] * 5


def test_the_alignment_pattern_keeps_its_size() -> None:
    engine = fed("\x1b#8\x1b[2;3H\x1b[K", cols=5, rows=3)
    assert engine.text() == ["EEEEE", "EE", "EEEEE"]
    engine.resize(8, 3)
    engine.verify()
    assert engine.text() == ["EEEEE", "EE", "EEEEE"]


def test_runs_leave_out_plain_blanks_at_the_end_only() -> None:
    engine = fed("a  \x1b[7m  \x1b[m  ")
    assert list(engine.runs()[0]) == [("a  ", PLAIN), ("  ", Style(reverse=True))]
    assert engine.runs()[1] == []


def test_equal_styles_join_in_a_run() -> None:
    engine = fed("\x1b[1;31ma\x1b[0;31;1mb")
    assert list(engine.runs()[0]) == [("ab", Style(fg=1, bold=True))]


def test_history_and_screen_are_one_list_of_rows() -> None:
    engine = fed("\r\n".join(f"l{n}" for n in range(12)))
    assert engine.history_len == 7
    assert engine.text(-2, 4) == ["l5", "l6", "l7", "l8"]
    assert engine.text(-99, 93) == ["l0"]
    assert engine.text(4) == ["l11"]
    assert engine.text(9) == engine.text(-99, 1) == engine.text(0, 0) == engine.text(2, -5) == []
    assert len(engine.wrapped(-99)) == len(engine.runs(-99)) == 12


def test_dirty_rows_are_told_once() -> None:
    engine = fed("")
    assert engine.take_dirty() == frozenset(range(5))
    engine.feed(b"\x1b[3Hx\x1b[4;5Hy\x1b[2K")
    assert engine.take_dirty() == {2, 3}
    assert engine.take_dirty() == frozenset()
    engine.feed(b"\x1b[?1049h")
    assert engine.take_dirty() == frozenset(range(5))


def test_soft_wraps() -> None:
    engine = fed("x" * 45 + "\r\nnext")
    assert engine.wrapped() == [True, True, False, False, False]
    engine.feed(b"\x1b[2;5H\x1b[K")
    assert engine.wrapped() == [True, False, False, False, False]


def test_a_line_inserted_after_a_wrap_ends_it() -> None:
    engine = fed("x" * 25 + "\x1b[2H\x1b[L")
    assert engine.wrapped() == [False] * 5


def test_cursor_and_modes() -> None:
    engine = fed("\x1b[?1002h\x1b[?1003h\x1b[?1006h\x1b=\x1b[>4;2m\x1b[>3u\x1b[4 q\x1b[?2026h")
    modes = engine.modes
    assert (modes.mouse, modes.mouse_sgr, modes.app_keypad) == (1003, True, True)
    assert (modes.modify_other_keys, modes.kitty_flags, modes.synchronized) == (2, 3, True)
    assert engine.cursor.shape == 4
    engine.feed(b"\x1b[?1003l\x1b[>4m\x1b[?1049h\x1b[?5h")
    modes = engine.modes
    assert (modes.mouse, modes.modify_other_keys, modes.kitty_flags) == (0, 0, 0)
    assert modes.alternate
    assert modes.reverse


def test_ris_keeps_the_scrollback_alone() -> None:
    engine = fed("x\r\n" * 9 + "\x1b[31m\x1b]2;t\x07\x1b[?1049h\x1b[2;3r\x1bcy")
    assert engine.text() == ["y", "", "", "", ""]
    assert list(engine.runs()[0]) == [("y", PLAIN)]
    assert (engine.title, engine.history_len, engine.modes.alternate) == ("", 5, False)


def test_1047_clears_when_left_and_47_does_not() -> None:
    assert fed("\x1b[?47hx\x1b[?47l\x1b[?47h").text()[0] == "x"
    assert fed("\x1b[?1047hx\x1b[?1047l\x1b[?1047h").text()[0] == ""


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        (b"\x1b[c", b"\x1b[?62;22c"),
        (b"\x1bZ", b"\x1b[?62;22c"),
        (b"\x1b[1c", b""),
        (b"\x1b[5n", b"\x1b[0n"),
        (b"\x1b[7n", b""),
        (b"\x1b[?25$p", b"\x1b[?25;1$y"),
        (b"\x1b[4$p", b"\x1b[4;2$y"),
        (b"\x1b[?3$p\x1b[?2027$p\x1b[?2048$p", b"\x1b[?3;0$y\x1b[?2027;0$y\x1b[?2048;0$y"),
        (b"\x1b[14t", b"\x1b[4;80;160t"),
        (b"\x1b[16t", b"\x1b[6;16;8t"),
        (b"\x1b[21t", b""),
        (b"\x1b]11;?\x1b\\", b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
        (b"\x1b]10;?;?\x07", b"\x1b]10;rgb:e5e5/e5e5/e5e5\x07\x1b]11;rgb:0000/0000/0000\x07"),
        (b"\x1b]4;255;?;999;?\x07", b"\x1b]4;255;rgb:eeee/eeee/eeee\x07"),
        (b"\x1b[1;31m\x1bP$qm\x1b\\", b"\x1bP1$r0;1;38:5:1m\x1b\\"),
        (b"\x1b[2;4r\x1bP$qr\x1b\\", b"\x1bP1$r2;4r\x1b\\"),
        (b"\x1bP$qsecret\x1b\\", b"\x1bP0$r\x1b\\"),
        (b"\x1bP+q436f;c0ffee\x1b\\", b"\x1bP1+r436f=323536\x1b\\\x1bP0+r\x1b\\"),
        (b"\x1b[=1u\x1b[=4;2u\x1b[=1;3u\x1b[?u", b"\x1b[?4u"),
        (b"\x1b[>4;1m\x1b[?4m", b"\x1b[>4;1m"),
        (b"\x1b]52;c;?\x07", b""),
        (b"\x05", b""),
    ],
)  # fmt: skip
def test_answers(query: bytes, answer: bytes) -> None:
    assert fed(query).take_replies() == answer


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\x07", [(EventKind.BELL, "")]),
        (b"\x1b]0;a\x0ab\x07", [(EventKind.TITLE, "ab")]),
        (b"\x1b]7;file://h/p\x07", [(EventKind.CWD, "file://h/p")]),
        (b"\x1b]133;D;1\x1b\\", [(EventKind.PROMPT_MARK, "D;1")]),
        (b"\x1b]9;done\x07", [(EventKind.NOTIFY, "done")]),
        (b"\x1b]9;4;1;50\x07", []),
        (b"\x1b]777;notify;T;B\x07", [(EventKind.NOTIFY, "T: B")]),
        (b"\x1b]777;other;T;B\x07", []),
        (b"\x1b]52;c;aGk=\x07", [(EventKind.CLIPBOARD, "hi")]),
        (b"\x1b]52;c;@@@\x07\x1b]52;c;\x07\x1b]52;c;?\x07\x1b]52\x07", []),
        (b"\x1b]2;x\x18\x1b]2;", []),
    ],
)
def test_events(data: bytes, expected: list[tuple[EventKind, str]]) -> None:
    assert events(data) == expected


BROKEN_ROWS = {
    "too wide": ["x"] * 21,
    "right half alone": ["x", ""],
    "right half first": ["", "x"],
    "left half alone": ["日", "x"],
    "left half at the edge": ["日"],
    "control": ["\x1b"],
    "marks": ["e" + "\u0301" * 40],
}


@pytest.mark.parametrize("texts", BROKEN_ROWS.values(), ids=BROKEN_ROWS)
def test_verify_notices_broken_rows(texts: list[str]) -> None:
    engine = fed("x")
    engine.screen.grid[0] = Row((text, PLAIN) for text in texts)
    with pytest.raises(AssertionError):
        engine.verify()


def test_verify_notices_a_cursor_outside_and_rows_that_are_missing() -> None:
    engine = fed("x")
    engine.screen.cursor.x = 21
    with pytest.raises(AssertionError, match="cursor"):
        engine.verify()
    engine = fed("x")
    engine.screen.grid.pop()
    with pytest.raises(AssertionError, match="rows"):
        invariants.check(engine.screen)


def test_widths_of_segments_are_those_of_single_code_points() -> None:
    """The classes of the expression agree with the width of each code point in them."""
    for code in (*range(0x20, 0x7F), *range(0xA0, 0xD800), *range(0xE000, 0x20000)):
        match = widths.SEGMENTS.match(chr(code))
        assert match is not None
        group = match.lastindex or 0
        assert group == 4 or widths.width(chr(code)) == (0, 1, 2, 0)[group], hex(code)
