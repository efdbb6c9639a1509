# Made from termnode/client/pane_input.py by python -m termnode.client.generate.
"""A pane's keyboard and mouse."""

from __future__ import annotations

from collections.abc import Sequence

from termnode.client import watching
from termnode.client.program import milliseconds
from termnode.client.seen import Pasted, Sent, Typed
from termnode.control.parts import parts
from termnode.sync.asking import Asking


class PaneInput:
    """Input into one pane. Each remembers the screen's revision before it, for the waits."""

    def __init__(self, asking: Asking, pane: int) -> None:
        self._asking = asking
        self._id = pane

    def send_keys(self, keys: str | Sequence[str], *, enter: bool | None = None) -> None:
        """Type a text and press Enter, or press a list of named keys.

        ``enter`` is True for a text, also an empty one, and False for a list unless said
        otherwise::

            pane.send_keys("make test")
            pane.send_keys(["Escape", "C-w"])

        A text is typed as it is: ``"C-c"`` is three characters, ``["C-c"]`` is a key.

        Raises as `type` and `press`.
        """
        if isinstance(keys, str) and keys:
            self.type(keys, enter=enter is not False)
        elif keys or enter is not False:
            also = ["Enter"] if enter or not keys else []
            self.press(*keys, *also)

    def type(self, text: str, *, enter: bool = False, confirm: bool = False) -> Typed:
        """Type printable ASCII, Tab, Backspace, Ctrl-C and Ctrl-D; a newline presses Enter.

        With ``confirm`` the text is looked for on the screen before Enter is pressed, and
        ``outcome`` says how far it came. Takes about 8,000 characters; `paste` takes any text.
        Raises InvalidArgument, ResourceLimit, Busy, Disconnected, Expired, UnknownOutcome.
        """
        call = watching.type_(text=text, pane=self._id, enter=enter, confirm=confirm)
        answer = self._asking.ask(call)
        self._asking.anchors.sent(self._id, answer.revision)
        return answer

    def press(self, *keys: str, within: float | None = None) -> Sent:
        """Press keys as tmux names them: Enter, Up, F5, C-c, M-x, C-S-Left, or one character.

        At most 200. An unknown name presses nothing: InvalidArgument names the nearest. ``within``
        is how many seconds the program may take to read (None: two). Raises as `type`.
        """
        call = watching.keys(keys=keys, pane=self._id, within_ms=milliseconds(within))
        return self._sent(self._asking.ask(call))

    def paste(self, text: str, *, plain: bool = False, within: float | None = None) -> Pasted:
        """Paste a text of up to 1 MiB, in brackets where the program asked for them.

        ``plain``: never, and newlines press Enter, as if it was typed. ``within`` is for how many
        seconds the program may read nothing of it (None: two).

        Control characters but Tab and newlines are left out; ``removed`` says how many. A long one
        is sent in parts and written as one piece; nothing is written before all of it is there.
        Raises as `type`, and StaleGeneration when the program was started anew meanwhile.
        """
        pieces = list(parts(text))
        operation: str | None = None
        received: int | None = None
        for piece in pieces[:-1]:
            begun = self._asking.ask(
                watching.paste(
                    text=piece, pane=self._id, more=True, operation=operation, offset=received
                )
            )
            operation, received = begun.operation, begun.received
        answer = self._asking.ask(
            watching.paste(
                text=pieces[-1],
                pane=self._id,
                operation=operation,
                offset=received,
                plain=plain,
                within_ms=milliseconds(within),
            )
        )
        self._asking.anchors.sent(self._id, answer.revision)
        return answer

    def click(self, x: int, y: int, *, button: str = "left", modifiers: Sequence[str] = ()) -> Sent:
        """Press and release a mouse button at a column and row, from 0. Raises as `mouse`."""
        return self.mouse("click", x, y, button=button, modifiers=modifiers)

    def mouse(
        self, action: str, x: int, y: int, *, button: str = "left", modifiers: Sequence[str] = ()
    ) -> Sent:
        """One of press, release, click, move, drag, wheel-up and wheel-down at a cell.

        ``button`` is left, middle or right; ``modifiers`` are shift, alt, ctrl. Raises Unsupported
        when the program did not ask to be told of it, InvalidArgument outside the pane, and as
        `type`.
        """
        call = watching.mouse(
            action=action, x=x, y=y, button=button, modifiers=list(modifiers), pane=self._id
        )
        return self._sent(self._asking.ask(call))

    def _sent(self, answer: Sent) -> Sent:
        self._asking.anchors.sent(self._id, answer.revision)
        return answer
