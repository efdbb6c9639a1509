"""Cases of talk between program and terminal: queries, strings, titles, modes."""

from __future__ import annotations

from typing import Final

from tests.support.vt_case import Case

_REPORT: Final = (
    Case("cpr", b"\x1b[2;3H\x1b[6n", replies=rb"\x1b\[2;3R"),
    Case("decxcpr", b"\x1b[2;3H\x1b[?6n", replies=rb"\x1b\[\?2;3(;1)?R"),
    Case("da2", b"\x1b[>c", replies=rb"\x1b\[>\d+;\d+;\d+c"),
    Case("da3_not_da1", b"\x1b[=cX", lines={0: "X"}, replies=rb"(\x1bP!\|[0-9A-Fa-f]*\x1b\\)?"),
    Case("decrqm_unknown", b"\x1b[?9999$pX", lines={0: "X"}, replies=rb"\x1b\[\?9999;0\$y"),
    Case("decrqm_sync2026", b"\x1b[?2026$p", replies=rb"\x1b\[\?2026;[12]\$y"),
    Case("xtversion", b"\x1b[>0qX", lines={0: "X"}, replies=rb"\x1bP>\|[^\x1b]+\x1b\\"),
    Case("osc10_query", b"\x1b]10;?\x07", replies=rb"\x1b\]10;rgb:[0-9a-f/]+(\x07|\x1b\\)"),
    Case("osc4_query", b"\x1b]4;1;?\x07", replies=rb"\x1b\]4;1;rgb:[0-9a-f/]+(\x07|\x1b\\)"),
    Case("decrqss_sgr", b"\x1b[0m\x1bP$qm\x1b\\X", lines={0: "X"}, replies=rb"\x1bP1\$r0?m\x1b\\"),
    Case("winops_18t", b"\x1b[18t", replies=rb"\x1b\[8;5;20t"),
    Case("kitty_query", b"\x1b[?uX", lines={0: "X"}, replies=rb"\x1b\[\?0u"),
    Case("kitty_set", b"\x1b[=5;1u\x1b[?uX", lines={0: "X"}, replies=rb"\x1b\[\?5u"),
)

_SWALLOW: Final = (
    Case("modify_other_keys", b"\x1b[>4;2mX", lines={0: "X"}, looks={(0, 0): {"underline": 0}}),
    Case("decstr", b"\x1b[?6h\x1b[1m\x1b[!pX", lines={0: "X"}, looks={(0, 0): {"bold": False}}),
    Case("decscusr", b"\x1b[5 qX", lines={0: "X"}),
    Case("decsca", b'\x1b[1"qX\x1b[0"q', lines={0: "X"}),
    Case("xtsave_restore", b"\x1b[?2004h\x1b[?2004s\x1b[?2004l\x1b[?2004rX", lines={0: "X"}),
    Case("dcs_swallowed", b"\x1bPabc;def\x1b\\X", lines={0: "X"}),
    Case("apc_swallowed", b"\x1b_Gf=100,a=q;AAAA\x1b\\X", holds=lambda rows: rows[0] == "X"),
    Case("sos_swallowed", b"\x1bXhello\x1b\\X", lines={0: "X"}),
    Case(
        "sixel_swallowed",
        b"\x1bPq#0;2;0;0;0#0~~@@vv@@~~@@~~$#0??}}GG}}??}}??-\x1b\\X",
        holds=lambda rows: (
            "~" not in "".join(rows) and "#0" not in "".join(rows) and "X" in "".join(rows)
        ),
    ),
    Case("screen_title_esc_k", b"\x1bkname\x1b\\X", lines={0: "X"}),
    Case("sync2026", b"\x1b[?2026hX\x1b[?2026l", lines={0: "X"}),
    Case("esc_charset_unknown", b"\x1b(%5X\x1b-AY\x1b(BZ", lines={0: "XYZ"}),
    Case("utf8_select", b"\x1b%GX\x1b%@Y\x1b%G", lines={0: "XY"}),
)

