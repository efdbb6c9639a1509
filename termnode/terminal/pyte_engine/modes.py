"""The modes a program can set: which we know, which of them mean something here.

A private mode lives in pyte's set of modes shifted by five bits, a standard one as it is. Unknown
modes are not kept, so the set is bounded and a query says truthfully that we do not know them.
"""

from __future__ import annotations

from typing import Final

PRIVATE_SHIFT: Final = 5

APP_CURSOR: Final = 1
REVERSE: Final = 5
ORIGIN: Final = 6
AUTOWRAP: Final = 7
SHOW_CURSOR: Final = 25
KEYPAD: Final = 66
FOCUS: Final = 1004
MOUSE_SGR: Final = 1006
MOUSE_PIXELS: Final = 1016
SAVE_CURSOR: Final = 1048
PASTE: Final = 2004
SYNCHRONIZED: Final = 2026

MOUSE: Final = frozenset({9, 1000, 1002, 1003})
"""Kinds of mouse reports: setting one replaces another, resetting any ends them."""

MOUSE_FORMS: Final = frozenset({1005, MOUSE_SGR, 1015, MOUSE_PIXELS})
"""Forms of mouse reports, of which the same holds."""

ALTERNATE: Final = frozenset({47, 1047, 1049})
"""Ways to the alternate screen; they differ in what they clear and save."""

KNOWN_PRIVATE: Final = frozenset(
    {APP_CURSOR, REVERSE, ORIGIN, AUTOWRAP, SHOW_CURSOR, KEYPAD, FOCUS, SAVE_CURSOR, PASTE}
    | {SYNCHRONIZED, 8, 12, 1007}
    | MOUSE_FORMS
    | MOUSE
    | ALTERNATE
)
"""Not among them, on purpose: 3 (a program never changes the width of a pane), 69, 2027, 2048."""

KNOWN_STANDARD: Final = frozenset({4, 20})
"""Insert mode and new line mode."""

DEFAULTS: Final = frozenset({AUTOWRAP << PRIVATE_SHIFT, SHOW_CURSOR << PRIVATE_SHIFT})
"""Set in a new terminal and after a reset."""


def report(known: bool, is_set: bool) -> int:
    """DECRPM's value: 0 not recognized, 1 set, 2 reset."""
    if not known:
        return 0
    return 1 if is_set else 2
