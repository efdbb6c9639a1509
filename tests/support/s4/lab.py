"""What the enforcement fixtures of native control stand on: a broker, a service, and its callers.

Broker and service are processes of their own. The callers speak by hand (`session_peer`): nothing
of the client is in them.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

from termnode.control import posture
from tests.support.broken_broker import LoggedBroker
from tests.support.broker_process import short_directory
from tests.support.p0i.lab import DENIED
from tests.support.raw_bus import Delivery, socket_of
from tests.support.s4.caller import Caller
from tests.support.s4.service import (
    NOTHING_OFF,
    LabService,
    comm,
    descendants,
    end_broker,
    send_signal,
)
from tests.support.session_peer import Fields, Key, SessionPeer
from tests.support.termnode_process import alive, eventually

__all__ = [
    "DENIED",
    "NOTHING_OFF",
    "Fixture",
    "Lab",
    "LabService",
    "Start",
    "ask_nobody",
    "event_of",
    "first",
    "gone",
    "lab_of",
]


class Start(Protocol):
    """Starts a broker with these arguments, and a service with these settings."""

    def __call__(
        self, *broker: str, settings: Mapping[str, Any] = {}, **environment: str
    ) -> AbstractContextManager[Lab]: ...


Fixture = Callable[[Start], None]


class Lab:
    """One service and everybody who asks it for something; closed on leaving."""

    def __init__(self, broker: LoggedBroker, term: LabService, stack: ExitStack) -> None:
        self.broker = broker
        self.term = term
        self._stack = stack

    # -- callers -----------------------------------------------------------------------------------

    def peer(self, path: Path | None = None) -> SessionPeer:
        peer = self._stack.enter_context(SessionPeer.open(path or socket_of(self.broker)))
        peer.hello()
        return peer

    def owner(self) -> Caller:
        """A connection of the same user, without a record."""
        return Caller(self.peer(), self.record()["name"])

    def child(self, pane: int) -> Caller:
        """The bound caller of a pane: its pane shell's record, taken over with its own key.

        The pane shell itself stands still from then on, so that it does not take it back.
        """
        self.stop_shell(pane)
        peer = self.peer()
        record = peer.attach(self.key(pane))
        return Caller(peer, self.record()["name"], record)

    def take_over(self, child: Caller, pane: int) -> Caller:
        """The same record on another connection."""
        peer = self.peer()
        successor = Caller(peer, child.name, peer.attach(self.key(pane)))
        successor.last_id = child.last_id
        return successor

    def key(self, pane: int) -> Key:
        """The key of a pane shell, which the service wrote down for this lab alone."""
        made = max(self.seeds.glob(f"{pane}-*"), key=lambda path: int(path.name.split("-")[1]))
        return Key(bytes.fromhex(made.read_text()))

    @property
    def seeds(self) -> Path:
        return self.term.directory / "seeds"

    # -- what there is -----------------------------------------------------------------------------

    def records(self) -> list[Fields]:
        with SessionPeer.open(socket_of(self.broker)) as peer:
            return peer.records()

    def record(self) -> Fields:
        """The service's own."""
        with SessionPeer.open(socket_of(self.broker)) as peer:
            peer.ask(self.term.name, id="info", command="INFO")
            _, body, _ = peer.next_of(lambda header: header.id == "info")
            name = json.loads(body)["identity"]["name"]
            return next(each for each in peer.records() if each["name"] == name)

    def record_of(self, pane: int) -> Fields | None:
        """The attached record of a pane shell."""
        for each in self.records():
            if (each["pane_id"], each["state"]) == (str(pane), "attached"):
                return each
        return None

    def target(self, pane: int, generation: int | None = None) -> Fields:
        """The pane as requests name it; its generation is that of its present record."""
        if generation is None:
            held = self.record_of(pane)
            assert held is not None, f"pane {pane} has no attached record"
            generation = int(held["pane_generation"])
        term = self.record()
        return {
            "instance_id": term["instance_id"],
            "incarnation": term["incarnation"],
            "pane_id": str(pane),
            "pane_generation": str(generation),
        }

    def targets(self, *panes: int) -> list[Fields]:
        return [self.target(pane) for pane in panes]

    # -- the service -------------------------------------------------------------------------------

    def strict(self, *, on: bool = True) -> None:
        """Set the posture; the service reads it at its next request."""
        chosen = posture.Posture.STRICT if on else posture.Posture.OPEN
        posture.write(posture.file_path(self.term.files, self.term.name), chosen)

    def binding(self, pane: int) -> Fields:
        """How the pane stands; in open posture."""
        found: Fields = next(
            each["binding"] for each in self.term.good("term.panes")["panes"] if each["id"] == pane
        )
        return found

    def ready(self, *panes: int) -> None:
        """Wait until these may be controlled; in open posture."""
        for pane in panes:
            eventually(lambda pane=pane: self.binding(pane)["ready"], f"pane {pane} is ready")  # type: ignore[misc]

    def split(self, count: int = 1) -> list[int]:
        """More panes in the active tab, ready; in open posture."""
        made = [self.term.good("term.pane.split", {"dir": "v"})["id"] for _ in range(count)]
        self.ready(*made)
        return made

    def tab(self, *argv: str) -> int:
        """The pane of a new tab, ready; in open posture."""
        body: Fields = {"argv": list(argv)} if argv else {}
        made: int = self.term.good("term.tab.new", body)["pane"]
        self.ready(made)
        return made

    # -- processes ---------------------------------------------------------------------------------

    def shell_of(self, pane: int) -> int | None:
        """The process of a pane shell."""
        pids = descendants(self.term.ready["pid"])
        return next((pid for pid in pids if comm(pid) == f"pane-shell-{pane}"), None)

    def stop_shell(self, pane: int) -> None:
        """Let a pane shell stand still until the lab ends."""
        pid = self.shell_of(pane)
        assert pid is not None, f"pane {pane} has no pane shell"
        pidfd = os.pidfd_open(pid)
        self._stack.callback(os.close, pidfd)
        send_signal(pidfd, signal.SIGSTOP)
        self._stack.callback(send_signal, pidfd, signal.SIGKILL)

    def go_on(self, pane: int) -> None:
        """Let a pane shell that stands still go on."""
        pid = self.shell_of(pane)
        assert pid is not None, f"pane {pane} has no pane shell"
        os.kill(pid, signal.SIGCONT)


