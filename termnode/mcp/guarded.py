"""The HTTP server's outermost layer: turns away who may not come in, and notes who is there."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Final

import trio
from mcp_types import UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from termnode.mcp.doorkeeper import Answer, Doorkeeper, asks_without_session, session_of
from termnode.mcp.presence import Presence

_SHORT_BYTES: Final = 65_536
"""Of a body that is read only to name the request in its refusal."""

_ENDED: Final = frozenset({200, 202, 204, 404})
"""Statuses with which a DELETE tells that the session is over."""


class Guarded:
    """An ASGI application around ``inner``; ``over`` is told of sessions that have ended."""

    def __init__(
        self,
        inner: ASGIApp,
        door: Doorkeeper,
        presence: Presence,
        over: Callable[[str], Awaitable[None]],
    ) -> None:
        self._inner = inner
        self._door = door
        self._presence = presence
        self._over = over

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection's request."""
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        elif answer := self._door.turn_away(scope["path"], scope["headers"]):
            await _turn_away(answer, send)
        elif version := asks_without_session(scope["headers"]):
            await _other_version(version, receive, send)
        else:
            await self._let_in(scope, receive, send)

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        session = session_of(scope["headers"])
        if session is None:
            await self._inner(scope, receive, send)
            return
        self._presence.began(session, trio.current_time())
        status = 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._inner(scope, receive, noted)
        finally:
            self._presence.ended(session, trio.current_time())
        if (scope["method"] == "DELETE" and status in _ENDED) or status == 404:
            await self._over(session)


async def _turn_away(answer: Answer, send: Send) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    if answer.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await _respond(answer.status, headers, f"{answer.words}\n".encode(), send)


async def _other_version(version: bytes, receive: Receive, send: Send) -> None:
    """Say which versions are spoken here: clients then begin with a handshake."""
    body = await _some_of(receive)
    data = {"supported": list(HANDSHAKE_PROTOCOL_VERSIONS), "requested": version.decode("latin-1")}
    error = {
        "code": UNSUPPORTED_PROTOCOL_VERSION,
        "message": "terminals belong to a session here: begin with initialize",
        "data": data,
    }
    said = {"jsonrpc": "2.0", "id": _id_in(body), "error": error}
    await _respond(400, [(b"content-type", b"application/json")], json.dumps(said).encode(), send)


async def _some_of(receive: Receive) -> bytes:
    """The body if it is short; only the request's id is looked for in it."""
    body, more = b"", True
    while more and len(body) <= _SHORT_BYTES:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return b"" if more else body


def _id_in(body: bytes) -> str | int | None:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    value = found.get("id") if isinstance(found, dict) else None
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


async def _respond(
    status: int, headers: list[tuple[bytes, bytes]], body: bytes, send: Send
) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
