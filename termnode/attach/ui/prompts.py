"""What the last line asks for: a name, a pattern, a number, or y before a program is ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from termnode.attach.ui.core import Core
from termnode.attach.ui.editing import MAX_LINE, Line
from termnode.attach.ui.state import PromptView
from termnode.terminal.input.names import Key, parse_key

_ABORT = frozenset(map(parse_key, ("Escape", "C-c", "C-g")))
_ENTER = frozenset(map(parse_key, ("Enter", "KPEnter", "C-j")))


@dataclass(frozen=True, slots=True)
class LinePrompt:
    """``then`` is called with the line once Enter was pressed; Escape gives up."""

    label: str
    then: Callable[[str], object]
    text: str = ""
    limit: int = MAX_LINE


@dataclass(frozen=True, slots=True)
class Confirm:
    """``then`` is called for y; any other key means no."""

    text: str
    then: Callable[[], object]


class Prompts:
    """At most one prompt at a time; it takes all keys."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._asked: LinePrompt | Confirm | None = None
        self._line = Line()

    @property
    def open(self) -> bool:
        """Whether something is asked for."""
        return self._asked is not None

    def ask(self, prompt: LinePrompt | Confirm) -> None:
        """Ask; an earlier prompt gives way."""
        self._asked = prompt
        if isinstance(prompt, LinePrompt):
            self._line = Line(limit=prompt.limit)
            self._line.insert(prompt.text)
        self._core.hush()
        self._show()

    def press(self, key: Key) -> None:
        """A key, whatever it is bound to elsewhere."""
        match self._asked:
            case Confirm(_, then):
                self._close()
                if key == parse_key("y"):
                    then()
            case LinePrompt():
                self._write(self._asked, key)

    def pasted(self, text: str) -> None:
        """Pasted text goes into the line; it never says yes."""
        if isinstance(self._asked, LinePrompt):
            self._line.insert(text)
            self._show()

    def _write(self, prompt: LinePrompt, key: Key) -> None:
        if key in _ABORT:
            self._close()
        elif key in _ENTER:
            self._close()
            prompt.then(self._line.text)
        else:
            self._line.press(key)
            self._show()

    def _show(self) -> None:
        match self._asked:
            case Confirm(text):
                self._core.ui.prompt = PromptView(text, len(text))
            case LinePrompt(label):
                text = label + self._line.text
                self._core.ui.prompt = PromptView(text, len(label) + self._line.cursor)
        self._core.redraw()

    def _close(self) -> None:
        self._asked = self._core.ui.prompt = None
        self._core.redraw()
