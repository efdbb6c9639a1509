"""Many clients by streamable HTTP on a loopback address, on Trio."""

from __future__ import annotations

import logging
import socket
from dataclasses import dataclass
from typing import Any

import trio
from hypercorn.config import Config
from hypercorn.trio import serve as serve_asgi
from mcp.server import Server, ServerRequestContext
from mcp.server.transport_security import TransportSecuritySettings

from brokerd.client import ErrorCode
from termnode.mcp.address import Address
from termnode.mcp.doorkeeper import PATH, Doorkeeper
from termnode.mcp.guarded import Guarded
from termnode.mcp.house import Household
from termnode.mcp.limits import BODY_BYTES, GRACE_S, SESSIONS, SILENT_S
from termnode.mcp.outcome import ToolError
from termnode.mcp.presence import Presence

_SWEEP_S = 15.0
"""Between two looks for clients that are silent."""


def client_of(context: ServerRequestContext[Any, Any]) -> str:
    """The session of a request. Raises ToolError for one that has none."""
    request = context.request
    found = None if request is None else request.headers.get("mcp-session-id")
    if not found:
        raise ToolError(ErrorCode.INVALID_ARGUMENT, "there is no session: begin with initialize")
    return str(found)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the server listens, and what its clients must know."""

    listening: socket.socket
    address: Address
    token: str


async def serve(server: Server[Any], household: Household, place: Place, stop: trio.Event) -> None:
    """Serve until ``stop``."""
    presence = Presence()

    async def over(session: str) -> None:
        presence.forget(session)
        await household.client_gone(session)

    app = Guarded(
        _app(server, place.address), Doorkeeper(place.address, place.token), presence, over
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_sweep, presence, over)
        await serve_asgi(app, _config(place.listening), shutdown_trigger=stop.wait, mode="asgi")  # type: ignore[arg-type]  # its protocol names the argument otherwise
        nursery.cancel_scope.cancel()


def _app(server: Server[Any], address: Address) -> Any:  # noqa: ANN401  # an ASGI application
    return server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=BODY_BYTES,
        session_idle_timeout=SILENT_S,
        max_sessions=SESSIONS,
        # Judged before by our own doorkeeper; this is the SDK's, with the same answer.
        transport_security=TransportSecuritySettings(
            allowed_hosts=[address.authority], allowed_origins=[address.origin]
        ),
    )


def _config(listening: socket.socket) -> Config:
    config = Config()
    # The server closes what it is given.
    config.bind = [f"fd://{listening.dup().detach()}"]
    config.accesslog = None
    config.errorlog = logging.getLogger("hypercorn.error")
    config.include_server_header = False
    config.graceful_timeout = GRACE_S
    config.shutdown_timeout = GRACE_S
    config.websocket_max_message_size = 1
    return config


async def _sweep(presence: Presence, over: Any) -> None:  # noqa: ANN401  # told of each
    while True:
        await trio.sleep(_SWEEP_S)
        for session in presence.silent(trio.current_time()):
            await over(session)
