"""A view without a terminal: a plain blocking client of the view socket."""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from termnode.view.frames import Decoder, encode
from termnode.view.messages import (
    Ack,
    Attach,
    Bye,
    Detach,
    Do,
    Done,
    FromService,
    FromView,
    Input,
    Item,
    Key,
    Layout,
    PaneState,
    Row,
    Status,
    Tabs,
    Text,
    Welcome,
)
from tests.support.termnode_process import DEADLINE_S, Service

T = TypeVar("T")


class Viewer:
    """One connection of this process. ``token`` None: asked for over the bus."""

    def __init__(self, service: Service, path: str | None = None, token: str | None = None) -> None:
        if token is None or path is None:
            opened = service.good("term.view.open")
            path, token = path or opened["path"], token or opened["token"]
        assert path is not None
        self.token: str = token or ""
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self.socket.setblocking(False)
        self.decoder = Decoder()
        self.received = 0
        self.bytes = 0
        self.acknowledges = True
        self.messages: list[FromService] = []
        self.welcome: Welcome | None = None
        self.tabs: Tabs | None = None
        self.layout: Layout | None = None
        self.status: Status | None = None
        self.bye: Bye | None = None
        self.ended = False
        self.states: dict[int, PaneState] = {}
        self.lines: dict[int, dict[int, Row]] = {}
        self.done: dict[int, Done] = {}
        self.requests = 0

    def attach(self, cols: int = 80, rows: int = 24, **other: Any) -> None:  # noqa: ANN401
        self.send(Attach(self.token, cols, rows, **other))

    def send(self, message: FromView) -> None:
        self.send_bytes(encode(message))

    def send_bytes(self, data: bytes) -> None:
        self.socket.setblocking(True)
        self.socket.sendall(data)
        self.socket.setblocking(False)

    def press(self, *items: Item, pane: int = 1) -> None:
        self.send(Input(pane, items))

    def enter(self, text: str, pane: int = 1) -> None:
        self.press(Text(text), Key("Enter"), pane=pane)

    def do(self, verb: str, **body: Any) -> Done:  # noqa: ANN401
        self.requests += 1
        number = self.requests
        self.send(Do(number, verb, body))
        self.until(lambda: number in self.done, f"{verb} is done")
        return self.done[number]

    def read(self, within: float = 0.05) -> None:
        """Take in what is there, or comes ``within`` seconds."""
        if self.ended or not select.select([self.socket], [], [], within)[0]:
            return
        try:
            data = self.socket.recv(1 << 18)
        except ConnectionResetError:
            data = b""
        if not data:
            self.ended = True
            return
        self.bytes += len(data)
        messages = self.decoder.feed(data)
        for message in messages:
            self._take(message)
        if messages and self.acknowledges and self.bye is None:
            self.received += len(messages)
            try:
                self.send(Ack(self.received))
            except OSError:
                self.ended = True

    def until(self, check: Callable[[], T], what: str, within: float = DEADLINE_S) -> T:
        """The first true result of ``check``, asked after each batch."""
        end = time.monotonic() + within
        while not (result := check()):
            assert time.monotonic() < end, f"not within {within:g} s: {what}; {self.messages[-5:]}"
            assert not self.ended or self.bye is not None, f"ended before: {what}"
            self.read()
        return result

    def _take(self, message: FromService) -> None:
        self.messages.append(message)
        del self.messages[:-1_000]
        match message:
            case Welcome():
                self.welcome = message
            case Tabs():
                self.tabs = message
            case Layout():
                self.layout = message
            case Status():
                self.status = message
            case Bye():
                self.bye = message
            case Done():
                self.done[message.req] = message
            case PaneState():
                lines = {} if message.full else self.lines.get(message.pane, {})
                lines.update(message.lines)
                shown = range(message.base, message.base + message.rows)
                self.lines[message.pane] = {at: row for at, row in lines.items() if at in shown}
                self.states[message.pane] = message

    def rows(self, pane: int = 1) -> list[str]:
        state = self.states.get(pane)
        if state is None:
            return []
        lines = self.lines[pane]
        return [
            "".join(text for text, _, _ in lines.get(state.base + y, ())).rstrip()
            for y in range(state.rows)
        ]

    def shows(self, text: str, pane: int = 1) -> None:
        """Wait until a row is exactly that."""
        self.until(lambda: text in self.rows(pane), f"{text!r} is shown")

    def until_bye(self) -> Bye:
        self.until(lambda: self.bye is not None, "bye")
        assert self.bye is not None
        return self.bye

    def close(self) -> None:
        self.socket.close()


@contextmanager
def viewer(service: Service, cols: int = 80, rows: int = 24, **other: Any) -> Iterator[Viewer]:  # noqa: ANN401
    """An attached view."""
    made = Viewer(service)
    try:
        made.attach(cols, rows, **other)
        made.until(lambda: made.layout is not None and made.status is not None, "it is attached")
        yield made
    finally:
        made.close()


def peer_of(connected: socket.socket) -> int:
    """The pid at the other end."""
    raw = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    pid: int = struct.unpack("iII", raw)[0]
    return pid


def leave(view: Viewer) -> None:
    """Detach, as a person would."""
    view.send(Detach())
    view.until_bye()
