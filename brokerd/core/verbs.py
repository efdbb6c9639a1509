"""The broker's own verbs, as one table: what each may be told, and what it does."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

from brokerd import __version__, bodies
from brokerd.bodies import Json
from brokerd.core.bus import Bus
from brokerd.core.connections import Connection
from brokerd.core.departure import abandon, say_bye
from brokerd.core.observe_verbs import OBSERVE_VERBS
from brokerd.core.rights import SESSION, require_right
from brokerd.core.sessions import commands
from brokerd.core.topic_verbs import TOPIC_VERBS
from brokerd.core.verb import Args, Result, Verb
from brokerd.errors import ErrorCode, Refusal, invalid, limit_reached
from brokerd.wire import CONNECTION_ID, Header

MAX_CONNECTION_IDS: Final = 128
"""In one broker.connected."""


def perform(bus: Bus, sender: Connection, header: Header, frames: Sequence[bytes]) -> bytes:
    """Run a verb and return the body of its result. Raises Refusal."""
    assert header.command is not None
    require_right(bus, sender, header.command)
    if header.command.startswith(SESSION):
        return commands.perform(bus, sender, header, frames)
    verb = VERBS.get(header.command)
    if verb is None:
        known = ", ".join((*VERBS, *commands.COMMANDS))
        raise Refusal(ErrorCode.UNSUPPORTED, f"the broker's verbs are {known}")
    return _run(verb, bus, sender, frames[1])


def _run(verb: Verb, bus: Bus, sender: Connection, body: bytes) -> bytes:
    if len(body) > verb.max_body:
        raise limit_reached("body", verb.max_body, f"the body is over {verb.max_body} bytes")
    args = bodies.decode_object(body, empty_ok=not (verb.all_of or verb.one_of))
    verb.check(args)
    result = verb.run(bus, sender, args)
    return result if isinstance(result, bytes) else bodies.encode(result)


def _register(bus: Bus, sender: Connection, args: Args) -> Result:
    name = str(args["name"])
    bus.names.register(name, sender)
    return {"name": name}


def _deregister(bus: Bus, sender: Connection, args: Args) -> Result:
    name = str(args["name"])
    bus.names.deregister(name, sender)
    abandon(bus, bus.pending.asked_of(sender, name), "deregistered")
    return {"name": name}


def _list(bus: Bus, _sender: Connection, _args: Args) -> Result:
    return {
        "names": [
            {"name": name, "connection_id": at.id, "uid": at.peer.uid, "pid": at.peer.pid}
            for name, at in bus.names
        ]
    }


def _info(bus: Bus, _sender: Connection, _args: Args) -> Result:
    return {
        "version": __version__,
        "broker_epoch": bus.epoch,
        "node": bus.node,
        "pid": bus.pid,
        "uid": bus.uid,
        "uptime_ms": bus.now_ms - bus.started_ms,
        "ephemeral": bus.ephemeral,
        "connections": len(bus.connections),
        "counters": bus.counters,
        "limits": dataclasses.asdict(bus.limits),
    }


def _connected(bus: Bus, _sender: Connection, args: Args) -> Result:
    """Which of these may still send something: those that have been silent since they came too."""
    ids = _connection_ids(args["connection_ids"])
    return {"connected": [each for each in ids if bus.connections.knows(each)]}


def _connection_ids(value: Json) -> list[str]:
    if not isinstance(value, list) or not 0 < len(value) <= MAX_CONNECTION_IDS:
        raise invalid("connection_ids", f"connection_ids must be 1 to {MAX_CONNECTION_IDS} ids")
    ids = [each for each in value if isinstance(each, str) and CONNECTION_ID.fullmatch(each)]
    if len(ids) != len(value):
        raise invalid("connection_ids", "each id must be 32 lowercase hexadecimal digits")
    return ids


def _ping(_bus: Bus, _sender: Connection, _args: Args) -> Result:
    return {"pong": True}


def _bye(bus: Bus, sender: Connection, _args: Args) -> Result:
    say_bye(bus, sender)
    return {}


VERBS: Final[Mapping[str, Verb]] = {
    "broker.register": Verb(_register, all_of=("name",)),
    "broker.deregister": Verb(_deregister, all_of=("name",)),
    "broker.list": Verb(_list),
    "broker.info": Verb(_info),
    "broker.connected": Verb(_connected, all_of=("connection_ids",)),
    "broker.ping": Verb(_ping),
    "broker.bye": Verb(_bye),
    **TOPIC_VERBS,
    **OBSERVE_VERBS,
}
