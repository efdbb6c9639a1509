"""What observers see of messages as they are routed: called while somebody observes something."""

from __future__ import annotations

from brokerd.core.bus import Bus
from brokerd.core.connections import Connection
from brokerd.core.observe import DELIVERED, DROPPED, FROM_SERVICE, REFUSED, TO_SERVICE, Sight
from brokerd.core.pending import Slot
from brokerd.core.rights import SESSION
from brokerd.wire import BROKER, EVENT, REQUEST, RESPONSE, Header


def protected(sender: Connection, recipient: Connection | None, command: str) -> bool:
    """Whether a request is of a record, to one, or about them."""
    return (
        sender.route is not None
        or (recipient is not None and recipient.route is not None)
        or command.startswith(SESSION)
    )


def see_request(bus: Bus, slot: Slot, size: int) -> None:
    """A request was queued to the service."""
    sight = Sight(
        direction=TO_SERVICE,
        outcome=DELIVERED,
        from_=slot.requester.id,
        to=slot.name,
        command=slot.command,
        type=REQUEST,
        id=slot.id,
        size=size,
        protected=slot.protected,
    )
    bus.observers.see((slot.name,), sight, bus.now_ms)


def see_refused(bus: Bus, sender: Connection, header: Header, rc: int, size: int) -> None:
    """A request was refused by the broker and never got to the service."""
    assert header.to is not None
    assert header.command is not None
    name = header.to.partition(".")[0]
    sight = Sight(
        direction=TO_SERVICE,
        outcome=REFUSED,
        from_=sender.id,
        to=name,
        command=header.command,
        type=REQUEST,
        id=header.id,
        size=size,
        rc=rc,
        protected=sender.lost or protected(sender, bus.names.holder(name), header.command),
    )
    bus.observers.see((name,), sight, bus.now_ms)


def see_response(
    bus: Bus, slot: Slot, rc: int, size: int, *, queued: bool, by_broker: bool = False
) -> None:
    """A request that got to the service was answered, by it or in its place."""
    sight = Sight(
        direction=FROM_SERVICE,
        outcome=DELIVERED if queued else DROPPED,
        from_=BROKER if by_broker else slot.recipient.id,
        to=slot.requester.id,
        command=slot.command,
        type=RESPONSE,
        id=slot.id,
        size=size,
        rc=rc,
        protected=slot.protected or slot.requester.route is not None,
    )
    bus.observers.see((slot.name,), sight, bus.now_ms)


def see_event(
    bus: Bus, sender: Connection, recipient: Connection, command: str, size: int, *, queued: bool
) -> None:
    """A directed event of a connection, which may serve several names."""
    sight = Sight(
        direction=FROM_SERVICE,
        outcome=DELIVERED if queued else DROPPED,
        from_=sender.id,
        to=recipient.id,
        command=command,
        type=EVENT,
        size=size,
        protected=sender.route is not None or recipient.route is not None,
    )
    bus.observers.see(tuple(sender.names), sight, bus.now_ms)
