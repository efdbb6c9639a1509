"""A line that a person writes: a name, a pattern, a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from termnode.terminal.input.names import CHAR, Key, parse_key

MAX_LINE: Final = 256
"""Characters, unless said otherwise."""

_ALIASES: Final = {
    "C-a": "Home", "C-e": "End", "C-b": "Left", "C-f": "Right", "C-h": "BSpace",
}  # fmt: skip
_EMACS: Final = {parse_key(key): parse_key(name) for key, name in _ALIASES.items()}
_TO_START, _TO_END, _WORD = parse_key("C-u"), parse_key("C-k"), parse_key("C-w")


@dataclass(slots=True)
class Line:
    """Text and where the next character goes."""

    text: str = ""
    cursor: int = 0
    limit: int = MAX_LINE

    def insert(self, text: str) -> None:
        """Write at the cursor; control characters are left out, and what is beyond the limit."""
        fit = "".join(filter(str.isprintable, text))[: self.limit - len(self.text)]
        self.text = self.text[: self.cursor] + fit + self.text[self.cursor :]
        self.cursor += len(fit)

    def press(self, key: Key) -> None:
        """A key other than Enter and Escape; one that means nothing here does nothing."""
        key = _EMACS.get(key, key)
        if key.code == CHAR and not (key.ctrl or key.alt):
            self.insert(key.char)
        elif key in {_TO_START, _TO_END, _WORD}:
            self._cut(key)
        else:
            self._move(key.code)

    def _cut(self, key: Key) -> None:
        start, end = {
            _TO_START: (0, self.cursor),
            _TO_END: (self.cursor, len(self.text)),
        }.get(key, (self._word(), self.cursor))
        self._remove(start, end)

    def _word(self) -> int:
        """Where the word before the cursor begins."""
        before = self.text[: self.cursor].rstrip()
        return before.rfind(" ") + 1

    def _move(self, code: str) -> None:
        match code:
            case "Left":
                self.cursor = max(0, self.cursor - 1)
            case "Right":
                self.cursor = min(len(self.text), self.cursor + 1)
            case "Home":
                self.cursor = 0
            case "End":
                self.cursor = len(self.text)
            case "BSpace":
                self._remove(max(0, self.cursor - 1), self.cursor)
            case "Delete":
                self._remove(self.cursor, self.cursor + 1)

    def _remove(self, start: int, end: int) -> None:
        self.text = self.text[:start] + self.text[end:]
        self.cursor = start
