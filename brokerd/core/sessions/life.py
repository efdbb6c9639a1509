"""The changes of a record's state, with all that each brings with it."""

from __future__ import annotations

from collections.abc import Hashable

from brokerd.core.sessions.model import (
    Bound,
    Challenge,
    Grant,
    GrantState,
    Notice,
    Record,
    RecordState,
    Ref,
    Unbound,
)
from brokerd.core.sessions.schedule import Kind
from brokerd.core.sessions.tables import Tables


def attach(tables: Tables, record: Record, connection_id: str) -> None:
    """The record was proved on that connection, which is bound to no other."""
    if record.state is RecordState.PENDING and record.grant is not None:
        tables.grants.close(record.grant, GrantState.CONSUMED)
    record.move(RecordState.ATTACHED)
    record.binding_generation += 1
    before = tables.bindings.attach(record, connection_id)
    tables.interests.drop(connection_id)
    tables.schedule.cancel(Kind.WINDOW, record)
    refresh(tables, record)
    if before != connection_id:
        if before is not None:
            tables.effects.append(Unbound(before, record.name))
        tables.effects.append(Bound(connection_id, record.name))
    tell(tables, record, before)
    # None of them is resumed; those that wait for their parent may prove themselves now.
    for child in record.children.values():
        tell(tables, child)


def refresh(tables: Tables, record: Record) -> None:
    """Start the lease of an attached record."""
    record.ends_ms = tables.now_ms + tables.limits.lease_ms
    tables.schedule.set(Kind.LEASE, record, record.ends_ms)


def suspend(tables: Tables, record: Record, at_ms: int) -> None:
    """Nobody holds it from ``at_ms`` on, nor any of its children. Its window starts there."""
    record.move(RecordState.SUSPENDED)
    _unbind(tables, record)
    record.ends_ms = at_ms + tables.limits.window_ms
    tables.schedule.set(Kind.WINDOW, record, record.ends_ms)
    tell(tables, record)
    for child in record.children.values():
        # One that is suspended already keeps its window.
        if child.attached:
            suspend(tables, child, at_ms)


def revoke(tables: Tables, record: Record, grant: GrantState = GrantState.REVOKED) -> None:
    """It is no more, nor is what hangs on it. ``grant``: what has become of a pending one."""
    if record.state is RecordState.PENDING and record.grant is not None:
        tables.grants.close(record.grant, grant)
    record.move(RecordState.REVOKED)
    _unbind(tables, record)
    tables.schedule.cancel(Kind.WINDOW, record)
    tables.challenges.lapse_of(record)
    tell(tables, record)
    tables.dependencies.forget_record(record)
    tables.bindings.retire(record)
    tables.records.remove(record)
    record.grant = None  # it names the record in turn; apart, both are freed at once
    for child in tuple(record.children.values()):
        revoke(tables, child)


def end(tables: Tables, kind: Kind, what: Hashable, at_ms: int) -> None:
    """What the schedule said has ended at that time."""
    match kind, what:
        case Kind.INTEREST, str():
            tables.interests.drop(what)
        case Kind.DEPENDENCY, (str() as recipient, Ref() as ref):
            tables.dependencies.drop(recipient, ref)
        case Kind.CHALLENGE, Challenge():
            tables.challenges.lapse(what)
        case Kind.GRANT, Grant():
            revoke(tables, what.record, GrantState.EXPIRED)
        case Kind.LEASE, Record():
            suspend(tables, what, at_ms)
        case Kind.WINDOW, Record():
            revoke(tables, what)
        case _:
            raise AssertionError(f"not what ends as {kind.name}")


def lost(tables: Tables, connection_id: str) -> None:
    """The connection ended: what it held is suspended, and nothing is kept for it."""
    tables.interests.drop(connection_id)
    tables.dependencies.forget(connection_id)
    tables.challenges.forget(connection_id)
    record = tables.bindings.holds(connection_id)
    if record is not None:
        suspend(tables, record, tables.now_ms)
    tables.bindings.forget(connection_id)
    tables.notices.forget(connection_id)


def fail_clock(tables: Tables) -> None:
    """Without a clock nothing may last: everything is revoked, and stays so."""
    for record in tables.records:
        if record.parent is None:
            revoke(tables, record)
    tables.interests.clear()
    tables.dependencies.clear()
    tables.schedule.clear()
    tables.clock_failed = True


def tell(tables: Tables, record: Record, replaced: str | None = None) -> None:
    """Queue a notice of the record's state for everybody whom it concerns, once each.

    ``replaced``: who held it until somebody else proved it.
    """
    parent = record.parent
    concerned = (
        replaced,
        record.connection_id,
        record.former,
        parent.connection_id if parent is not None else None,
        *tables.dependencies.recipients(record),
        *tables.interests.of(record.uid, record.public_key),
    )
    notice = Notice(record.ref, record.state)
    for connection_id in dict.fromkeys(concerned):
        if connection_id is not None:
            tables.notices.put(connection_id, notice)


def _unbind(tables: Tables, record: Record) -> None:
    tables.schedule.cancel(Kind.LEASE, record)
    connection_id = tables.bindings.release(record)
    if connection_id is not None:
        tables.effects.append(Unbound(connection_id, record.name))
