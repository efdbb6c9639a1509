"""The client of the mesh broker, for Trio programs.

This package is all that other programs need; nothing else of ``brokerd`` is an interface::

    from brokerd.client import connect

    async with connect() as bus:
        reply = await bus.request("term", "term.tabs", {})
        print(reply.body if reply.ok else reply.error)

A service takes its requests one after the other and answers without waiting::

    async with connect() as bus, bus.listen("clock") as requests:
        async for request in requests:
            if request.principal is None:
                request.refuse(forbidden())
            else:
                request.respond(RC_OK, {"asked_by": request.principal.unix_uid})

or lets a task answer each::

    async def handler(request: Request) -> tuple[int, dict[str, object]]:
        return RC_OK, {"echo": request.body().get("text")}

    async with connect() as bus, bus.serve("echo", handler):
        await trio.sleep_forever()

Topics carry their latest value::

    async with bus.subscribe("weather") as events:
        async for event in events:
            show(event.value, old=event.stale)

When the broker ends, whatever waits fails with ``BrokerLost``; names and subscriptions come back
with the next broker, under a new ``broker_epoch``.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from brokerd.bodies import Json, decode_object, encode
from brokerd.client.bus import REQUEST_TIMEOUT, Bus, Statistics
from brokerd.client.errors import (
    BrokerLost,
    BusError,
    ForeignBroker,
    MessageTooLarge,
    NameTaken,
    NotConnected,
    Overloaded,
    Refused,
    RequestTimeout,
)
from brokerd.client.failures import where
from brokerd.client.messages import DirectedEvent, Event, Reply, ReplyError, Request
from brokerd.client.serving import Handler
from brokerd.client.session import Session
from brokerd.client.streams import Attendance, DirectedEvents, Events, Requests
from brokerd.client.waiting import background
from brokerd.client.watch import wait_process_end
from brokerd.errors import (
    MEANINGS,
    RC_OK,
    RC_REFUSED,
    RC_SEVERE,
    RC_WARNING,
    RETURN_CODES,
    ErrorCode,
    Refusal,
    forbidden,
    invalid,
    limit_reached,
)
from brokerd.limits import (
    DEFAULTS,
    MAX_MESSAGE_BYTES,
    MAX_REQUEST_BODY,
    MAX_RESPONSE_BODY,
    Limits,
)
from brokerd.locks import Lock, LockHeld, lock_holder, open_holder
from brokerd.principal import Principal
from brokerd.rundir import RuntimeDirError, RuntimeDirMissing, broker_pid, open_broker, socket_path
from brokerd.rundir import locate as locate_runtime_dir
from brokerd.rundir import remove_leftovers as remove_broker_leftovers
from brokerd.rundir import resolve as resolve_runtime_dir

__all__ = [
    "DEFAULTS",
    "MAX_MESSAGE_BYTES",
    "MAX_REQUEST_BODY",
    "MAX_RESPONSE_BODY",
    "MEANINGS",
    "RC_OK",
    "RC_REFUSED",
    "RC_SEVERE",
    "RC_WARNING",
    "REQUEST_TIMEOUT",
    "RETURN_CODES",
    "Attendance",
    "BrokerLost",
    "Bus",
    "BusError",
    "DirectedEvent",
    "DirectedEvents",
    "ErrorCode",
    "Event",
    "Events",
    "ForeignBroker",
    "Handler",
    "Json",
    "Limits",
    "Lock",
    "LockHeld",
    "MessageTooLarge",
    "NameTaken",
    "NotConnected",
    "Overloaded",
    "Principal",
    "Refusal",
    "Refused",
    "Reply",
    "ReplyError",
    "Request",
    "RequestTimeout",
    "Requests",
    "RuntimeDirError",
    "RuntimeDirMissing",
    "Statistics",
    "background",
    "broker_pid",
    "connect",
    "decode_object",
    "encode",
    "forbidden",
    "invalid",
    "limit_reached",
    "locate_runtime_dir",
    "lock_holder",
    "open_broker",
    "open_holder",
    "remove_broker_leftovers",
    "resolve_runtime_dir",
    "socket_path",
    "wait_process_end",
    "where",
]


@asynccontextmanager
async def connect(
    runtime_dir: str | os.PathLike[str] | None = None,
    *,
    limits: Limits = DEFAULTS,
    timeout: float = 5.0,
    wait: bool = False,
) -> AsyncIterator[Bus]:
    """A connection to the broker of ``runtime_dir`` (None: the user's own, see specs/bus.md).

    Raises NotConnected when there is no broker: at once when nobody listens, or, with ``wait``,
    after ``timeout`` seconds. Raises ForeignBroker when it is another user's, RuntimeDirError when
    the directory cannot be trusted. Once connected, it reconnects for as long as the block runs.
    Exceptions of the block come out as they are.
    """
    from brokerd.client.link import linked  # late: pyzmq, which an in-memory bus does not need

    try:
        path = socket_path(resolve_runtime_dir(runtime_dir, make=wait))
    except RuntimeDirMissing:
        raise NotConnected from None
    session = Session(limits)
    async with (
        linked(path, session, limits, timeout=timeout, wait=wait) as link,
        background(link.run),
    ):
        yield Bus(session)
