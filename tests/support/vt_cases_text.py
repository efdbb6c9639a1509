"""Cases of text and looks: widths, colors, broken input."""

from __future__ import annotations

from typing import Final

from tests.support.vt_case import Case

_WIDE: Final = (
    Case(
        "wide_last_col_wraps",
        b"123456789\xe4\xb8\xad",
        cols=10,
        lines={0: "123456789", 1: "中"},
        cursor=(2, 1),
    ),
    Case("wide_overwrite_tail", b"\xe4\xb8\xad\xe6\x96\x87\x1b[2GX", lines={0: " X文"}),
    Case("wide_el_from_tail", b"\xe4\xb8\xad\x1b[2G\x1b[K", lines={0: ""}),
    Case("wide_attr", b"\x1b[31m\xe4\xb8\xad\x1b[0mX", looks={(0, 0): {"fg": 1}}, lines={0: "中X"}),
    Case(
        "combining_at_pending_wrap",
        b"012345678e\xcc\x81",
        cols=10,
        lines={0: ("012345678é", "012345678e\u0301")},
        cursor=(9, 0),
    ),
    Case(
        "combining_on_wide",
        b"\xe3\x81\x8b\xe3\x82\x99x",
        lines={0: ("がx", "か\u3099x")},
        cursor=(3, 0),
    ),
    Case(
        "emoji_zwj_sequence_kept",
        b"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7|end",
        holds=lambda rows: "👩\u200d👩\u200d👧" in rows[0],
    ),
    Case(
        "emoji_vs16_text_kept",
        b"\xe2\x9d\xa4\xef\xb8\x8f|ok",
        holds=lambda rows: rows[0].endswith("|ok") and "❤" in rows[0],
    ),
    Case(
        "emoji_skin_flag",
        b"\xf0\x9f\x91\x8d\xf0\x9f\x8f\xbd\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa|x",
        holds=lambda rows: rows[0].endswith("|x") and "👍" in rows[0] and "🇩" in rows[0],
    ),
    Case(
        "zwsp_softhyphen_text_kept",
        b"a\xe2\x80\x8bb\xc2\xadc\xef\xbb\xbfd",
        holds=lambda rows: [c for c in rows[0] if c in "abcd"] == list("abcd"),
    ),
    Case("acs_line_drawing", b"\x1b(0lqk\x1b(Bq", lines={0: "┌─┐q"}),
    Case("acs_so_si", b"\x1b)0\x0eq\x0fq", lines={0: "─q"}),
)

_SGR: Final = (
    Case("sgr_256", b"\x1b[38;5;196;48;5;21mX", looks={(0, 0): {"fg": 196, "bg": 21}}),
    Case("sgr_colon_rgb", b"\x1b[38:2::1:2:3mX", lines={0: "X"}, looks={(0, 0): {"fg": (1, 2, 3)}}),
    Case("sgr_colon_256", b"\x1b[38:5:196mX", lines={0: "X"}, looks={(0, 0): {"fg": 196}}),
    Case(
        "sgr_underline_color",
        b"\x1b[58;5;1mX",
        lines={0: "X"},
        looks={(0, 0): {"blink": False, "bold": False}},
    ),
    Case("sgr_dim", b"\x1b[2mX\x1b[22mY", looks={(0, 0): {"dim": True}, (1, 0): {"dim": False}}),
    Case(
        "sgr_strike_italic",
        b"\x1b[3;9mX\x1b[23;29mY",
        looks={
            (0, 0): {"strike": True, "italic": True},
            (1, 0): {"strike": False, "italic": False},
        },
    ),
    Case("sgr_bright", b"\x1b[95;105mX", looks={(0, 0): {"fg": 13, "bg": 13}}),
    Case(
        "sgr_default_colors", b"\x1b[31;41m\x1b[39;49mX", looks={(0, 0): {"fg": None, "bg": None}}
    ),
)

_ROBUST: Final = (
    Case("bad_utf8_byte", b"a\xffb", lines={0: "a\ufffdb"}),
    Case("utf8_split_feed", b"\xe4", b"\xb8\xadX", lines={0: "中X"}),
    Case(
        "utf8_surrogate",
        b"\xed\xa0\x80X",
        holds=lambda rows: (
            rows[0].endswith("X") and not any("\ud800" <= c <= "\udfff" for c in rows[0])
        ),
    ),
    Case("c0_inside_csi", b"\x1b[1\n0GX", lines={1: "         X"}),
    Case(
        "can_aborts_csi",
        b"\x1b[3\x18X",
        holds=lambda rows: rows[0][-1:] == "X" and len(rows[0]) <= 2,
    ),
    Case(
        "c1_utf8_csi",
        b"a\xc2\x9b31mb",
        holds=lambda rows: (
            "".join(x for x in rows[0] if not "\x80" <= x <= "\x9f") in ("ab", "a31mb")
        ),
    ),
    Case(
        "c1_raw_8bit", b"a\x9b31mb", holds=lambda rows: rows[0][:1] == "a" and rows[0][-1:] == "b"
    ),
    Case(
        "huge_cup", b"\x1b[2147483648;4294967297HX", lines={4: ("                   X", "X"), 0: ""}
    ),
    Case("many_params", b"\x1b[" + b";".join([b"1"] * 3000) + b"mX", lines={0: "X"}),
    Case(
        "huge_il_ich",
        b"\x1b[99999999L\x1b[99999999@\x1b[99999999P\x1b[99999999X\x1b[99999999S\x1b[99999999T\x1b[99999999Z\x1b[99999999IX",
        holds=lambda rows: "X" in "".join(rows),
    ),
    Case("decsc_no_leak", b"\x1b7" * 20000 + b"X", lines={0: "X"}),
)

TEXT: Final = (*_WIDE, *_SGR, *_ROBUST)
