"""Cases from public reports of what breaks terminal emulators (source: hard cases 3.1)."""

from __future__ import annotations

from typing import Final

from termnode.terminal.engine import Event, EventKind
from tests.support.vt_case import Case, Resize

_ALTERNATE: Final = tuple(
    Case(
        f"e01_history_with_{mode}",
        b"\r\n".join(b"l%d" % n for n in range(8)),
        b"\x1b[?%dh" % mode + b"\x1b[H" + b"alt\r\n" * 20 + b"\x1b[?%dl" % mode,
        history=["l0", "l1", "l2"],
        lines={0: "l3", 4: "l7"},
        modes={"alternate": False},
    )
    for mode in (47, 1047, 1049)
)

_TEXT: Final = (
    Case("e02_control_in_text", b"ab\x01cd", lines={0: "abcd"}),
    Case("e02_zero_width_in_text", "a\u200bb".encode(), holds=lambda rows: rows[0].endswith("b")),
    Case("e04_charset", b"a\x1b(Bb", lines={0: "ab"}),
    Case("e10_split_character", b"\xe6\x97", b"\xa5", lines={0: "日"}),
    Case("e10_unfinished_character", b"a\xe6\x97", lines={0: ("a", "a\ufffd")}),
    Case(
        "e11_family",
        "👨\u200d👩\u200d👧x\x1b[6n".encode(),
        holds=lambda rows: rows[0] == "👨\u200d👩\u200d👧x",
        replies=rb"\x1b\[1;[48]R",
    ),
    Case("e11_flag", "🇫🇷x\x1b[6n".encode(), lines={0: "🇫🇷x"}, replies=rb"\x1b\[1;[46]R"),
    Case("e11_heart", "❤\ufe0fx\x1b[6n".encode(), lines={0: "❤\ufe0fx"}, replies=rb"\x1b\[1;[34]R"),
    Case(
        "e13_marks_on_one_cell",
        b"a" + "\u0301".encode() * 20_000 + b"b",
        holds=lambda rows: rows[0].startswith("a") and rows[0].endswith("b") and len(rows[0]) < 200,
        cursor=(2, 0),
    ),
    Case("e14_wide_at_the_edge", "日本".encode(), cols=3, lines={0: "日", 1: "本"}),
    Case("e25_c1_as_utf8", b"a\xc2\x9b31mb", lines={0: ("ab", "a31mb")}),
    Case("e38_link_is_plain_text", b"\x1b]8;;http://x\x1b\\safe\x1b]8;;\x1b\\", lines={0: "safe"}),
)

_EDITING: Final = (
    Case(
        "e20_region_keeps_out_of_history",
        b"\x1b[3;5r\x1b[5Hx\n\n\n\n\n\n",
        history=[],
    ),
    Case("e22_tab_at_last_column", b"\x1b[20GX\t", cursor=(19, 0), lines={0: " " * 19 + "X"}),
    Case(
        "e23_huge_repeat",
        b"ab\x1b[1000000000bZ",
        holds=lambda rows: set("".join(rows)) <= set("abZ") and "Z" in "".join(rows),
    ),
    Case("e23_repeat_of_wide", "中\x1b[2bZ".encode(), lines={0: "中中中Z"}),
    Case("e23_insert_at_pending_wrap", b"0123456789\x1b[99@Z", cols=10, lines={0: "012345678Z"}),
)

_SIZES: Final = (
    Case(
        "e16_wide_at_the_new_edge",
        "123456789日x".encode(),
        Resize(10, 5),
        holds=lambda rows: "".join(rows) == "123456789日x" and rows[0] == "123456789",
    ),
    Case(
        "e17_narrow_and_wide_again",
        b"%020d\r\nnext" % 0,
        Resize(10, 5),
        Resize(20, 5),
        lines={0: "0" * 20, 1: "next", 2: ""},
        cursor=(4, 1),
    ),
    Case(
        "e17_soft_wrap_joins",
        b"abcdefghijklmnopqrstuvwxyz",
        Resize(30, 5),
        lines={0: "abcdefghijklmnopqrstuvwxyz", 1: ""},
        cursor=(26, 0),
    ),
    Case(
        "e19_region_then_resize",
        b"\x1b[5;20r",
        Resize(20, 10),
        b"\x1b[10;1Hlast\r\nend",
        rows=24,
        lines={8: "last", 9: "end"},
    ),
)

