"""A connection that follows a pane's output as it is (`Attach.watch`)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import trio

from termnode.service.viewing.news import News
from termnode.service.viewing.views import Views
from termnode.service.viewing.watching_output import WatchedOutput
from termnode.view.frames import encode

READ_BYTES: Final = 4_096


LOOK_S: Final = 1.0
"""How often it is asked whether the watcher is still allowed, when there is nothing to send."""


async def stream_output(
    views: Views, stream: trio.SocketStream, pane: int, allowed: Callable[[], bool]
) -> bool:
    """Send a pane's output (0: the active one) until its program ends or the other side goes.

    There may be no such pane, or no program in it yet: then nothing is sent. False when it ended
    because it is no longer ``allowed``.
    """
    found = pane or views.state.workspace.active_pane or 0
    live = views.state.find_live(found)
    if live is None or live.terminal.closed:
        return True
    news = News()
    watched = WatchedOutput(found, live.terminal, _now_ms, news.ring)
    watched.begin()
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_until_closed, stream, nursery.cancel_scope)
            await _send(watched, news, stream, allowed)
            nursery.cancel_scope.cancel()
    finally:
        watched.end()
    return allowed()


async def _send(
    watched: WatchedOutput, news: News, stream: trio.SocketStream, allowed: Callable[[], bool]
) -> None:
    while not watched.over and allowed():
        seen = news.count
        told = watched.take()
        if told:
            await stream.send_all(b"".join(map(encode, told)))
        else:
            await news.after(seen, LOOK_S)


async def _until_closed(stream: trio.SocketStream, scope: trio.CancelScope) -> None:
    """The other side has nothing to say here; what it says is passed over."""
    try:
        while await stream.receive_some(READ_BYTES):
            pass
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass
    scope.cancel()


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000
