"""One integrated shell as Term sees it: its output is parted, its key pressed, both told.

What the pane's sidecar decides by are its own records from the shell; this tells what only the
owner of the terminal can know (specs/execute.md). Everything here is immediate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

import trio

from termnode.service.shells.human import Typing
from termnode.service.shells.marks import MAX_OP, Mark, MarkScanner
from termnode.service.shells.pressing import press
from termnode.service.shells.relief import relieve
from termnode.service.shells.slicer import Slicer
from termnode.service.shells.starting import Integration
from termnode.service.shells.trimming import without_switches

if TYPE_CHECKING:
    from termnode.service.live_pane import LivePane

STARTING: Final = "starting"
PROMPT_READY: Final = "prompt-ready"
EVALUATING: Final = "evaluating"

PROMPT_WITHIN_S: Final = 0.1
"""A shell says that a prompt comes before it shows it: a press waits for so long."""


class Channel(Protocol):
    """The way to the pane's sidecar; `termnode.paneshell.channel.TermEnd` is one."""

    def post(self, record: Mapping[str, Any]) -> bool:
        """Tell it, without waiting."""


def _ignored(_op: str, _data: bytes = b"") -> None:
    """Nobody wants to know."""


class ShellLink:
    """Taps the terminal of ``live`` from its making on. ``integration`` is its own from then on.

    ``on_chunk`` is called with output of an operation while it runs, and ``on_over`` when nothing
    follows. Whose output it is, is what Term pressed the key for last: until the shell has said
    that it took that request, it may be a person's.
    """

    def __init__(self, live: LivePane, integration: Integration) -> None:
        facts = integration.facts
        self.facts: Final = facts
        """What the pane's sidecar is told of it."""
        self.typing: Final = Typing()
        self.on_chunk: Callable[[str, bytes], object] = _ignored
        self.on_over: Callable[[str], object] = _ignored
        self._live = live
        self._scanner = MarkScanner(facts.nonce)
        self._slicer = Slicer(facts.kind)
        self._channel: Channel | None = None
        self._op: str | None = None
        """What the key was pressed for last, until a command has ended."""
        self._waiting: str | None = None
        """A press that waits for a prompt."""
        self._pressing = trio.Event()
        self._told_end = False
        self._integration = integration
        live.terminal.taps.add(self._tap)

    @property
    def working(self) -> str | None:
        """Its kind once the shell has made a mark: one that is too old makes none."""
        return None if self._live.terminal.commands.nonce is None else self.facts.kind

    @property
    def phase(self) -> str:
        """What its marks say: PROMPT_READY, EVALUATING, or STARTING when neither is known."""
        if self._slicer.running:
            return EVALUATING
        return PROMPT_READY if self.typing.shown else STARTING

    def close(self) -> None:
        """Remove its directory, once the program has ended; may be called again."""
        self._integration.close()

    def attach(self, channel: Channel) -> None:
        """Tell this sidecar from now on."""
        self._channel, self._waiting = channel, None

    def detach(self, channel: Channel) -> None:
        """Tell that one no more; without effect when another one is told already."""
        if self._channel is channel:
            self._channel, self._waiting = None, None

    def take(self, record: Mapping[str, Any]) -> None:
        """What the sidecar says; what is none of the records is passed over."""
        op = record.get("op")
        if record.get("type") == "press" and isinstance(op, str) and 0 < len(op) <= MAX_OP:
            self._press_or_wait(op)

    async def run(self) -> None:
        """Let no press wait for longer than PROMPT_WITHIN_S; until cancelled."""
        while True:
            await self._pressing.wait()
            self._pressing = trio.Event()
            op = self._waiting
            await trio.sleep(PROMPT_WITHIN_S)
            if op is not None and self._waiting is op:
                self._press(op)

    def _press_or_wait(self, op: str) -> None:
        """A prompt that is just being drawn is waited for: nothing was typed at it."""
        typing, terminal = self.typing, self._live.terminal
        drawn = typing.shown or not typing.untouched(terminal.bytes_typed)
        if drawn or not terminal.input_idle or self._waiting is not None:
            self._press(op)
        else:
            self._waiting = op
            self._pressing.set()

    def _press(self, op: str) -> None:
        """In one step with the telling, so that nothing is told before it."""
        self._waiting = None
        word = press(self._live, self.typing)
        if word == "pressed":
            self._op = op
        self._tell({"type": "pressed", "op": op, "word": word})

    def _tap(self, data: bytes) -> None:
        relieve(self._integration.directory.control)
        for each in self._scanner.feed(data):
            if isinstance(each, Mark):
                self._mark(each)
            else:
                self._output(each)
        if not data:
            self._look()

    def _output(self, data: bytes) -> None:
        self._slicer.put(data)
        if self._slicer.running and self._op is not None:
            self.on_chunk(self._op, without_switches(data))

    def _mark(self, mark: Mark) -> None:
        self._live.terminal.commands.nonce = self.facts.nonce
        self.typing.mark(mark.letter, self._live.terminal.bytes_typed)
        if mark.letter == "C":
            self._slicer.begin()
        elif mark.letter == "D":
            self._finish(mark.op, mark)
        elif mark.letter == "A" and self._slicer.running:  # its hook for the end is gone
            self._finish(self._op, None)
            self._tell({"type": "mark", "kind": "prompt"})
        elif mark.letter == "B" and self._waiting is not None:
            self._press(self._waiting)

    def _finish(self, op: str | None, mark: Mark | None) -> None:
        """A command has ended: its output is told when it is an operation's."""
        found = self._slicer.end(self._live.terminal.cols)
        pressed, self._op = self._op, None
        if pressed is not None:
            self.on_over(pressed)
        if op is None or found is None:
            return
        self._tell(
            {
                "type": "output",
                "op": op,
                "head": found.head,
                "tail": found.tail,
                "bytes": found.count,
                "status": None if mark is None else mark.status,
                "generation": None if mark is None else mark.generation,
            }
        )

    def _look(self) -> None:
        """Something besides output has changed: the program may have ended."""
        live = self._live
        over = live.terminal.closed or live.terminal.exit is not None
        if not over or self._told_end:
            return
        self._told_end = True
        self._slicer.put(self._scanner.finish())
        self._finish(self._op, None)
        self._tell({"type": "program", "ended": _ending(live)})

    def _tell(self, record: Mapping[str, Any]) -> None:
        if self._channel is not None:
            self._channel.post(record)


def _ending(live: LivePane) -> dict[str, object]:
    """How the program ended, as replies say it."""
    report = live.terminal.exit
    if report is None:
        return {"unknown": True}
    return {"code": report.code} if report.signal is None else {"signal": report.signal}
