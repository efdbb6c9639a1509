"""One connection to the view socket: one task reads, one writes, one sees whether it is stuck."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import trio

from termnode.service.viewing.access import Permission
from termnode.service.viewing.hub import View
from termnode.service.viewing.people import person_summary
from termnode.service.viewing.views import Views
from termnode.service.viewing.watch_stream import stream_output
from termnode.view.frames import BadFrame, ServiceDecoder, encode
from termnode.view.messages import Attach, Bye, Detach, FromView, Reason

READ_BYTES: Final = 65_536
FIRST_S: Final = 5.0
"""A connection must say within so many seconds what it wants."""

BYE_S: Final = 0.5
"""How long the last message may take."""

LOOK_S: Final = 1.0
"""How often a view is looked after: whether it reads, and whether the posture is another one."""


class _Over(Exception):
    """The connection ends, for this reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


class Connection:
    """A process of ``uid`` and ``pid`` that connected."""

    def __init__(self, views: Views, stream: trio.SocketStream, uid: int, pid: int) -> None:
        self._views = views
        self._stream = stream
        self._uid = uid
        self._pid = pid
        self._who = person_summary(uid, pid)
        self._decoder = ServiceDecoder()
        self._permission: Permission | None = None
        self._torn = False
        """Whether a frame was begun and not sent whole: nothing can follow it."""
        self._early: list[FromView] = []
        """What came together with the first message."""

    async def run(self) -> None:
        """Serve it to its end. Raises trio's errors when the other side goes without a word."""
        reason = Reason.ENDED
        try:
            reason = await self._serve()
        finally:
            with trio.CancelScope(shield=True), trio.move_on_after(BYE_S):
                await self._bye(reason)

    async def _bye(self, reason: Reason) -> None:
        if self._torn:
            return
        try:
            await self._stream.send_all(encode(Bye(reason)))
            await self._stream.send_eof()
            while await self._stream.receive_some(READ_BYTES):
                pass  # what it sent before it knew: unread, it would be told of an error
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.BusyResourceError):
            pass  # it is gone, or stopped in the middle of a frame

    async def _serve(self) -> Reason:
        try:
            asked = await self._first()
            if asked.watch is not None:
                return await self._watch(asked.watch)
            return await self._view(asked)
        except BadFrame:
            return Reason.PROTOCOL
        except _Over as over:
            return over.reason

    async def _watch(self, pane: int) -> Reason:
        self._torn = True
        whole = await stream_output(self._views, self._stream, pane, self._allowed)
        self._torn = False
        return Reason.GONE if whole else Reason.STRICT

    def _allowed(self) -> bool:
        """Whether it may go on; asked in the same step as each telling and each doing."""
        permission = self._permission
        return permission is not None and self._views.state.access.holds(permission)

    async def _first(self) -> Attach:
        """The message that says who it is. Raises _Over unless it may have a view."""
        with trio.move_on_after(FIRST_S):
            messages = await self._read()
            if not messages:
                raise _Over(Reason.DETACHED)
            asked, *self._early = messages
            if not isinstance(asked, Attach):
                raise _Over(Reason.PROTOCOL)
            self._permission = self._views.state.access.take(asked.token, self._uid, self._pid)
            if self._permission is None:
                raise _Over(Reason.FORBIDDEN)
            if self._views.full:
                raise _Over(Reason.FULL)
            return asked
        raise _Over(Reason.PROTOCOL)

    async def _read(self) -> list[FromView]:
        """At least one message; none at the end of the connection. Raises BadFrame."""
        while data := await self._stream.receive_some(READ_BYTES):
            if messages := self._decoder.feed(data):
                return messages
        return []

    async def _view(self, asked: Attach) -> Reason:
        assert self._permission is not None, "the first message was let in"
        view = self._views.attach(asked, self._who, trusted=self._permission.trusted)
        reasons: list[Reason] = []

        async def until_over(
            part: Callable[[View], Awaitable[Reason]], scope: trio.CancelScope
        ) -> None:
            reason = await part(view)
            reasons.append(reason)
            scope.cancel()

        try:
            async with trio.open_nursery() as nursery:
                for part in (self._hear, self._tell, self._look_after):
                    nursery.start_soon(until_over, part, nursery.cancel_scope)
        finally:
            self._views.detach(view, self._who)
        return reasons[0] if reasons else Reason.ENDED

    async def _hear(self, view: View) -> Reason:
        """Take messages until the view leaves. They are done in the order in which they came."""
        messages = self._early
        while True:
            for message in messages:
                await self._until_room(view)
                if isinstance(message, Detach):
                    return Reason.DETACHED
                if not self._allowed():
                    return Reason.STRICT
                if not self._views.take(view, message, self._who):
                    return Reason.PROTOCOL
            try:
                messages = await self._read()
            except BadFrame:
                return Reason.PROTOCOL
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return Reason.DETACHED
            if not messages:
                return Reason.DETACHED

    async def _until_room(self, view: View) -> None:
        """A view that asks for more than it reads is not heard until it has read.

        Others have a turn between two messages.
        """
        await trio.lowlevel.checkpoint()
        while not self._views.has_room(view):
            await self._views.news.after(self._views.news.count, LOOK_S)

    async def _tell(self, view: View) -> Reason:
        """Send what is due as soon as it is."""
        views = self._views
        try:
            while True:
                seen = views.news.count
                if not self._allowed():
                    return Reason.STRICT
                batch = views.hub.due(view, views.clock())
                if batch:
                    self._torn = True
                    await self._stream.send_all(b"".join(batch))
                    self._torn = False
                else:
                    await views.news.after(seen, views.pause(view, views.clock()))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return Reason.DETACHED

    async def _look_after(self, view: View) -> Reason:
        while True:
            await trio.sleep(LOOK_S)
            now = self._views.clock()
            if not self._allowed():
                return Reason.STRICT
            if stopped(self._pid):
                view.pace.excuse(now)
            elif view.pace.stuck(now):
                return Reason.SLOW
            self._views.news.ring()


def stopped(pid: int) -> bool:
    """Whether the process is stopped (Ctrl-Z): it cannot read, and is to find its view again."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[:1] in (["T"], ["t"])
