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

A verified session is held by a keeper, and acted by only while its authority lives::

    keeper = SessionKeeper(bus, key, attach_term(key))
    await nursery.start(keeper.run)
    authority = await keeper.wait_authority()
    if authority.live:
        act_as(authority.ref)

When the broker ends, whatever waits fails with ``BrokerLost``; names and subscriptions come back
with the next broker, under a new ``broker_epoch``.
"""

from __future__ import annotations

from brokerd.bodies import Json, decode_object, encode
from brokerd.client.bus import REQUEST_TIMEOUT, Bus, Statistics
from brokerd.client.connecting import connect, connect_node, preload
from brokerd.client.errors import (
    BrokerLost,
    BusError,
    ChallengeMismatch,
    ForeignBroker,
    MalformedReply,
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
from brokerd.client.sessions.api import Sessions
from brokerd.client.sessions.attaching import Attach, attach_child, attach_term
from brokerd.client.sessions.authority import Authority, boottime_ms
from brokerd.client.sessions.keeper import SessionKeeper
from brokerd.client.sessions.lifecycle import LifecycleGap, LifecycleNotice, LifecycleNotices
from brokerd.client.sessions.types import (
    ATTACHED,
    PENDING,
    REVOKED,
    SUSPENDED,
    Challenge,
    GrantView,
    Hello,
    RecordView,
    Ref,
)
from brokerd.client.streams import Attendance, DirectedEvents, Events, Requests
from brokerd.client.waiting import background
from brokerd.client.watch import wait_process_end
from brokerd.encodings import (
    CAPABILITIES,
    DEFAULT_OPEN,
    PANE_SHELL,
    POLICIES,
    RESTRICTED,
    TERM,
    key_hash,
    parse_u64,
)
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
from brokerd.keys import SessionKey
from brokerd.limits import (
    DEFAULTS,
    MAX_MESSAGE_BYTES,
    MAX_REQUEST_BODY,
    MAX_RESPONSE_BODY,
    Limits,
)
from brokerd.locks import Lock, LockHeld, lock_holder, open_holder
from brokerd.principal import NodePrincipal, Principal, SessionBinding
from brokerd.rundir import RuntimeDirError, RuntimeDirMissing, broker_pid, open_broker, socket_path
from brokerd.rundir import locate as locate_runtime_dir
from brokerd.rundir import remove_leftovers as remove_broker_leftovers
from brokerd.rundir import resolve as resolve_runtime_dir

__all__ = [
    "ATTACHED",
    "CAPABILITIES",
    "DEFAULTS",
    "DEFAULT_OPEN",
    "MAX_MESSAGE_BYTES",
    "MAX_REQUEST_BODY",
    "MAX_RESPONSE_BODY",
    "MEANINGS",
    "PANE_SHELL",
    "PENDING",
    "POLICIES",
    "RC_OK",
    "RC_REFUSED",
    "RC_SEVERE",
    "RC_WARNING",
    "REQUEST_TIMEOUT",
    "RESTRICTED",
    "RETURN_CODES",
    "REVOKED",
    "SUSPENDED",
    "TERM",
    "Attach",
    "Attendance",
    "Authority",
    "BrokerLost",
    "Bus",
    "BusError",
    "Challenge",
    "ChallengeMismatch",
    "DirectedEvent",
    "DirectedEvents",
    "ErrorCode",
    "Event",
    "Events",
    "ForeignBroker",
    "GrantView",
    "Handler",
    "Hello",
    "Json",
    "LifecycleGap",
    "LifecycleNotice",
    "LifecycleNotices",
    "Limits",
    "Lock",
    "LockHeld",
    "MalformedReply",
    "MessageTooLarge",
    "NameTaken",
    "NodePrincipal",
    "NotConnected",
    "Overloaded",
    "Principal",
    "RecordView",
    "Ref",
    "Refusal",
    "Refused",
    "Reply",
    "ReplyError",
    "Request",
    "RequestTimeout",
    "Requests",
    "RuntimeDirError",
    "RuntimeDirMissing",
    "SessionBinding",
    "SessionKeeper",
    "SessionKey",
    "Sessions",
    "Statistics",
    "attach_child",
    "attach_term",
    "background",
    "boottime_ms",
    "broker_pid",
    "connect",
    "connect_node",
    "decode_object",
    "encode",
    "forbidden",
    "invalid",
    "key_hash",
    "limit_reached",
    "locate_runtime_dir",
    "lock_holder",
    "open_broker",
    "open_holder",
    "parse_u64",
    "preload",
    "remove_broker_leftovers",
    "resolve_runtime_dir",
    "socket_path",
    "wait_process_end",
    "where",
]
