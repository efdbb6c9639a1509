"""Verified sessions: which connection has proved which record, and for how long.

Sans-IO: the clock is handed in, connections are ids, and what follows for routing comes out as
effects. ``store.Sessions`` is the whole of it; ``views`` says what goes on the wire.
"""

from brokerd.core.sessions.model import (
    GAP,
    Bound,
    Challenge,
    Effect,
    Gap,
    Grant,
    GrantState,
    Notice,
    Record,
    RecordState,
    Ref,
    Told,
    Unbound,
)
from brokerd.core.sessions.store import Sessions

__all__ = [
    "GAP",
    "Bound",
    "Challenge",
    "Effect",
    "Gap",
    "Grant",
    "GrantState",
    "Notice",
    "Record",
    "RecordState",
    "Ref",
    "Sessions",
    "Told",
    "Unbound",
]
