"""The connection over which a pane's output comes (specs/view.md)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

import trio

from termnode.view.frames import BadFrame, Decoder, encode
from termnode.view.messages import (
    Attach,
    Bye,
    Ended,
    FromService,
    Keyframe,
    Output,
    Reason,
    Resized,
)

READ_BYTES: Final = 65_536

Told = Keyframe | Output | Resized | Ended


class WatchLost(Exception):
    """The connection ended before the program did. ``reason`` is None when nobody said why."""

    def __init__(self, reason: Reason | None) -> None:
        super().__init__("the connection to the service ended")
        self.reason = reason


async def watched(path: str, token: str, pane: int) -> AsyncGenerator[Told, None]:
    """What the pane (0: the active one) is told, from a keyframe on; the last one is `Ended`.

    Raises WatchLost, also when nobody listens at ``path``.
    """
    async with await _connected(path) as stream:
        try:
            await stream.send_all(encode(Attach(token, 80, 24, read_only=True, watch=pane)))
            async with aclosing(_messages(stream)) as messages:
                async for message in messages:
                    yield message
                    if isinstance(message, Ended):
                        return
        except (trio.BrokenResourceError, BadFrame):
            raise WatchLost(None) from None
    raise WatchLost(None)


async def _connected(path: str) -> trio.SocketStream:
    try:
        return await trio.open_unix_socket(path)
    except OSError:
        raise WatchLost(None) from None


async def _messages(stream: trio.SocketStream) -> AsyncGenerator[Told, None]:
    """Those about the pane. What is not read waits in the service, as much as it keeps."""
    decoder = Decoder()
    while data := await stream.receive_some(READ_BYTES):
        for message in decoder.feed(data):
            if (told := _told(message)) is not None:
                yield told


def _told(message: FromService) -> Told | None:
    if isinstance(message, Bye):
        raise WatchLost(message.reason)
    return message if isinstance(message, Told) else None