_OSC: Final = (
    Case("osc2_title_st", b"\x1b]2;T\xc3\xa9st\x1b\\X", lines={0: "X"}, title="Tést"),
    Case("osc0_title_bel", b"\x1b]0;hello\x07X", lines={0: "X"}, title="hello"),
    Case("osc104_no_semicolon", b"\x1b]104\x07X\x1b]110\x07Y", lines={0: "XY"}),
    Case(
        "osc133_not_icon",
        b"\x1b]2;ok\x07\x1b]133;A\x07$ \x1b]133;B\x07ls\x1b]133;C\x07\r\n\x1b]133;D;0\x07",
        lines={0: "$ ls"},
        title="ok",
    ),
    Case(
        "osc8_text_kept", b"\x1b]8;id=1;http://e.x/\x1b\\link\x1b]8;;\x1b\\ Z", lines={0: "link Z"}
    ),
    Case(
        "osc8_exposed",
        b"\x1b]8;;http://e.x/\x1b\\link\x1b]8;;\x1b\\ Z",
        looks={(1, 0): {"link": "http://e.x/"}, (5, 0): {"link": None}},
    ),
    Case(
        "title_stack",
        b"\x1b]2;one\x07\x1b[22;0t\x1b]2;two\x07\x1b[23;0tX",
        lines={0: "X"},
        title="one",
    ),
    Case("osc_can_aborts", b"\x1b]2;abc\x18X", lines={0: "X"}),
    Case("osc_split_feed", b"\x1b]2;ti", b"tle\x1b", b"\\X", lines={0: "X"}, title="title"),
    Case(
        "csi_split_feed",
        b"\x1b",
        b"[3",
        b"1",
        b"mX\x1b[2;",
        b"2HY",
        lines={0: "X", 1: " Y"},
        looks={(0, 0): {"fg": 1}},
    ),
)

_MODE: Final = (
    Case("mode2004_bracketed_paste", b"\x1b[?2004h", modes={"bracketed_paste": True}),
    Case("mode1_app_cursor", b"\x1b[?1h", modes={"app_cursor": True}),
    Case("mode1000_mouse_click", b"\x1b[?1000h", modes={"mouse": 1000}),
    Case("mode1002_mouse_drag", b"\x1b[?1002h", modes={"mouse": 1002}),
    Case("mode1003_mouse_any", b"\x1b[?1003h", modes={"mouse": 1003}),
    Case("mode1006_mouse_sgr", b"\x1b[?1000;1006h", modes={"mouse_sgr": True}),
    Case("mouse_form_alone", b"\x1b[?1006h", modes={"mouse_sgr": False}),
    Case(
        "mode1016_mouse_pixels",
        b"\x1b[?1003;1016h",
        modes={"mouse_sgr": True, "mouse_pixels": True},
    ),
    Case(
        "mouse_form_set_last_counts",
        b"\x1b[?1003;1016;1006h",
        modes={"mouse_sgr": True, "mouse_pixels": False},
    ),
    Case("mouse_set_last_counts", b"\x1b[?1003h\x1b[?1002h", modes={"mouse": 1002}),
    Case("mouse_reset_ends_all", b"\x1b[?1000h\x1b[?1002h\x1b[?1000l", modes={"mouse": 0}),
    Case("modify_other_keys_told", b"\x1b[>4;2m", modes={"modify_other_keys": 2}),
    Case("modify_other_keys_all_off", b"\x1b[>4;2m\x1b[>m", modes={"modify_other_keys": 0}),
    Case("modify_other_keys_unknown", b"\x1b[>4;2m\x1b[>4;3m", modes={"modify_other_keys": 0}),
    Case("kitty_flags", b"\x1b[>1u\x1b[=4;2u", modes={"kitty_flags": 5}),
    Case("kitty_flags_per_screen", b"\x1b[>1u\x1b[?1049h", modes={"kitty_flags": 0}),
    Case("width_stays", b"\x1b[?40h\x1b[?3h\x1b[1;99Hx", lines={0: " " * 19 + "x"}),
    Case("mode1004_focus", b"\x1b[?1004h", modes={"focus_events": True}),
    Case(
        "mode_reset",
        b"\x1b[?2004h\x1b[?1h\x1b[?2004l\x1b[?1l",
        modes={"bracketed_paste": False, "app_cursor": False},
    ),
    Case("mode25_cursor_hidden", b"\x1b[?25l", visible=False),
    Case("ris_resets_modes", b"\x1b[?2004h\x1bc", modes={"bracketed_paste": False}),
)

TALK: Final = (*_REPORT, *_SWALLOW, *_OSC, *_MODE)
