"""One connection to the service, from the first message to its end, and what that end means."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import trio

from termnode.attach import link as links
from termnode.attach.ends import SLOW, End, How, end_of
from termnode.attach.link import Link, LinkFull, LinkLost, Opened
from termnode.attach.seat import Seat
from termnode.view.messages import Attach, Bye, FromService, Welcome

SERVICE_END_S: Final = 2.0
"""A service that is killed closes its sockets a moment before it is gone."""

AGAIN_AFTER_S: Final = 1.0
"""A connection that broke sooner than that is not made again: it would break again."""


async def talk(seat: Seat, opened: Opened, attach: Attach) -> End:
    """Connect, attach, and tell the seat what is told, to the end of the connection."""
    try:
        link = await links.connect(opened)
    except LinkLost as lost:
        return End(How.LOST, str(lost))
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(link.run)
            end = await _Talk(seat, link).run(attach)
            nursery.cancel_scope.cancel()
        return end
    finally:
        seat.link = None
        link.close()


class _Talk:
    def __init__(self, seat: Seat, link: Link) -> None:
        self._seat = seat
        self._link = link
        self._service: int | None = None
        self._since = 0.0

    async def run(self, attach: Attach) -> End:
        """To the end."""
        self._link.send(attach)
        self._seat.begin(self._link)
        try:
            while True:
                end = self._take(await self._link.receive())
                if end is not None:
                    return end
        except LinkLost as lost:
            return await self._broken(lost)
        finally:
            if self._service is not None:
                os.close(self._service)

    def _take(self, messages: Sequence[FromService]) -> End | None:
        """Pass on what was told; how it ends, when that was told."""
        bye = next((each for each in messages if isinstance(each, Bye)), None)
        welcome = next((each for each in messages if isinstance(each, Welcome)), None)
        if welcome is not None:
            self._welcomed(welcome)
        self._seat.told([each for each in messages if not isinstance(each, Bye)])
        if bye is not None:
            return end_of(bye.reason)
        with suppress(LinkFull):  # it does not read: then it needs no leave to send more
            self._link.acknowledge()
        return None

    def _welcomed(self, welcome: Welcome) -> None:
        self._since = trio.current_time()
        with suppress(OSError):  # gone already, or not of this process's namespace
            self._service = self._service or os.pidfd_open(welcome.pid)

    async def _broken(self, lost: LinkLost) -> End:
        """The connection broke without a word: because the service did, or only the connection."""
        if self._service is None:
            return End(How.LOST, str(lost))
        with trio.move_on_after(SERVICE_END_S):
            await trio.lowlevel.wait_readable(self._service)
            return End(How.ENDED)
        lasted = trio.current_time() - self._since >= AGAIN_AFTER_S
        return SLOW if lasted else End(How.LOST, str(lost))
