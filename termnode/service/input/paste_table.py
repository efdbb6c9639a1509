"""Texts that are pasted in parts, until the last part is there. Sans-IO: time is an argument."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from brokerd.client import ErrorCode, Refusal, limit_reached

MAX_OPEN: Final = 16
"""Texts of one service that are not yet whole."""

MAX_TEXT_BYTES: Final = 1024 * 1024
"""Bytes of one text, in UTF-8."""

IDLE_S: Final = 60.0
"""Seconds without a next part after which a text is forgotten."""


@dataclass(slots=True, eq=False)
class OpenPaste:
    """A text of which more is to come. ``touched`` is when its last part came."""

    operation: str
    pane: int
    generation: int
    touched: float
    data: bytearray = field(default_factory=bytearray)

    @property
    def received(self) -> int:
        """Bytes so far: the offset of the next part."""
        return len(self.data)


class PasteTable:
    """The open texts of one service, bounded in number, size and time."""

    def __init__(
        self,
        max_open: int = MAX_OPEN,
        max_bytes: int = MAX_TEXT_BYTES,
        idle_s: float = IDLE_S,
        make_id: Callable[[], str] = lambda: secrets.token_hex(12),
    ) -> None:
        self._max_open = max_open
        self._max_bytes = max_bytes
        self._idle_s = idle_s
        self._make_id = make_id
        self._open: dict[str, OpenPaste] = {}

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, pane: int, generation: int, text: str, now: float) -> OpenPaste:
        """A new text with its first part. Raises Refusal RESOURCE_LIMIT at a limit."""
        self._sweep(now)
        if len(self._open) >= self._max_open:
            raise limit_reached(
                "open_pastes", self._max_open, "other pastes wait for their rest: try again later"
            )
        paste = OpenPaste(self._make_id(), pane, generation, now)
        paste.data += self._fitting(paste, text)
        self._open[paste.operation] = paste
        return paste

    def pane_of(self, operation: str) -> int | None:
        """The pane that the text of this name is for; None when there is no such text."""
        paste = self._open.get(operation)
        return None if paste is None else paste.pane

    def find(self, operation: str, now: float) -> OpenPaste:
        """The text of that name. Raises Refusal NOT_FOUND when it was written or forgotten."""
        self._sweep(now)
        paste = self._open.get(operation)
        if paste is None:
            raise Refusal(
                ErrorCode.NOT_FOUND,
                "no such paste is open: it was written, or no part came for "
                f"{self._idle_s:g} seconds; look at the screen before you begin it again",
                reason="no_such_paste",
            )
        return paste

    def add(self, paste: OpenPaste, offset: int, text: str, now: float) -> int:
        """Take a part; return the bytes received up to its end.

        A part that is there already is not taken again. Raises Refusal: CONFLICT with the bytes
        received when it is not the next one, RESOURCE_LIMIT when the text would be too long.
        """
        end = offset + len(text.encode())
        if offset != paste.received:
            if end > paste.received or paste.data[offset:end] != text.encode():
                raise _not_next(paste)
        else:
            paste.data += self._fitting(paste, text)
        paste.touched = now
        return end

    def whole(self, paste: OpenPaste, offset: int, text: str) -> str:
        """The text with its last part; the table stays as it is. Raises as ``add``."""
        if offset != paste.received:
            raise _not_next(paste)
        return (paste.data + self._fitting(paste, text)).decode()

    def forget(self, paste: OpenPaste) -> None:
        """Let go of a text; once more is no error."""
        self._open.pop(paste.operation, None)

    def _fitting(self, paste: OpenPaste, text: str) -> bytes:
        part = text.encode()
        if paste.received + len(part) > self._max_bytes:
            raise limit_reached(
                "paste_bytes",
                self._max_bytes,
                f"a paste takes {self._max_bytes} bytes: put the text into a file",
            )
        return part

    def _sweep(self, now: float) -> None:
        for paste in list(self._open.values()):
            if now - paste.touched >= self._idle_s:
                self.forget(paste)


def _not_next(paste: OpenPaste) -> Refusal:
    return Refusal(
        ErrorCode.CONFLICT,
        "it is not the next part: go on where details.received says",
        reason="not_next",
        received=paste.received,
    )