def lab_of(
    *broker: str,
    settings: Mapping[str, Any] = {},
    off: str = NOTHING_OFF,
    **environment: str,
) -> AbstractContextManager[Lab]:
    """A broker and a service that are ready, in open posture unless the environment says else.

    ``off`` names the guard that the service lacks; ``{}`` in the broker's arguments is a directory
    that others can look into.
    """
    return lab_with(LabService, *broker, settings=settings, off=off, **environment)


@contextmanager
def lab_with(
    service: type[LabService],
    *broker: str,
    settings: Mapping[str, Any] = {},
    off: str = NOTHING_OFF,
    **environment: str,
) -> Iterator[Lab]:
    """As `lab_of`, with a service of that kind."""
    with short_directory() as directory, ExitStack() as stack:
        directory.chmod(0o711)
        (directory / "seeds").mkdir(0o700)
        told = [argument.replace("{}", str(directory)) for argument in broker]
        started = LoggedBroker(directory / "rt", *told)
        stack.callback(started.close)
        started.start()
        term = service(directory, extra=environment)
        term.off, term.settings = off, settings
        stack.callback(end_broker, directory / "rt")
        stack.callback(term.down)
        lab = Lab(started, term, stack)
        yield lab


def gone(pid: int) -> None:
    """Wait for the end of a process."""
    eventually(lambda: not alive(pid), f"process {pid} has ended")


def ask_nobody(peer: SessionPeer, name: str) -> bool:
    """Whether nobody has that name."""
    peer.ask(name, id="there?")
    header, body, _ = peer.next_of(
        lambda header: (header.type, header.id) == ("response", "there?")
    )
    return (header.rc, json.loads(body)["error_code"]) == (20, "UNAVAILABLE")


def first(lab: Lab) -> int:
    """The pane that the service began with, started and ready."""
    lab.term.up()
    pane: int = lab.term.ready["pane"]
    lab.ready(pane)
    return pane


def event_of(caller: Caller, command: str, wanted: Sequence[str]) -> dict[str, Fields]:
    """The private events of that name, by their request id, once there are all that are wanted."""
    found: dict[str, Fields] = {}

    def is_one(delivery: Delivery) -> None:
        body: Fields = json.loads(delivery[1])
        found[body["request_id"]] = body

    while not set(wanted) <= found.keys():
        is_one(caller.peer.next_of(lambda h: (h.type, h.command) == ("event", command)))
    return found
