"""What makes any terminal show a screen as it is: for who begins to watch in the middle.

Told are the cells, the cursor and the modes that change what is shown. The modes of input change
nothing there, and an engine does not tell its margins, its tab stops, its character sets and the
style it would write in next; programs set those again before they count on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from termnode.terminal.engine import Engine, Modes
from termnode.terminal.render.ansi import ansi_row
from termnode.terminal.render.cells import columns, width_of

_KNOWN: Final = "\x1b[?1049l\x1b[m\x1b(B\x0f\x1b[r\x1b[?6l\x1b[4l\x1b[20l\x1b[?7h"
"""The main screen and the state in which text goes where it is put."""

_UNFINISHED: Final = re.compile(
    rb"""(?:
    \x1b\[[0-?]*[\x20-/]*                       # of a control sequence
    |\x1b[\]PX^_][^\x07\x18\x1a\x1b]*\x1b?      # of a string: OSC, DCS, SOS, PM, APC
    |\x1b[\x20-/]*
    |[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2}
    )\Z""",
    re.VERBOSE,
)


def keyframe(engine: Engine, recent: bytes = b"") -> bytes:
    """The whole screen, from whatever a terminal of its size shows before.

    ``recent`` is the end of what the engine was fed: a sequence or character that is not finished
    in it is the end of the keyframe, so that the next output finishes it.
    """
    return "".join(_parts(engine)).encode("utf-8", "replace") + unfinished(recent)


def unfinished(recent: bytes) -> bytes:
    """The beginning of a sequence or of a character that ``recent`` ends with."""
    found = _UNFINISHED.search(recent)
    return found[0] if found is not None else b""


def _parts(engine: Engine) -> Iterator[str]:
    modes, cursor = engine.modes, engine.cursor
    yield _KNOWN
    yield ("\x1b[?1049h" if modes.alternate else "") + "\x1b[H\x1b[J"
    rows = [ansi_row(runs) for runs in engine.runs()]
    yield from (f"\x1b[{y + 1}H{row}" for y, row in enumerate(rows) if row and y != cursor.y)
    # The last one: a cursor that waits to wrap stands there by writing the last cell alone.
    yield f"\x1b[{cursor.y + 1}H{rows[cursor.y]}"
    yield _pending(engine) if cursor.pending_wrap else f"\x1b[{cursor.y + 1};{cursor.x + 1}H"
    yield f"\x1b[{cursor.shape} q" + _shown(modes) + _set("?25", on=cursor.visible)


def _pending(engine: Engine) -> str:
    """After the row was written: blank cells at its end are not in it."""
    (text,) = engine.text(engine.cursor.y, 1)
    written = columns(text, width_of(engine.name))
    return "" if written >= engine.cols else f"\x1b[{engine.cols}G "


def _shown(modes: Modes) -> str:
    return _set("?7", on=modes.autowrap) + _set("?5", on=modes.reverse)


def _set(mode: str, *, on: bool) -> str:
    return f"\x1b[{mode}{'h' if on else 'l'}"
