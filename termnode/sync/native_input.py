# Made from termnode/client/native_input.py by python -m termnode.client.generate.
"""Input into one pane, through the gate. Accepted means queued: see `NativeInput.settled`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from termnode.client import native_link
from termnode.client.errors import Forbidden
from termnode.client.native_calls import native_call
from termnode.client.native_replies import Accepted, Looked, NativePaneInfo, Operation
from termnode.client.native_term import Term
from termnode.sync.runner import Runner


class NativeInput:
    """Every input names the foreground generation as it was last read.

    It is refused with StaleGeneration, and nothing is typed, when a person or another program came
    in between. `refresh` reads it anew: do that *before* you look at what you are going to answer,
    so that what you saw is what you type into. ``refresh=True`` does it at once, unseen. Nothing
    here repeats an input by itself.
    """

    def __init__(self, runner: Runner, term: Term, info: NativePaneInfo) -> None:
        self._runner = runner
        self._term = term
        self.info = info
        self.foreground: int | None = None
        """The foreground generation as last read; None before that."""

    def refresh(self) -> Self:
        """Read the foreground generation; returns the pane itself. Raises Forbidden when the pane
        is gone, or is another one by now."""
        call = native_call("term.snapshot", Looked, self.info.target)
        looked = self._runner.run(native_link.ask, self._term, call)
        self.foreground = looked.foreground_generation
        return self

    def type(self, text: str, *, enter: bool = False, refresh: bool = False) -> Accepted:
        """Type printable ASCII, Tab, Backspace, Ctrl-C and Ctrl-D; a newline presses Enter.

        Anything else refuses it all: `paste` takes any text. Raises StaleGeneration, Busy while
        another writes there, Forbidden, InvalidArgument, ResourceLimit, UnknownOutcome.
        """
        return self._input("term.type", refresh, text=text, enter=enter)

    def keys(self, *keys: str, refresh: bool = False) -> Accepted:
        """Press keys as tmux names them: Enter, Up, F5, C-c, M-x. Raises as `type`."""
        return self._input("term.keys", refresh, keys=list(keys))

    def paste(self, text: str, *, refresh: bool = False) -> Accepted:
        """Paste a text, in brackets where the program asked for them; as much as one request
        holds, about 7,000 bytes. Raises as `type`."""
        return self._input("term.paste", refresh, text=text)

    def mouse(
        self,
        action: str,
        x: int,
        y: int,
        *,
        button: str = "left",
        modifiers: Sequence[str] = (),
        refresh: bool = False,
    ) -> Accepted:
        """As `termnode.client.Pane.mouse`. Raises Unsupported, and as `type`."""
        return self._input(
            "term.mouse", refresh, action=action, x=x, y=y, button=button, modifiers=list(modifiers)
        )

    def operation(self, operation_id: int) -> Operation:
        """What is known now of a mutation of this connection. Raises UnknownOutcome when it is not
        known any more."""
        return self._runner.run(native_link.operation, self._term, self.info.target, operation_id)

    def settled(self, accepted: Accepted, *, timeout: float = 5.0) -> Operation:
        """What became of an input, once nothing more is to come: at most two seconds after it was
        accepted. Raises WaitTimeout, UnknownOutcome."""
        return self._runner.run(
            native_link.settled, self._term, self.info.target, accepted.operation_id, timeout
        )

    def _input(self, verb: str, refresh: bool, **fields: object) -> Accepted:
        if refresh or self.foreground is None:
            self.refresh()
        if self.foreground is None:
            raise Forbidden("no program is known to be in front there: look, and ask again")
        call = native_call(verb, Accepted, self.info.target, fields, foreground=self.foreground)
        return self._runner.run(native_link.ask, self._term, call)
