"""Streams of terminal output for property tests: well-formed, mutated, and hostile."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

from hypothesis import strategies as st

from tests.support.vt_cases import CASES

WORDS: Final = (
    "ls",
    "error:",
    "日本語",
    "naïve",
    "e\u0301",
    "👩\u200d👧",
    "🇫🇷",
    "─│",
    "x" * 30,
    " ",
)
SEQUENCES: Final = tuple(
    step for case in CASES for step in case.steps if isinstance(step, bytes) and len(step) < 400
)

_numbers: Final = st.integers(0, 40) | st.sampled_from((0, 1, 7, 25, 1049, 2004, 65_536, 2**31))
_params: Final = st.lists(_numbers, max_size=4).map(lambda ns: b";".join(b"%d" % n for n in ns))


def _csi(prefix: bytes, params: bytes, final: bytes) -> bytes:
    return b"\x1b[" + prefix + params + final


csi: Final = st.builds(
    _csi,
    st.sampled_from((b"", b"", b"", b"?", b">", b"=", b"!")),
    _params,
    st.integers(0x40, 0x7E).map(lambda n: bytes([n])),
)
"""Any control sequence, known or not."""

text: Final = st.sampled_from(WORDS).map(str.encode)
newline: Final = st.sampled_from((b"\r\n", b"\r", b"\n", b"\t", b"\b"))
known: Final = st.sampled_from(SEQUENCES)
garbage: Final = st.binary(max_size=12)

stream: Final = st.lists(text | newline | known | csi | garbage, max_size=30).map(b"".join)
"""Output as programs, broken programs and attackers write it."""


def chunks(data: bytes, cuts: list[int]) -> Iterator[bytes]:
    """``data`` cut at the given places (taken modulo its length)."""
    places = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    for start, end in itertools.pairwise(places):
        yield data[start:end]


_SIZE: Final = 100_000


def _fill(unit: bytes) -> bytes:
    return unit * (_SIZE // len(unit))


def _numbered(pattern: bytes) -> bytes:
    step = len(pattern) + 6
    return b"".join(pattern % (n >> 16 & 255, n >> 8 & 255, n & 255) for n in range(_SIZE // step))


HOSTILE: Final = {
    "rep_flood": _fill(b"x\x1b[99999b"),
    "il_dl_flood": _fill(b"\x1b[999L\x1b[999M"),
    "su_sd_flood": _fill(b"\x1b[999S\x1b[999T"),
    "ed_flood": _fill(b"x\x1b[2J\x1b[3J"),
    "tabs_flood": _fill(b"\x1bH\x1b[C\x1b[99I\x1b[99Z"),
    "truecolor_unique": _numbered(b"\x1b[38;2;%d;%d;%dmx"),
    "link_unique": _numbered(b"\x1b]8;;http://h/%d/%d/%d\x1b\\x"),
    "cluster_unique": "".join(
        f"a{chr(0x300 + n % 100)}{chr(0x300 + n // 100 % 100)}" for n in range(_SIZE // 5)
    ).encode(),
    "decsc": _fill(b"\x1b7"),
    "long_osc": b"\x1b]2;" + _fill(b"A"),
    "long_csi": b"\x1b[" + _fill(b"1;"),
    "long_dcs": b"\x1bP+q" + _fill(b"41"),
    "zalgo": b"a" + _fill("\u0301".encode()),
    "one_char_lines": _fill(b"x\r\n"),
    "esc_garbage": _fill(b"\x1b[?9$\x1b(\x1b]\x1bP\x1b"),
    "dsr_flood": _fill(b"\x1b[6n\x1b[?6n\x1b[c"),
    "alt_flip": _fill(b"\x1b[?1049hx\x1b[?1049l"),
    "wide_line": _fill("中".encode()),
    "title_flood": _fill(b"\x1b]2;t\x07\x1b[22t\x1b[23t"),
    "clipboard_flood": _fill(b"\x1b]52;c;" + b"aGVsbG8h" * 100 + b"\x07"),
    "keyboard_stack": _fill(b"\x1b[>1u"),
    "soft_reset_flood": _fill(b"\x1b[!p"),
}
"""What has blown up some terminal emulator: each must stay bounded in time and memory."""

_small: Final = st.integers(1, 12)


def _move(final: bytes, first: int, second: int) -> bytes:
    return b"\x1b[%d;%d%b" % (first, second, final)


def _act(final: bytes, count: int) -> bytes:
    return b"\x1b[%d%b" % (count, final)


_agreed: Final = (
    text
    | newline
    | st.builds(_move, st.sampled_from((b"H", b"f", b"r")), _small, _small)
    | st.builds(_act, st.sampled_from([bytes([c]) for c in b"ABCDEFGLMPSTX@d`ae"]), _small)
    | st.builds(_act, st.sampled_from((b"J", b"K")), st.integers(0, 2))
    | st.builds(_act, st.just(b"m"), st.sampled_from((0, 1, 3, 4, 7, 31, 44, 95)))
    | st.sampled_from(
        (
            b"\x1b7",
            b"\x1b8",
            b"\x1bM",
            b"\x1bD",
            b"\x1bE",
            b"\x1b[?25l",
            b"\x1b[?2004h",
            b"\x1b[?1000;1006h",
            b"\x1b[?1002h",
            b"\x1b[?1003h",
            b"\x1b[?1000l",
            b"\x1b[?1004h",
            b"\x1b=",
            b"\x1b[>1u",
            b"\x1b[<u",
            b"\x1b[>4;2m",
            b"\x1b[4h",
            b"\x1b[4l",
            b"\x1b[6n",
            b"\x1b[!p",
            b"\x1b]2;title\x07",
        )
    )
)
well_formed: Final = st.lists(_agreed, max_size=40).map(b"".join)
"""Output of sound programs: every emulator must do the same with it.

Left out, for the emulators differ in them and the cases say how: counts of zero, origin mode,
autowrap off, line drawing, full reset, and the alternate screen (history and background).
"""
