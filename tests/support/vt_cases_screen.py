"""Cases of the screen: buffers, margins, editing, wrapping, sizes."""

from __future__ import annotations

from typing import Final

from tests.support.vt_case import Case, Resize

_ALT: Final = (
    Case(
        "alt1049_shows_alt",
        b"main\x1b[?1049h\x1b[Halt",
        lines={0: "alt"},
        modes={"alternate": True},
    ),
    Case(
        "alt1049_restore",
        b"main\x1b[?1049h\x1b[2;2Halt\x1b[?1049l",
        lines={0: "main", 1: ""},
        cursor=(4, 0),
        modes={"alternate": False},
    ),
    Case("alt47", b"main\x1b[?47h\x1b[2J\x1b[Hx\x1b[?47l", lines={0: "main"}),
    Case("alt1047", b"main\x1b[?1047h\x1b[2J\x1b[Hx\x1b[?1047l", lines={0: "main"}),
    Case("mode1048", b"\x1b[3;4H\x1b[?1048h\x1b[H\x1b[?1048l", cursor=(3, 2)),
)

_SAVE: Final = (
    Case(
        "decsc_pos_attr",
        b"\x1b[3;5H\x1b[1m\x1b7\x1b[H\x1b[0m\x1b8X",
        cursor=(5, 2),
        looks={(4, 2): {"bold": True}},
    ),
    Case("decrc_unsaved_home", b"\x1b[3;3H\x1b8", cursor=(0, 0)),
    Case("scosc_scorc", b"\x1b[2;3H\x1b[s\x1b[5;5H\x1b[u", cursor=(2, 1)),
)

_REGION: Final = (
    Case(
        "region_lf",
        b"1\r\n2\r\n3\r\n4\r\n5\x1b[2;4r\x1b[4;1H\n",
        lines={0: "1", 1: "3", 2: "4", 3: "", 4: "5"},
    ),
    Case(
        "region_ri",
        b"1\r\n2\r\n3\r\n4\r\n5\x1b[2;4r\x1b[2;1H\x1bM",
        lines={0: "1", 1: "", 2: "2", 3: "3", 4: "5"},
    ),
    Case("nel", b"abc\x1bEd", lines={0: "abc", 1: "d"}),
    Case(
        "region_su",
        b"1\r\n2\r\n3\r\n4\r\n5\x1b[2;4r\x1b[S",
        lines={0: "1", 1: "3", 2: "4", 3: "", 4: "5"},
    ),
    Case(
        "region_il",
        b"1\r\n2\r\n3\r\n4\r\n5\x1b[2;4r\x1b[3;1H\x1b[L",
        lines={0: "1", 1: "2", 2: "", 3: "3", 4: "5"},
    ),
    Case(
        "region_dl",
        b"1\r\n2\r\n3\r\n4\r\n5\x1b[2;4r\x1b[2;1H\x1b[M",
        lines={0: "1", 1: "3", 2: "4", 3: "", 4: "5"},
    ),
    Case(
        "lf_below_region",
        b"1\r\n2\r\n3\r\n4\r\n5\x1b[1;3r\x1b[5;1H\nX",
        lines={0: "1", 3: "4", 4: "X"},
    ),
    Case("decstbm_reset_homes", b"\x1b[3;3H\x1b[r", cursor=(0, 0)),
    Case("region_no_history", b"1\r\n2\r\n3\r\n4\r\n5\x1b[2;4r\x1b[4;1H\n\n\n", history=[]),
    Case("cuu_stops_at_top_margin", b"\x1b[2;4r\x1b[3;1H\x1b[9A", cursor=(0, 1)),
    Case(
        "history_order",
        b"l0\r\nl1\r\nl2\r\nl3\r\nl4\r\nl5\r\nl6\r\nl7\r\nl8\r\nl9\r\nl10\r\nl11",
        history=["l0", "l1", "l2", "l3", "l4", "l5", "l6"],
    ),
)

_EDIT: Final = (
    Case("ich", b"abcdef\x1b[3G\x1b[2@", lines={0: "ab  cdef"}),
    Case("ech", b"abcdef\x1b[2G\x1b[3X", lines={0: "a   ef"}),
    Case("rep", b"a\x1b[3b", lines={0: "aaaa"}),
    Case("irm", b"abc\x1b[1G\x1b[4hX\x1b[4lY", lines={0: "XYbc"}),
    Case(
        "ed3_keeps_screen",
        b"l0\r\nl1\r\nl2\r\nl3\r\nl4\r\nl5\r\nl6\r\nl7\r\nl8\r\nl9\r\nl10\r\nl11\x1b[3J",
        lines={0: "l7", 4: "l11"},
        history=[],
    ),
    Case(
        "bce_no_fg_attrs", b"\x1b[1;4;31mabc\x1b[1G\x1b[K\x1b[0m", looks={(1, 0): {"underline": 0}}
    ),
    Case(
        "decaln",
        b"\x1b[2;3r\x1b[3;3H\x1b#8",
        cols=6,
        rows=3,
        lines={0: "EEEEEE", 2: "EEEEEE"},
        cursor=(0, 0),
    ),
    Case("ed_below_semicolon", b"abc\r\ndef\x1b[1;2H\x1b[0J", lines={0: "a", 1: ""}),
    Case("vpa_hpa", b"\x1b[3d\x1b[4`X\x1b[2aY\x1b[1eZ", lines={2: "   X  Y", 3: "       Z"}),
)

