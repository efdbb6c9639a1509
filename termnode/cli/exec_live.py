"""What is shown of a command's output while it runs, so that its end shows nothing twice. Sans-IO.

Lines are shown when they are whole, or late, as they stand: a question waits for its answer.
The result has the first and the last of the output and is right; the stream in between may have
gaps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Final

from termnode.cli.exec_words import left_out, plain

HOLD_S: Final = 1.0
"""After a gap for so long nothing is shown: a command that is over by then has its first lines in
its result."""

LATE_S: Final = 0.5
"""A line without an end is shown after so long, unless it is written over or has sequences."""

MAX_HELD: Final = 65_536
"""Characters that are held then, and those of a line without an end."""

MAX_KNOWN: Final = 131_072
"""Characters that are known to be shown; a result without a gap has fewer."""


@dataclass(frozen=True, slots=True)
class Said:
    """For stdout, or ``note``: for the person, on stderr."""

    words: str
    note: bool = False


MISSING: Final = Said(
    "the rest of the output was not told here: 'termnode result' shows what was kept", note=True
)


class Live:
    """The output of one command. Times are monotonic seconds."""

    def __init__(self) -> None:
        self._known = ""
        self._partial = ""
        self._open = ""
        """Of the line without an end what is shown already."""
        self._since = inf
        self._held = ""
        self._lost = 0
        self._due: float | None = None
        self._gap = False

    def piece(self, text: str, lost: int, now: float) -> list[Said]:
        """The next piece; ``lost`` bytes before it were not told."""
        if not lost and self._due is None:
            return [*self._lines(text, now), *self.late(now)]
        self._lost += lost
        self._held += text
        self._due = now + HOLD_S if self._due is None else self._due
        self._forget(len(self._held) - MAX_HELD)
        return self.late(now)

    def wait(self, now: float) -> float | None:
        """For how many seconds to wait for a piece before asking what is `late`; None: for ever."""
        due = self._since + LATE_S if self._due is None else self._due
        return None if due == inf else max(0.0, due - now)

    def late(self, now: float) -> list[Said]:
        """What was held for long enough."""
        if self._due is not None:
            return self._release(now) if now >= self._due else []
        return self._begun() if now >= self._since + LATE_S else []

    def end(self, output: Mapping[str, Any] | None, *, complete: bool) -> list[Said]:
        """What is still to be shown; ``complete`` says that the stream was told to its end."""
        whole = complete and self._due is None
        text = None if output is None else plain(output["text"])
        omitted = 0 if output is None else int(output.get("omitted", 0))
        if text is not None and not self._gap and not (whole and omitted):
            found = self._rest(text, omitted)
            if found is not None:
                return found
        rest = self._release(inf)
        if not complete:
            return [*rest, *_words(plain(self._partial)), MISSING]
        return [*rest, *_words(self._last(text))]

    def _last(self, text: str | None) -> str:
        """Of the last line what is not shown; that of the result has nothing of the shell's own."""
        _, end, last = (text or "").rpartition("\n")
        if not (end and last.startswith(self._open)):
            return plain(self._partial)
        return last[len(self._open) :]

    def _rest(self, text: str, omitted: int) -> list[Said] | None:
        """Where the result goes on behind what is shown, or leaps; None when it does neither."""
        if text.startswith(self._known):
            return [*_words(text[len(self._known) :]), *_left_out(omitted)]
        rest = _words(text[_in_common(self._known, text) :])
        return [Said("some of the output is left out here", note=True), *rest] if omitted else None

    def _lines(self, text: str, now: float) -> list[Said]:
        whole, end, partial = text.rpartition("\n")
        shown = ""
        if end:
            shown, self._partial, self._open, self._since = self._partial + whole + end, "", "", inf
        self._partial += partial
        self._since = min(self._since, now) if self._partial else inf
        lines = self._shown(plain(shown))
        return lines if len(self._partial) < MAX_HELD else [*lines, *self._begun(of_any=True)]

    def _begun(self, *, of_any: bool = False) -> list[Said]:
        """A line that has waited for its end, as far as it goes; ``of_any`` kind."""
        begun, self._since = self._partial, inf
        if not of_any and ("\r" in begun or "\x1b" in begun):
            return []
        self._partial = ""
        self._open += plain(begun)
        return self._shown(plain(begun))

    def _shown(self, text: str) -> list[Said]:
        if len(self._known) <= MAX_KNOWN:
            self._known += text
        return _words(text)

    def _release(self, now: float) -> list[Said]:
        """Go on behind a gap; what is left out are whole lines, where there are lines."""
        if self._due is None:
            return []
        self._forget(self._held.find("\n") + 1)
        held, lost = self._held, self._lost + _size(self._partial)
        before = _words("\n" if self._open else "")
        self._held, self._lost, self._partial, self._open, self._due = "", 0, "", "", None
        self._gap = True
        return [*before, *_left_out(lost), *self._lines(held, now)]

    def _forget(self, count: int) -> None:
        """The first characters of what is held."""
        if count > 0:
            self._lost += _size(self._held[:count])
            self._held = self._held[count:]


def _size(text: str) -> int:
    return len(text.encode(errors="replace"))


def _in_common(one: str, other: str) -> int:
    """Characters with which both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (mine, its) in pairs if mine != its), min(len(one), len(other)))


def _words(text: str) -> list[Said]:
    return [Said(text)] if text else []


def _left_out(count: int) -> list[Said]:
    return [Said(left_out(count), note=True)] if count else []
