"""Every limit of the broker and its clients, in one table.

Values are the defaults of the design (facts part 1); a ``Limits`` is handed in everywhere, so that
tests raise or lower a limit by configuration and never by patching.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

MAX_HEADER_BYTES: Final = 4_096
MAX_ID_LENGTH: Final = 128
MAX_MESSAGE_BYTES: Final = 1_048_576
"""Header and body together; also the most a topic value may take."""

MAX_REQUEST_BODY: Final = 8_192
"""Of a verb on the broker's own or the terminal's lane (not of broker.publish)."""

MAX_SESSION_REQUEST: Final = 16_384
"""Header and body of a session.* request together (facts 2.3)."""

MAX_RESPONSE_BODY: Final = 262_144
"""Of a verb of the terminal's lanes."""

MAX_SOCKET_PATH: Final = 107
"""sun_path without its NUL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLimits:
    """Caps and times of verified sessions (facts 2.6-2.8). Times are in milliseconds."""

    terms_per_uid: int = 64
    """Records of role term that are not revoked."""
    grants_per_parent: int = 32
    grants: int = 1_024
    """Pending grants."""
    grant_ms: int = 30_000
    lease_ms: int = 15_000
    window_ms: int = 30_000
    """A suspended record can be resumed for this long."""
    challenge_ms: int = 5_000
    challenges_per_uid: int = 128
    consumed_per_connection: int = 1_024
    """Ids of used challenges that a connection remembers."""
    interests_per_uid: int = 256
    """Connections that wait for a grant of their key."""
    interest_ms: int = 60_000
    issued_names: int = 65_536
    name_candidates: int = 9
    notices_per_connection: int = 256
    notices: int = 4_096
    dependencies_per_recipient: int = 256
    dependencies: int = 8_192
    dependency_ms: int = 60_000
    """A delivery lets its recipient check the sender's lease for this long; a check renews it."""
    retained_ms: int = 900_000
    retained_per_connection: int = 1_024
    retained: int = 8_192
    retained_bytes: int = 16 * MAX_MESSAGE_BYTES
    list_bytes: int = MAX_MESSAGE_BYTES - 65_536
    """Of the records in one answer to session.list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Caps per connection, per uid and for the whole broker. Counts unless the name says else."""

    connections_per_uid: int = 512
    shared_per_uid: int = 64
    """Connections of one uid to the shared endpoint, from their accept on."""
    shared_connections: int = 256
    """Connections to the shared endpoint in all."""
    connections_per_node: int = 64
    """Of one other machine, by its key."""
    names_per_connection: int = 8
    names_per_uid: int = 128
    subscriptions_per_connection: int = 64
    pending_per_connection: int = 256
    pending_per_recipient: int = 1_024
    queue_messages: int = 256
    queue_bytes: int = 8 * MAX_MESSAGE_BYTES
    queue_bytes_per_guest: int = 32 * MAX_MESSAGE_BYTES
    """Of all connections of one other user, or of one other machine, together."""
    queue_bytes_of_guests: int = 64 * MAX_MESSAGE_BYTES
    """Of all connections of other users and machines: one person may be many users."""
    topics_per_uid: int = 256
    topic_bytes_per_uid: int = 16 * MAX_MESSAGE_BYTES
    handshake_ms: int = 2_000
    send_hwm: int = 8
    receive_hwm: int = 64
    hello_ms: int = 10_000
    """A connection that has not said a valid word by then no longer holds a quota slot."""
    pending_ms: int = 900_000
    """An unanswered request is given up (UNAVAILABLE) after this long."""
    topic_grace_ms: int = 60_000
    """A topic is kept this long, marked stale, after its publisher is gone."""
    probe_ms: int = 10_000
    """Idle connections are probed this often, for those whose end nothing announced."""
    observers_per_connection: int = 4
    observers: int = 16
    sessions: SessionLimits = field(default_factory=SessionLimits)


DEFAULTS: Final = Limits()
