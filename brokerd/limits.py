"""Every limit of the broker and its clients, in one table.

Values are the defaults of the design (facts part 1); a ``Limits`` is handed in everywhere, so that
tests raise or lower a limit by configuration and never by patching.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MAX_HEADER_BYTES: Final = 4_096
MAX_ID_LENGTH: Final = 128
MAX_MESSAGE_BYTES: Final = 1_048_576
"""Header and body together; also the most a topic value may take."""

MAX_REQUEST_BODY: Final = 8_192
"""Of a verb on the broker's own or the terminal's lane (not of broker.publish)."""

MAX_RESPONSE_BODY: Final = 262_144
"""Of a verb of the terminal's lanes."""

MAX_SOCKET_PATH: Final = 107
"""sun_path without its NUL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Caps per connection, per uid and for the whole broker. Counts unless the name says else."""

    connections_per_uid: int = 512
    names_per_connection: int = 8
    names_per_uid: int = 128
    subscriptions_per_connection: int = 64
    pending_per_connection: int = 256
    pending_per_recipient: int = 1_024
    queue_messages: int = 256
    queue_bytes: int = 8 * MAX_MESSAGE_BYTES
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


DEFAULTS: Final = Limits()