_TALK: Final = (
    Case("e05_primary_attributes", b"\x1b[c", replies=rb"\x1b\[\?[\d;]+c"),
    Case("e05_secondary_attributes", b"\x1b[>c", replies=rb"\x1b\[>[\d;]+c"),
    Case(
        "e07_status_request", b"a\x1bP$qm\x1b\\b", lines={0: "ab"}, replies=rb"\x1bP1\$r0?m\x1b\\"
    ),
    Case("e08_long_dcs", b"a\x1bPq", b"~" * 2_000_000, b"\x1b\\b", lines={0: "ab"}),
    Case("e08_long_apc", b"a\x1b_G", b"A" * 2_000_000, b"\x1b\\b", lines={0: "ab"}),
    Case("e08_long_osc", b"a\x1b]2;", b"A" * 2_000_000, b"\x1b\\b", lines={0: "ab"}),
    Case(
        "e26_synchronized",
        b"\x1b[?2026hx\x1b[?2026$p",
        lines={0: "x"},
        replies=rb"\x1b\[\?2026;1\$y",
        modes={"synchronized": True},
    ),
    Case("e28_progress", b"\x1b]9;4;1;50\x07x", lines={0: "x"}, events=[]),
    Case("e29_bad_clipboard", b"\x1b]52;c;@@@\x07x", lines={0: "x"}, events=[]),
    Case("e29_clipboard_read", b"\x1b]52;c;?\x07x", lines={0: "x"}, events=[]),
    Case(
        "clipboard_write",
        b"\x1b]52;c;aGVsbG8=\x07x",
        lines={0: "x"},
        events=[Event(EventKind.CLIPBOARD, "hello")],
    ),
    Case("e32_screen_title", b"\x1bktitle\x1b\\x", lines={0: "x"}),
    Case("e37_clipboard_read_ends_with_st", b"\x1b]52;c;?\x1b\\x", lines={0: "x"}, events=[]),
    Case("e41_no_unasked_size_reports", b"\x1b[?2048l", Resize(10, 5), Resize(30, 5)),
)

_EVENTS: Final = (
    Case("bell", b"a\x07", events=[Event(EventKind.BELL)]),
    Case("cwd", b"\x1b]7;file://h/tmp\x07", events=[Event(EventKind.CWD, "file://h/tmp")]),
    Case(
        "notify_777",
        b"\x1b]777;notify;Build;done\x1b\\",
        events=[Event(EventKind.NOTIFY, "Build: done")],
    ),
    Case("notify_9", b"\x1b]9;done\x07", events=[Event(EventKind.NOTIFY, "done")]),
    Case("title_event", b"\x1b]2;one\x1b\\", events=[Event(EventKind.TITLE, "one")], title="one"),
    Case(
        "prompt_marks",
        b"\x1b]133;A\x07$ \x1b]133;B\x1b\\ls\x1b]1",
        b"33;C\x07\x1b]133;D;1\x07",
        events=[
            Event(EventKind.PROMPT_MARK, mark, 0, column)
            for mark, column in (("A", 0), ("B", 2), ("C", 4), ("D;1", 4))
        ],
        lines={0: "$ ls"},
    ),
)

_FOUND: Final = (
    # Found by comparing the emulators with each other.
    Case("line_drawing_keeps_other_text", "\x1b(0q日─".encode(), lines={0: "─日─"}),
    Case("column_in_origin_mode", b"\x1b[3;5r\x1b[?6h\x1b[11Gx", lines={2: " " * 10 + "x"}),
    Case("relative_column_of_zero", b"\x1b[0ax", lines={0: " x"}),
    Case("reset_keeps_history", b"one" + b"\r\n" * 5 + b"\x1bc", history=["one"]),
    Case(
        "history_behind_the_alternate_screen",
        b"one" + b"\r\n" * 5 + b"\x1b[?1049h",
        history=["one"],
    ),
    Case("del_is_ignored", b"a\x7fb", lines={0: "ab"}),
    Case("status_line_is_ignored", b"a\x1b[1$}b\x1b[0$}c", holds=lambda rows: "c" in rows[0]),
    Case(
        "title_stack_of_the_icon",
        b"\x1b]2;one\x07\x1b[22;1t\x1b]2;two\x07\x1b[23;1t",
        title="two",
    ),
)

HARD: Final = (*_FOUND, *_ALTERNATE, *_TEXT, *_EDITING, *_SIZES, *_TALK, *_EVENTS)
