"""Who may use which of the broker's verbs: machines, other users, and those who lost a record."""

from __future__ import annotations

from typing import Final

from brokerd.core.bus import Bus
from brokerd.core.connections import Connection
from brokerd.errors import forbidden
from brokerd.peers import NodePeer

HELLO: Final = "session.hello"
SESSION: Final = "session."
OBSERVE: Final = "broker.observe."

_ALWAYS: Final = frozenset({"broker.ping", "broker.bye", "broker.info"})
_OF_THE_OWNER: Final = frozenset(
    {"broker.register", "broker.publish", "broker.subscribe", "broker.list"}
)
_ROOT: Final = 0


def require_right(bus: Bus, sender: Connection, command: str) -> None:
    """Raise Refusal unless ``sender`` may use the verb.

    FORBIDDEN: a machine, for all but four verbs; a user who is neither the broker's nor root, for
    serving, publishing, following topics (they carry titles of panes) and listing who is there;
    anybody but the broker's user, for observing. EXPIRED: a connection
    that lost its record, for all but what proves one again, and the harmless.
    """
    if command in _ALWAYS:
        return
    if isinstance(sender.peer, NodePeer):
        if command != HELLO:
            raise forbidden()
        return
    if not command.startswith(SESSION):
        bus.require_not_lost(sender)
    _require_user(bus, sender.peer.uid, command)


def _require_user(bus: Bus, uid: int, command: str) -> None:
    if command in _OF_THE_OWNER and uid not in {bus.uid, _ROOT}:
        raise forbidden()
    if command.startswith(OBSERVE) and uid != bus.uid:
        raise forbidden()
