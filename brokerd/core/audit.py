"""The audit: every charge and index recomputed from what is really held, and compared.

Tests run it after each step. It raises AssertionError (not ``assert``, so that it also works under
-O) with the name of the rule that is broken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from brokerd.core.bus import Bus
from brokerd.core.rules import meter_rule, rule
from brokerd.peers import NodePeer


def verify(bus: Bus) -> None:
    """Raise AssertionError when any invariant of the broker's state is broken."""
    _connections(bus)
    _names(bus)
    _subscriptions(bus)
    _topics(bus)
    _pending(bus)
    _queues(bus)
    _routes(bus)
    _observers(bus)
    bus.sessions.verify()
    bus.retained.verify()


def _connections(bus: Bus) -> None:
    nodes = [each.owner for each in bus.connections if isinstance(each.peer, NodePeer)]
    users = [each.owner for each in bus.connections if not isinstance(each.peer, NodePeer)]
    meter_rule(bus.connections.per_node, nodes)
    meter_rule(bus.connections.per_uid, users)
    for connection_id in bus.farewells:
        connection = bus.connections.get(connection_id)
        rule(connection is not None and connection.leaving, "a farewell of nobody")
    for connection in bus.connections:
        holds = connection.names or connection.topics or connection.services
        rule(
            not (connection.leaving and (holds or connection.owned_topics)),
            "a leaving connection holds something",
        )
        rule(connection.leaving == (connection.id in bus.farewells), "leaving without farewell")


def _names(bus: Bus) -> None:
    held = [(name, each) for each in bus.connections for name in each.names]
    rule(sorted(bus.names, key=_first) == sorted(held, key=_first), "names differ from holders")
    registered = [each for name, each in held if name != each.route]
    meter_rule(bus.names.per_connection, registered)
    meter_rule(bus.names.per_uid, (each.owner for each in registered))


def _first(item: tuple[str, object]) -> str:
    return item[0]


def _subscriptions(bus: Bus) -> None:
    held = [each for each in bus.connections for _ in (*each.topics, *each.services)]
    meter_rule(bus.subscriptions.per_connection, held)
    for each in bus.connections:
        for topic in each.topics:
            rule(each in bus.subscriptions.subscribers(topic), "a subscription without effect")


def _topics(bus: Bus) -> None:
    topics = list(bus.topics.all())
    meter_rule(bus.topics.per_uid, (topic.user for topic in topics))
    # One owner entry per byte would be slow; the sum is compared instead.
    charged = sum(bus.topics.bytes_per_uid.counts().values())
    rule(charged == sum(len(topic.value) for topic in topics), "topic bytes differ")
    owned = {name: each for each in bus.connections for name in each.owned_topics}
    for topic in topics:
        rule(owned.get(topic.name) is topic.owner, "a topic's owner differs")


def _pending(bus: Bus) -> None:
    slots = list(bus.pending.all())
    meter_rule(bus.pending.per_connection, (slot.requester for slot in slots))
    meter_rule(bus.pending.per_recipient, (slot.recipient for slot in slots))
    live = set(bus.connections)
    for slot in slots:
        rule(slot.requester in live and slot.recipient in live, "a slot outlives its connection")
        rule(bus.names.holder(slot.name) is slot.recipient, "a slot outlives its name")


def _queues(bus: Bus) -> None:
    for each in bus.connections:
        sizes = each.outbox.sizes()
        rule(each.outbox.bytes == sum(sizes), "queue bytes differ")
        rule(bool(sizes) == (each.id in bus.ready), "readiness differs from the queue")
        # One message may have been put back on top of a queue that filled meanwhile.
        rule(len(sizes) <= bus.limits.queue_messages + 1, "a queue is over its cap")
    rule(all(bus.connections.get(each) for each in bus.ready), "somebody unknown is ready")
    charged: Counter[Hashable] = Counter()
    for each in bus.connections:
        if each.peer.uid != bus.uid and each.outbox.bytes:
            charged[each.owner] += each.outbox.bytes
    rule(dict(bus.guest_bytes.counts()) == charged, "bytes of guests differ")
    of_all = bus.all_guest_bytes.counts().get(None, 0)
    rule(of_all == charged.total(), "bytes of all guests differ")


def _routes(bus: Bus) -> None:
    """A connection has an allocated name exactly while it holds a record, and then no other."""
    for each in bus.connections:
        record = bus.sessions.binding(each.id)
        rule(each.route == (record.name if record else None), "a route without its record")
        lost = bus.sessions.lost_binding(each.id)
        rule(each.leaving or each.lost == lost, "a loss that is not known")
        rule(each.route is None or list(each.names) == [each.route], "a name beside a route")


def _observers(bus: Bus) -> None:
    held = list(bus.observers.holders())
    meter_rule(bus.observers.per_connection, held)
    meter_rule(bus.observers.all, (None for _ in held))
    rule(all(bus.connections.get(each.id) is each for each in held), "an observer of nobody")
