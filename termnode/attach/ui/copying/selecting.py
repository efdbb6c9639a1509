"""What the keys of copy mode do to the selection."""

from __future__ import annotations

from termnode.attach.ui.copying.mode import CopyMode
from termnode.attach.ui.copying.selection import Selection


def selected(mode: CopyMode, action: str) -> Selection | None:
    """The selection after an action of the table; other actions leave it."""
    now = mode.selection
    match action:
        case "select":
            return Selection(mode.line, mode.x)
        case "select-line":
            return Selection(mode.line, mode.x, whole=True)
        case "rectangle":
            at = now or Selection(mode.line, mode.x)
            return Selection(at.line, at.x, rectangle=not at.rectangle)
        case "other-end" if now is not None:
            other = Selection(mode.line, mode.x, now.whole, now.rectangle)
            mode.show(now.line, now.x)
            return other
    return now
