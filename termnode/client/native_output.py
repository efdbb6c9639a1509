"""What a command at a pane's prompt writes, as it comes."""

from __future__ import annotations

import weakref
from typing import Self

from termnode.client.errors import SessionClosed
from termnode.client.native_exec_calls import Submitted
from termnode.client.native_exec_output import Source, next_told, open_source
from termnode.client.native_exec_replies import OutputPiece
from termnode.client.native_term import Term
from termnode.client.runner import Runner


class Output:
    """The output of one command of this session, while it runs; iterating ends with it::

        running = await pane.submit("make test")
        async for piece in running.output():
            print(piece.text, end="")
        done = await running.result()

    It begins at the begin of the command, as far as the last 64 KiB go. What is written faster than
    it is told or read is left out and counted: the whole of it is on the pane's screen, and both
    ends are in the result. Made by `Execution.output`; for one reader.
    """

    def __init__(self, runner: Runner, term: Term, operation: Submitted) -> None:
        self._runner = runner
        self._source = Source(term, operation)
        self._forget: weakref.finalize[..., Output] | None = None
        self._closed = False
        self._at = 0

    async def next(self, *, timeout: float | None = None) -> OutputPiece | None:
        """The next piece; None once nothing follows.

        Raises WaitTimeout after ``timeout`` seconds, SessionClosed, ServiceUnavailable,
        UnknownOutcome, Unsupported for another user's terminal, Forbidden.
        """
        await self._opened()
        told = await self._runner.run(next_told, self._source, timeout)
        if told is None:
            return None
        lost, self._at = told.offset - self._at, told.offset + told.bytes
        return OutputPiece(told.text, told.offset, lost)

    async def close(self) -> None:
        """Be told no more."""
        self._closed = True
        if self._forget is not None:
            self._forget()

    async def __aenter__(self) -> Self:
        await self._opened()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> OutputPiece:
        piece = None if self._closed else await self.next()
        if piece is None:
            await self.close()
            raise StopAsyncIteration
        return piece

    async def _opened(self) -> None:
        if self._closed:
            raise SessionClosed("this output was closed: ask for it again")
        if self._forget is None:
            # Also when nobody closes it: a loop that was left holds on to nothing.
            forget = weakref.finalize(self, self._runner.soon, self._source.close)
            try:
                await self._runner.run(open_source, self._source)
            except BaseException:  # interrupted, maybe after it was opened
                forget()
                raise
            self._forget = forget
