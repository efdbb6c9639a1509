"""What control sequences look like, how long they may be, and what they ask for.

Sources: ECMA-48 (the forms), xterm's control sequences (which strings there are).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Protocol

MAX_PARAMS: Final = 1_024
"""Characters of a control sequence's parameters; a longer sequence is ignored whole."""

MAX_INTERMEDIATES: Final = 4

MAX_OSC: Final = 131_072
"""Characters of an operating system command; a longer one is ignored whole."""

MAX_DCS: Final = 4_096
"""Characters of a device control string: enough for the queries we answer, far under an image."""

_FAST_OSC: Final = 4_096

_P: Final = f"([0-9:;]{{0,{MAX_PARAMS}}})"
TOKEN: Final = re.compile(
    "([^\x00-\x1f\x7f-\x9f]+)(\r\n)?"  # 1 text, 2 end of line
    f"|\x1b\\[{_P}m"  # 3 rendition
    f"|\x1b\\[{_P}([@-~])"  # 4 parameters, 5 final
    "|([\x07-\x0f])"  # 6 control
    f"|\x1b\\[([<-?]?){_P}([ -/]{{0,{MAX_INTERMEDIATES}}})([@-~])"  # 7 8 9 10: any other
    f"|\x1b([ -/]{{0,{MAX_INTERMEDIATES}}})([0-OQ-WYZ`-jl-~\\\\])"  # 11 12 (not P X [ ] ^ _ k)
    f"|\x1b\\]([^\x07\x18\x1a\x1b\x9c]{{0,{_FAST_OSC}}})(\x07|\x1b\\\\|\x9c)"  # 13 14
    "|[\x00-\x06\x10-\x1a\x1c-\x1f\x7f]+"  # controls without a meaning here
)
PARAMS: Final = re.compile("[0-9:;]+")
STRING_END: Final = re.compile("[\x07\x18\x1a\x1b\x9c]")
C1: Final[Mapping[str, str]] = {chr(0x80 + code): chr(0x40 + code) for code in range(0x20)}
STRINGS: Final = "PX]^_k"
"""ESC finals that open a string: DCS, SOS, OSC, PM, APC, and screen's title."""

CAPS: Final[Mapping[str, int]] = {"]": MAX_OSC, "P": MAX_DCS}
"""Characters kept of each kind of string; the other kinds are discarded as they come."""

ENDS: Final[Mapping[str, str]] = {"\x07": "\x07", "\x9c": "\x1b\\", "\x1b\\": "\x1b\\"}
"""How a command was ended, to how its answer is ended."""


class Actions(Protocol):
    """What a parser asks for. None of these may raise."""

    def draw(self, text: str, /) -> None:
        """Print text without control characters."""

    def newline(self) -> None:
        """CR and LF."""

    def control(self, char: str, /) -> None:
        """Execute BEL, BS, HT, LF, VT, FF, CR, SO or SI."""

    def rendition(self, params: str, /) -> None:
        """SGR without prefix."""

    def csi(self, key: str, params: str, /) -> None:
        """A control sequence: ``key`` is prefix, intermediates and final together."""

    def escape(self, intermediates: str, final: str, /) -> None:
        """An escape sequence."""

    def osc(self, text: str, end: str, /) -> None:
        """An operating system command; ``end`` is how it was ended: BEL or ST."""

    def dcs(self, text: str, /) -> None:
        """A device control string, without its introducer."""
