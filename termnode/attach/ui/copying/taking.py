"""Copying what is selected, once all of its lines have come."""

from __future__ import annotations

from typing import Final

from termnode.attach.ui import buffers
from termnode.attach.ui.copying.lines import MAX_LINES
from termnode.attach.ui.copying.mode import CopyMode
from termnode.attach.ui.core import Core
from termnode.attach.ui.effects import Copy

MOST: Final = MAX_LINES // 2
"""Lines of a selection that can be copied."""


class Taking:
    """Puts selections into the paste buffers and the person's clipboard."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def ready(self, mode: CopyMode) -> bool:
        """Copy if that is wanted and can be done now; whether it was done."""
        selection = mode.selection
        if not mode.copying or selection is None:
            return False
        first, after = selection.lines(mode.place)
        if after - first > MOST:
            mode.copying = False
            self._core.say(f"at most {MOST:,} lines can be copied at once: select fewer")
            return False
        if mode.lines.wanted(first, after) is not None:
            return False
        self._take(selection.text(mode.place, mode.cols, mode.flat))
        return True

    def _take(self, text: str) -> None:
        if text and not self._core.buffers.add(text):
            most = f"{buffers.MAX_BUFFER:,}"
            self._core.say(f"at most {most} characters can be copied at once: select fewer")
        elif text:
            self._core.emit(Copy(text))
            count = f"{len(text):,} character{'s' * (len(text) != 1)}"
            self._core.say(f"copied {count}: {self._core.config.prefix} ] pastes", 1.5)
