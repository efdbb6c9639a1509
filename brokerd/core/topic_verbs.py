"""The verbs of topics and subscriptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from brokerd import bodies
from brokerd.core.bus import NO_STAMP, Bus
from brokerd.core.connections import Connection
from brokerd.core.verb import Args, Result, Verb
from brokerd.errors import limit_reached
from brokerd.limits import MAX_MESSAGE_BYTES
from brokerd.wire import BROKER, EVENT, TOPIC_COMMAND, VERSION, encode_header

MAX_TOPIC_VALUE: Final = MAX_MESSAGE_BYTES - 256
"""So that the answer to broker.subscribe, the value and what stands around it, is one message."""


def _publish(bus: Bus, sender: Connection, args: Args) -> Result:
    name, value = str(args["topic"]), bodies.encode(args["value"])
    if len(value) > MAX_TOPIC_VALUE:
        raise limit_reached("value", MAX_TOPIC_VALUE, f"value is over {MAX_TOPIC_VALUE} bytes")
    topic = bus.topics.publish(name, value, sender)
    topic.protected = topic.protected or sender.route is not None
    seq = topic.seq
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


TOPIC_VERBS: Final[Mapping[str, Verb]] = {
    "broker.publish": Verb(_publish, all_of=("topic", "value"), max_body=MAX_MESSAGE_BYTES),
    "broker.subscribe": Verb(_subscribe, one_of=("topic", "service")),
    "broker.unsubscribe": Verb(_unsubscribe, one_of=("topic", "service")),
}
