"""The broker's own verbs, as one table: what each may be told, and what it does."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from brokerd import __version__, bodies
from brokerd.bodies import Json
from brokerd.core.bus import NO_STAMP, Bus
from brokerd.core.connections import Connection
from brokerd.core.departure import abandon, say_bye
from brokerd.errors import ErrorCode, Refusal, invalid, limit_reached
from brokerd.limits import MAX_MESSAGE_BYTES, MAX_REQUEST_BODY
from brokerd.wire import (
    BROKER,
    EVENT,
    SERVICE_NAME,
    TOPIC_COMMAND,
    TOPIC_NAME,
    VERSION,
    encode_header,
)

Args: TypeAlias = "dict[str, Json]"
Result: TypeAlias = "dict[str, object] | bytes"
Run: TypeAlias = "Callable[[Bus, Connection, Args], Result]"

MAX_TOPIC_VALUE: Final = MAX_MESSAGE_BYTES - 256
"""So that the answer to broker.subscribe, the value and what stands around it, is one message."""


@dataclass(frozen=True, slots=True)
class Verb:
    """``all_of`` must be given; of ``one_of``, exactly one; nothing else may be."""

    run: Run
    all_of: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    max_body: int = MAX_REQUEST_BODY


def perform(bus: Bus, sender: Connection, command: str, body: bytes) -> bytes:
    """Run a verb and return the body of its result. Raises Refusal."""
    verb = VERBS.get(command)
    if verb is None:
        raise Refusal(ErrorCode.UNSUPPORTED, f"the broker's verbs are {', '.join(VERBS)}")
    if len(body) > verb.max_body:
        raise limit_reached("body", verb.max_body, f"the body is over {verb.max_body} bytes")
    args = bodies.decode_object(body, empty_ok=not (verb.all_of or verb.one_of))
    _check(verb, args)
    result = verb.run(bus, sender, args)
    return result if isinstance(result, bytes) else bodies.encode(result)


def _check(verb: Verb, args: Args) -> None:
    if unknown := args.keys() - set(verb.all_of) - set(verb.one_of):
        raise invalid("body", f"the body has {len(unknown)} field(s) that this verb does not know")
    for field in verb.all_of:
        if field not in args:
            raise invalid(field, f"{field} is missing")
    if verb.one_of and len(args) != 1:
        raise invalid("body", f"give exactly one of {', '.join(verb.one_of)}")
    for field, value in args.items():
        if field in _PATTERNS:
            _match(field, value)


def _match(field: str, value: Json) -> None:
    pattern = _PATTERNS[field]
    if not isinstance(value, str) or not pattern.fullmatch(value) or value == BROKER:
        raise invalid(field, f"{field} must match {pattern.pattern} and not be {BROKER}")


_PATTERNS: Final[Mapping[str, re.Pattern[str]]] = {
    "name": SERVICE_NAME,
    "service": SERVICE_NAME,
    "topic": TOPIC_NAME,
}


def _hello(bus: Bus, sender: Connection, _args: Args) -> Result:
    return {
        "broker_epoch": bus.epoch,
        "connection_id": sender.id,
        "node": bus.node,
        "uid": sender.peer.uid,
    }


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


def _ping(_bus: Bus, _sender: Connection, _args: Args) -> Result:
    return {"pong": True}


def _publish(bus: Bus, sender: Connection, args: Args) -> Result:
    name, value = str(args["topic"]), bodies.encode(args["value"])
    if len(value) > MAX_TOPIC_VALUE:
        raise limit_reached("value", MAX_TOPIC_VALUE, f"value is over {MAX_TOPIC_VALUE} bytes")
    seq = bus.topics.publish(name, value, sender).seq
    header = _topic_header(name, seq)
    sent = [
        bus.deliver(subscriber, header, value, NO_STAMP, name)
        for subscriber in bus.subscriptions.subscribers(name)
    ]
    return {
        "topic": name,
        "seq": seq,
        "delivered": sent.count(True),
        "dropped": sent.count(False),
    }


def _topic_header(name: str, seq: int) -> bytes:
    return encode_header(
        {
            "v": VERSION,
            "type": EVENT,
            "command": TOPIC_COMMAND,
            "from": BROKER,
            "topic": name,
            "seq": seq,
        }
    )


def _subscribe(bus: Bus, sender: Connection, args: Args) -> Result:
    if "service" in args:
        name = str(args["service"])
        bus.subscriptions.to_service(name, sender)
        return {"service": name}
    name = str(args["topic"])
    bus.subscriptions.to_topic(name, sender)
    topic = bus.topics.get(name)
    if topic is None:
        return {"topic": name, "seq": 0, "value": None, "stale": False}
    stale = b"true" if topic.owner is None else b"false"
    # The value is spliced in as it is kept: it is JSON already, and may be large.
    return b'{"topic":"%b","seq":%d,"value":%b,"stale":%b}' % (
        name.encode(),
        topic.seq,
        topic.value,
        stale,
    )


def _unsubscribe(bus: Bus, sender: Connection, args: Args) -> Result:
    ((field, value),) = args.items()
    end = bus.subscriptions.from_topic if field == "topic" else bus.subscriptions.from_service
    end(str(value), sender)
    return {field: value}


def _bye(bus: Bus, sender: Connection, _args: Args) -> Result:
    say_bye(bus, sender)
    return {}


VERBS: Final[Mapping[str, Verb]] = {
    "session.hello": Verb(_hello),
    "broker.register": Verb(_register, all_of=("name",)),
    "broker.deregister": Verb(_deregister, all_of=("name",)),
    "broker.list": Verb(_list),
    "broker.info": Verb(_info),
    "broker.ping": Verb(_ping),
    "broker.publish": Verb(_publish, all_of=("topic", "value"), max_body=MAX_MESSAGE_BYTES),
    "broker.subscribe": Verb(_subscribe, one_of=("topic", "service")),
    "broker.unsubscribe": Verb(_unsubscribe, one_of=("topic", "service")),
    "broker.bye": Verb(_bye),
}
