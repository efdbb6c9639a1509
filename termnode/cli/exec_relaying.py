"""Of who holds a command: passes on what it writes, while it runs, to who follows it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import trio

from termnode.cli.exec_files import line
from termnode.client import TermnodeError

if TYPE_CHECKING:
    from termnode.client import Output, OutputPiece

REST_S: Final = 2.0
"""After the end, for what is still on its way, where the result does not have all of it."""


class Relay:
    """One reader of ``output``, at the other end of ``stream``.

    A reader that is slow makes the output have gaps, and nothing else wait.
    """

    def __init__(self, output: Output, stream: trio.SocketStream) -> None:
        self._output = output
        self._stream = stream
        self._waits = trio.CancelScope()

    def stop(self, after: float = 0.0) -> None:
        """Wait for no more pieces after so many seconds."""
        self._waits.deadline = min(self._waits.deadline, trio.current_time() + after)

    async def run(self) -> bool:
        """Until nothing follows, nobody reads it, or `stop`; whether all was told."""
        try:
            while True:
                piece = await self._next()
                if piece is None:
                    return not self._waits.cancelled_caught
                await self._stream.send_all(line({"text": piece.text, "lost": piece.lost}))
        except (TermnodeError, trio.BrokenResourceError, trio.ClosedResourceError):
            return False  # nobody tells it, or nobody reads it: the result is asked for on its own
        finally:
            with trio.CancelScope(shield=True), suppress(TermnodeError):
                await self._output.close()

    async def _next(self) -> OutputPiece | None:
        """Only the wait for a piece is ever given up: what is sent is sent whole."""
        deadline = self._waits.deadline
        with trio.CancelScope(deadline=deadline) as self._waits:
            return await self._output.next()
        return None
