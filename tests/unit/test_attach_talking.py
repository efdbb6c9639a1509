"""One connection of a view: what its end means, and what it does when the service does not read."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import cast

import pytest
import trio

from termnode.attach import talking
from termnode.attach.ends import SLOW, End, How
from termnode.attach.link import MAX_UNSENT, Link, LinkFull, LinkLost, Opened, connect
from termnode.attach.seat import Seat
from termnode.attach.talking import talk
from termnode.view.frames import ServiceDecoder, encode
from termnode.view.messages import (
    Ack,
    Attach,
    Bye,
    FromView,
    Input,
    Message,
    Pasted,
    Reason,
    Tabs,
    Welcome,
)


class FakeSeat:
    """Takes in what is told."""

    def __init__(self) -> None:
        self.link: Link | None = None
        self.heard: list[Message] = []

    def begin(self, link: Link) -> None:
        self.link = link

    def told(self, messages: Sequence[Message]) -> None:
        self.heard += messages


def _welcome(pid: int) -> Welcome:
    return Welcome("term", pid, 1, "open", "pyte", read_only=False)


Serve = Callable[[trio.SocketStream], Awaitable[None]]


def _talk(tmp_path: Path, serve: Serve) -> tuple[End, FakeSeat]:
    """What becomes of a view whose service does as it is told."""
    path, seat = str(tmp_path / "s"), FakeSeat()

    async def run() -> End:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen()
        server = trio.SocketListener(trio.socket.from_stdlib_socket(listener))

        async def one() -> None:
            stream = await server.accept()
            await serve(stream)
            await stream.aclose()

        with trio.fail_after(30):
            async with trio.open_nursery() as nursery, server:
                nursery.start_soon(one)
                opened = Opened("token", path)
                return await talk(cast("Seat", seat), opened, Attach("token", 80, 24))

    return trio.run(run), seat


def _sends(*messages: Message, then: bytes = b"") -> Serve:
    async def serve(stream: trio.SocketStream) -> None:
        await stream.send_all(b"".join(map(encode, messages)) + then)

    return serve


@pytest.mark.parametrize(
    ("reason", "how"),
    [
        (Reason.ENDED, How.ENDED),
        (Reason.DETACHED, How.DETACHED),
        (Reason.FORBIDDEN, How.REFUSED),
        (Reason.FULL, How.REFUSED),
        (Reason.PROTOCOL, How.REFUSED),
    ],
)
def test_the_last_message_says_how_it_ended(tmp_path: Path, reason: Reason, how: How) -> None:
    end, seat = _talk(tmp_path, _sends(_welcome(os.getpid()), Tabs(None, ()), Bye(reason)))
    assert end.how is how
    assert Tabs(None, ()) in seat.heard
    assert seat.link is None


def test_a_view_that_was_let_go_of_may_be_opened_again(tmp_path: Path) -> None:
    end, _seat = _talk(tmp_path, _sends(_welcome(os.getpid()), Bye(Reason.SLOW)))
    assert end == SLOW


def test_a_service_that_is_gone_has_ended(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "600"]) as dying:

        async def serve(stream: trio.SocketStream) -> None:
            await stream.send_all(encode(_welcome(dying.pid)))
            await _until_acknowledged(stream)
            dying.kill()

        end, _seat = _talk(tmp_path, serve)
    assert end.how is How.ENDED


async def _until_acknowledged(stream: trio.SocketStream) -> None:
    decoder = ServiceDecoder()
    seen: list[FromView] = []
    while Ack(1) not in seen:
        seen += decoder.feed(await stream.receive_some())


@pytest.mark.parametrize(("lasted", "again"), [(0.0, True), (3600.0, False)])
def test_a_broken_connection_is_made_again_unless_it_broke_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lasted: float, again: bool
) -> None:
    monkeypatch.setattr(talking, "SERVICE_END_S", 0.01)
    monkeypatch.setattr(talking, "AGAIN_AFTER_S", lasted)

    async def serve(stream: trio.SocketStream) -> None:
        await stream.send_all(encode(_welcome(os.getpid())))
        await _until_acknowledged(stream)

    end, _seat = _talk(tmp_path, serve)
    assert (end == SLOW) is again
    assert end.how is How.LOST


def test_what_is_no_frame_ends_it(tmp_path: Path) -> None:
    end, _seat = _talk(tmp_path, _sends(then=b"\0\0\0\1\xc1"))
    assert end.how is How.LOST
    assert "otherwise" in end.why


def test_nobody_there(tmp_path: Path) -> None:
    async def run() -> None:
        with pytest.raises(LinkLost):
            await connect(Opened("token", str(tmp_path / "none")))

    trio.run(run)


def _send_until_full(link: Link, message: Message) -> int:
    for sent in range(1_000):
        try:
            link.send(message)
        except LinkFull:
            return sent
    raise AssertionError("it takes whatever it is given")


def test_what_a_service_does_not_read_is_bounded_and_then_sent_in_order() -> None:
    ours, theirs = socket.socketpair()
    paste = Input(1, (Pasted("x" * 100_000),))

    async def run() -> None:
        link = Link(ours)
        sent = _send_until_full(link, paste)
        assert sent >= MAX_UNSENT // 100_100
        stream = trio.SocketStream(trio.socket.from_stdlib_socket(theirs))
        decoder, found = ServiceDecoder(), 0
        async with trio.open_nursery() as nursery:
            nursery.start_soon(link.run)
            while found < sent:
                messages = decoder.feed(await stream.receive_some())
                assert all(message == paste for message in messages)
                found += len(messages)
            nursery.cancel_scope.cancel()
        link.close()
        await stream.aclose()

    trio.run(run)
