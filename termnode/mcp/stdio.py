"""One client on the standard streams."""

from __future__ import annotations

import errno
from typing import Any

import anyio
import trio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import Server
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import from_json

from termnode.mcp.app import initialization
from termnode.mcp.limits import GRACE_S, LINE_BYTES
from termnode.mcp.lines import Lines
from termnode.mcp.standard import Streams, read_some, write_all

CLIENT = "stdio"
"""The name of the only client there is."""

_GONE = frozenset({errno.EPIPE, errno.ECONNRESET, errno.EIO, errno.EBADF})


class _Waiting:
    """The requests that were read and not answered yet."""

    def __init__(self) -> None:
        self._ids: set[str | int] = set()
        self._done = trio.Event()

    def asked(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            self._ids.add(message.id)

    def answered(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._ids.discard(message.id)
        if not self._ids:
            self._done.set()

    async def settle(self) -> None:
        """Wait until all are answered, but not for long."""
        if self._ids:
            self._done = trio.Event()
            with trio.move_on_after(GRACE_S):
                await self._done.wait()


async def serve(server: Server[Any], streams: Streams) -> None:
    """Serve until the end of the input, or until nobody reads the output any more."""
    to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    answers, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    waiting, turn = _Waiting(), trio.Lock()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_read, streams.input, _Reading(to_server, waiting, streams, turn))
        nursery.start_soon(_write, streams.output, from_server, waiting, turn, nursery)
        async with answers:
            await server.run(requests, answers, initialization(server))
        nursery.cancel_scope.cancel()


class _Reading:
    """What becomes of each line."""

    def __init__(
        self,
        server: MemoryObjectSendStream[SessionMessage | Exception],
        waiting: _Waiting,
        streams: Streams,
        turn: trio.Lock,
    ) -> None:
        self.server = server
        self.waiting = waiting
        self._output = streams.output
        self._turn = turn

    async def take(self, line: bytes | None) -> None:
        """Hand a message on, or answer at once what is none."""
        try:
            message = _message(line)
        except _NoMessageError as error:
            async with self._turn:
                await write_all(self._output, _encoded(error.answer))
            return
        self.waiting.asked(message)
        await self.server.send(SessionMessage(message))


async def _read(descriptor: int, reading: _Reading) -> None:
    lines = Lines()
    async with reading.server:
        try:
            while data := await read_some(descriptor):
                for line in lines.feed(data):
                    await reading.take(line)
            for line in lines.end():
                await reading.take(line)
        except OSError as error:
            if error.errno not in _GONE:
                raise
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # the server has ended
        await reading.waiting.settle()


async def _write(
    descriptor: int,
    answers: MemoryObjectReceiveStream[SessionMessage],
    waiting: _Waiting,
    turn: trio.Lock,
    nursery: trio.Nursery,
) -> None:
    try:
        async with answers:
            async for each in answers:
                async with turn:
                    await write_all(descriptor, _encoded(each.message))
                waiting.answered(each.message)
    except OSError as error:
        if error.errno not in _GONE:
            raise
        nursery.cancel_scope.cancel()  # nobody hears anything any more


def _encoded(message: JSONRPCMessage) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


class _NoMessageError(Exception):
    """A line that is no message of the protocol; ``answer`` says so."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        error = ErrorData(code=code, message=words)
        self.answer = JSONRPCError(jsonrpc="2.0", id=None, error=error)


def _message(line: bytes | None) -> JSONRPCMessage:
    if line is None:
        raise _NoMessageError(INVALID_REQUEST, f"a message has {LINE_BYTES} bytes at most")
    try:
        value = from_json(line)
    except ValueError:
        raise _NoMessageError(PARSE_ERROR, "each line is one message in JSON") from None
    try:
        return jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValidationError:
        raise _NoMessageError(INVALID_REQUEST, "that is no JSON-RPC 2.0 message") from None
