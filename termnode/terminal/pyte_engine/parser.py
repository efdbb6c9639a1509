"""Bytes to actions: UTF-8, control characters, escape sequences and strings.

Whole sequences are found by one regular expression. Whatever is split between feeds, over-long or
odd goes through a small state machine that follows the same rules, so the cut never matters. The
states are those of ECMA-48 as every DEC-like terminal has them: CAN and SUB end a sequence, ESC
starts another, control characters inside a control sequence act at once.

C1 control characters count when they arrive as UTF-8 (U+0080 to U+009F), as in xterm. Raw 8-bit
ones are not valid UTF-8: they show as replacement characters and control nothing.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable

from termnode.terminal.pyte_engine.grammar import (
    C1,
    CAPS,
    ENDS,
    MAX_INTERMEDIATES,
    MAX_PARAMS,
    PARAMS,
    STRING_END,
    STRINGS,
    TOKEN,
    Actions,
)


class Parser:
    """Feeds bytes to actions. State between feeds is one unfinished sequence, bounded."""

    def __init__(self, actions: Actions) -> None:
        self._actions = actions
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._state: Callable[[str, int], int] | None = None
        self._clear()

    def feed(self, data: bytes) -> None:
        """Take bytes, in any chunking."""
        text = self._decode(data)
        at, size = 0, len(text)
        while at < size:
            if self._state is None:
                at = self._whole(text, at)
                if at < size:
                    self._state = self._ground
            while self._state is not None and at < size:
                at = self._state(text, at)

    def _whole(self, text: str, at: int) -> int:
        """Act on whole sequences from ``at`` on; returns where the first odd one starts."""
        actions = self._actions
        draw, rendition, csi = actions.draw, actions.rendition, actions.csi
        match: re.Match[str] | None = None
        for match in iter(TOKEN.scanner(text, at).match, None):  # type: ignore[attr-defined]
            kind = match.lastindex
            if kind == 1:
                draw(match[1])
            elif kind == 3:
                rendition(match[3])
            elif kind == 2:
                draw(match[1])
                actions.newline()
            elif kind == 5:
                csi(match[5], match[4])
            elif kind == 6:
                actions.control(match[6])
            elif kind == 10:
                csi(match[7] + match[9] + match[10], match[8])
            elif kind == 12:
                actions.escape(match[11], match[12])
            elif kind == 14:
                actions.osc(match[13], ENDS[match[14]])
        return match.end() if match else at

    # The state machine: each state takes the text and a position, and returns the next position.

    def _clear(self) -> None:
        self._prefix = self._params = self._inter = ""
        self._kind = ""
        self._body: list[str] = []
        self._length = 0

    def _ground(self, text: str, at: int) -> int:
        """The first character of something that is not whole: ESC or a C1 control."""
        self._state = None
        if text[at] == "\x1b":
            self._start_escape()
        else:
            self._clear()
            self._escape_final(C1[text[at]])
        return at + 1

    def _start_escape(self) -> None:
        self._clear()
        self._state = self._in_escape

    def _common(self, char: str) -> bool:
        """What every sequence does with control characters; whether this was one."""
        if char == "\x1b":
            self._start_escape()
        elif char in "\x18\x1a":
            self._state = None
        elif char < " ":
            if "\x07" <= char <= "\x0f":
                self._actions.control(char)
        elif "\x80" <= char <= "\x9f":
            self._clear()
            self._state = None
            self._escape_final(C1[char])
        else:
            return char == "\x7f"
        return True

    def _in_escape(self, text: str, at: int) -> int:
        char = text[at]
        if self._common(char):
            return at + 1
        if " " <= char <= "/":
            self._inter = (self._inter + char)[: MAX_INTERMEDIATES + 1]
        elif char > "~":
            self._state = None
            return at
        else:
            self._state = None
            self._escape_final(char)
        return at + 1

    def _escape_final(self, char: str) -> None:
        """The end of an escape sequence, which may be the start of something longer."""
        if self._inter:
            if len(self._inter) <= MAX_INTERMEDIATES:
                self._actions.escape(self._inter, char)
        elif char == "[":
            self._clear()
            self._state = self._in_csi
        elif char in STRINGS:
            self._clear()
            self._kind = char
            self._state = self._in_string
        else:
            self._actions.escape("", char)

    def _in_csi(self, text: str, at: int) -> int:
        run = PARAMS.match(text, at)
        if run and not self._inter:
            self._params = (self._params + run[0])[: MAX_PARAMS + 1]
            return run.end()
        char = text[at]
        if self._common(char):
            return at + 1
        if "<" <= char <= "?" and not (self._prefix or self._params or self._inter):
            self._prefix = char
        elif " " <= char <= "/":
            self._inter = (self._inter + char)[: MAX_INTERMEDIATES + 1]
        elif "@" <= char <= "~":
            self._state = None
            self._csi_final(char)
        else:
            self._state = self._skip_csi
            return at
        return at + 1

    def _csi_final(self, char: str) -> None:
        key = self._prefix + self._inter + char
        if len(self._params) > MAX_PARAMS or len(self._inter) > MAX_INTERMEDIATES:
            return
        if key == "m":
            self._actions.rendition(self._params)
        else:
            self._actions.csi(key, self._params)

    def _skip_csi(self, text: str, at: int) -> int:
        """A malformed control sequence: nothing happens until it is over."""
        char = text[at]
        if char > "~" and not "\x7f" <= char <= "\x9f":
            self._state = None
            return at
        if not self._common(char) and "@" <= char <= "~":
            self._state = None
        return at + 1

    def _in_string(self, text: str, at: int) -> int:
        found = STRING_END.search(text, at)
        end = found.start() if found else len(text)
        self._keep(text, at, end)
        if found is None:
            return end
        char = found[0]
        if char == "\x1b":
            self._state = self._in_string_escape
        elif char == "\x07" and self._kind != "]":
            self._keep(text, end, end + 1)
        else:
            self._state = None
            if char not in "\x18\x1a":
                self._string_done(ENDS[char])
        return end + 1

    def _in_string_escape(self, text: str, at: int) -> int:
        """ESC inside a string: with a backslash the end of it, else the start of a sequence."""
        self._state = None
        if text[at] == "\\":
            self._string_done("\x1b\\")
            return at + 1
        self._start_escape()
        return at

    def _keep(self, text: str, start: int, end: int) -> None:
        """Keep a part of a string, unless it is a kind or a size nobody reads."""
        self._length += end - start
        if self._length <= CAPS.get(self._kind, 0):
            self._body.append(text[start:end])
        else:
            self._body.clear()

    def _string_done(self, end: str) -> None:
        kind, text = self._kind, "".join(self._body)
        whole = self._length <= CAPS.get(kind, 0)
        self._clear()
        if whole and kind == "]":
            self._actions.osc(text, end)
        elif whole and kind == "P":
            self._actions.dcs(text)