_TABS: Final = (
    Case("tab_default", b"\tX", lines={0: "        X"}),
    Case("hts_tbc", b"\x1b[3g\x1b[5G\x1bH\r\tX", lines={0: "    X"}),
    Case("cbt", b"\x1b[20G\x1b[2ZX", cols=30, lines={0: "        X"}),
    Case("tab_at_right_edge", b"\x1b[18G\tX", lines={0: "                   X"}),
)

_ORIGIN: Final = (
    Case("decom_cup_clamps", b"\x1b[2;4r\x1b[?6h\x1b[99;1HX", lines={3: "X", 1: ""}),
    Case("decom_cpr", b"\x1b[2;4r\x1b[?6h\x1b[2;3H\x1b[6n", replies=rb"\x1b\[2;3R"),
    Case(
        "decom_saved_by_decsc", b"\x1b[2;4r\x1b[?6h\x1b7\x1b[?6l\x1b8\x1b[HX", lines={0: "", 1: "X"}
    ),
)

_WRAP: Final = (
    Case("wrap_pending_cursor", b"0123456789", cols=10, cursor=(9, 0)),
    Case("wrap_pending_cr", b"0123456789\rX", cols=10, lines={0: "X123456789", 1: ""}),
    Case("wrap_pending_cub", b"0123456789\x1b[DX", cols=10, lines={0: "01234567X9"}),
    Case("wrap_pending_cpr", b"0123456789\x1b[6n", cols=10, replies=rb"\x1b\[1;10R"),
    Case("wrap_pending_el", b"0123456789\x1b[K", cols=10, lines={0: "012345678"}),
    Case("wrap_pending_lf", b"0123456789\nX", cols=10, lines={0: "0123456789", 1: "         X"}),
    Case(
        "wrap_pending_cuu",
        b"\r\n0123456789\x1b[AX",
        cols=10,
        lines={0: "         X", 1: "0123456789"},
    ),
    Case("decawm_off", b"\x1b[?7l0123456789AB", cols=10, lines={0: "012345678B", 1: ""}),
    Case(
        "wrap_at_bottom_scrolls", b"\x1b[5;1H0123456789X", cols=10, lines={3: "0123456789", 4: "X"}
    ),
)

_RESIZE: Final = (
    Case(
        "resize_shrink_rows_cursor_bottom",
        b"1\r\n2\r\n3\r\n4\r\n5",
        Resize(20, 3),
        lines={0: "3", 1: "4", 2: "5"},
        cursor=(1, 2),
    ),
    Case("resize_shrink_rows_keeps_top", b"only", Resize(20, 3), lines={0: "only"}, cursor=(4, 0)),
    Case("resize_grow_rows", b"a\r\nb", Resize(20, 8), lines={0: "a", 1: "b"}, cursor=(1, 1)),
    Case(
        "resize_cols_text_survives",
        b"abcdefghij",
        Resize(5, 5),
        Resize(12, 5),
        cols=12,
        lines={0: "abcdefghij"},
    ),
    Case(
        "resize_tabstops_extend",
        b"",
        Resize(40, 5),
        b"\t\t\tX",
        cols=10,
        lines={0: "                        X"},
    ),
    Case("resize_resets_margins", b"\x1b[1;2r", Resize(20, 6), b"\x1b[6;1Hx\nY", lines={4: "x"}),
    Case(
        "resize_cursor_clamped",
        b"\x1b[5;20H",
        Resize(10, 3),
        b"X",
        holds=lambda rows: "X" in "".join(rows) and len(rows) == 3,
    ),
    Case(
        "resize_1x1",
        b"1\r\n2\r\n3\r\n4\r\n5",
        Resize(1, 1),
        b"ab\xe4\xb8\xad\r\n\x1b[2;2Hx",
        Resize(20, 5),
        b"\x1b[2J\x1b[HOK",
        lines={0: "OK"},
    ),
)

SCREEN: Final = (*_ALT, *_SAVE, *_REGION, *_EDIT, *_TABS, *_ORIGIN, *_WRAP, *_RESIZE)
