"""Answers about one operation while it runs, and keeps its result at the end."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

import trio

from termnode.cli.exec_files import OperationFiles, line
from termnode.cli.exec_relaying import REST_S, Relay
from termnode.cli.exits import TRANSPORT, CommandError
from termnode.cli.native import said
from termnode.client import Execution, Task, TermnodeError

QUESTIONS: Final = 16
"""That are answered at a time; others wait."""

MAX_QUESTION: Final = 1_024
"""Bytes."""

LONGEST_S: Final = 60.0
"""For which one question waits for the end."""

ASKED_WITHIN_S: Final = 5.0
"""After connecting."""

GOODBYE_S: Final = REST_S + 1.0
"""At the end, for answers that are on their way."""


async def hold(
    files: OperationFiles, running: Execution | Task, pane: int, listener: socket.socket
) -> None:
    """Until it has ended and its result is kept."""
    listener.setblocking(False)
    desk = _Desk(running)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(desk.serve, trio.socket.from_stdlib_socket(listener))
            told = {"operation_id": str(running.id), "pane": pane, **await _outcome(running)}
            files.finish(running.id, told)
            desk.end(told)
            with trio.move_on_after(GOODBYE_S):
                await desk.quiet()
            nursery.cancel_scope.cancel()
    finally:
        files.unlisten(running.id)


async def _outcome(running: Execution | Task) -> dict[str, Any]:
    try:
        if isinstance(running, Execution):
            done = _known(asdict(await running.result(timeout=None)))
            return {"state": "finished", "result": done}
        return {"state": "settled", "report": _known(asdict(await running.report()))}
    except TermnodeError as error:
        return {"state": "lost", "error": problem(error)}


def _known(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Without fields that are not there; a task's own result is as it is."""
    return {
        name: _known(value) if isinstance(value, dict) and name != "result" else value
        for name, value in fields.items()
        if value is not None
    }


def problem(error: BaseException) -> dict[str, Any]:
    """What a person is told of an error, and the code that says it to a program."""
    if isinstance(error, TermnodeError):
        error = said(error)
    if not isinstance(error, CommandError):
        error = CommandError(f"it could not be asked for: {error}", TRANSPORT)
    details = json.loads(json.dumps(dict(error.details), default=str))
    return {"message": str(error), "error_code": error.error_code, "details": details}


class _Desk:
    """Questions about the operation, each on a connection of its own."""

    def __init__(self, running: Execution | Task) -> None:
        self._running = running
        self._told: dict[str, Any] | None = None
        self._ended = trio.Event()
        self._places = trio.CapacityLimiter(QUESTIONS)

    def end(self, told: dict[str, Any]) -> None:
        """This is what came of it."""
        self._told = told
        self._ended.set()

    async def quiet(self) -> None:
        """Until nobody waits for an answer."""
        for _ in range(QUESTIONS):
            await self._places.acquire_on_behalf_of(object())

    async def serve(self, listener: trio.socket.SocketType) -> None:
        """Answer, until cancelled."""
        async with trio.open_nursery() as nursery:
            while True:
                caller, _ = await listener.accept()
                stream = trio.SocketStream(caller)
                await self._places.acquire_on_behalf_of(stream)
                nursery.start_soon(self._serve_one, stream)

    async def _serve_one(self, stream: trio.SocketStream) -> None:
        try:
            async with stream:
                with trio.fail_after(ASKED_WITHIN_S):
                    question = await _read(stream)
                follows = question.get("do") == "follow" and isinstance(self._running, Execution)
                answer = self._follow(stream) if follows else self._answer(question)
                await stream.send_all(line(await answer))
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError, ValueError):
            return  # gone, or no question
        finally:
            self._places.release_on_behalf_of(stream)

    async def _answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        if question.get("do") == "cancel":
            return await self._cancel()
        wait = question.get("wait_s")
        with trio.move_on_after(min(LONGEST_S, wait) if isinstance(wait, int | float) else 0):
            await self._ended.wait()
        return self._told or {"operation_id": str(self._running.id), "state": "running"}

    async def _follow(self, stream: trio.SocketStream) -> dict[str, Any]:
        """What it writes, as it comes, and then the result, with what was told of it."""
        assert isinstance(self._running, Execution)
        relay = Relay(self._running.output(), stream)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._until_told, relay)
            complete = await relay.run()
            await self._ended.wait()
            nursery.cancel_scope.cancel()
        return {**(self._told or {}), "complete": complete}

    async def _until_told(self, relay: Relay) -> None:
        """A result that has all of the output needs no more of it."""
        await self._ended.wait()
        output = (self._told or {}).get("result", {}).get("output", {})
        relay.stop(REST_S if output.get("omitted") else 0.0)

    async def _cancel(self) -> dict[str, Any]:
        try:
            return asdict(await self._running.cancel())
        except TermnodeError as error:
            return {"error": problem(error)}


async def _read(stream: trio.SocketStream) -> dict[str, Any]:
    """Raises ValueError for what is no question."""
    raw = b""
    while not raw.endswith(b"\n"):
        more = await stream.receive_some(MAX_QUESTION)
        raw += more
        if not more or len(raw) > MAX_QUESTION:
            raise ValueError("no question")
    found: object = json.loads(raw)
    if not isinstance(found, dict):
        raise ValueError("no question")
    return found
