"""The broker in numbers."""

from __future__ import annotations

from brokerd.core.bus import Bus


def collect(bus: Bus) -> dict[str, int]:
    """What is held now (all zero when everyone has gone), and the counters so far."""
    return {
        "connections": len(bus.connections),
        "dormant": bus.connections.dormant(),
        "names": len(bus.names),
        "subscriptions": len(bus.subscriptions),
        "topics": len(bus.topics),
        "pending": len(bus.pending),
        "observers": len(bus.observers),
        "queued_messages": sum(len(each.outbox) for each in bus.connections),
        "queued_bytes": sum(each.outbox.bytes for each in bus.connections),
        **{f"sessions_{key}": count for key, count in bus.sessions.statistics().items()},
        "sessions_retained": len(bus.retained),
        **bus.counters,
    }
