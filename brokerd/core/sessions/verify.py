"""The audit of sessions: every index, quota and rule recomputed from what is really held.

Tests run it after each step. It raises AssertionError (not ``assert``, so that it also works under
-O) with the name of the rule that is broken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator

from brokerd.core.rules import meter_rule, rule
from brokerd.core.sessions.model import GrantState, Record, RecordState
from brokerd.core.sessions.refusals import SharedQuota
from brokerd.core.sessions.schedule import Key, Kind
from brokerd.core.sessions.tables import Tables
from brokerd.encodings import TERM

_PENDING = RecordState.PENDING


def verify(tables: Tables) -> None:
    """Raise AssertionError when any invariant of the sessions is broken."""
    tables.schedule.verify()
    tables.notices.verify()
    for record in tables.records:
        _record(tables, record)
        _family(tables, record)
    _quotas(tables)
    _bindings(tables)
    _grants(tables)
    _challenges(tables)
    _dependencies(tables)
    _deadlines(tables)


def _shared(quota: SharedQuota, held: Iterable[tuple[int, Hashable]]) -> None:
    """``held``: the user of each, and the owner it is counted at."""
    known = list(held)
    meter_rule(quota.all, (owner for _, owner in known))
    meter_rule(quota.others, (owner for uid, owner in known if quota.concerns(uid)))


def _record(tables: Tables, record: Record) -> None:
    known = tables.records.get(record.record_id), tables.records.with_key(record.public_key)
    rule(known == (record, record), "a record is not found by its id and its key")
    rule(record.name in tables.names, "a record has a name that was not issued")
    rule(record.state is not RecordState.REVOKED, "a revoked record is kept")
    rule((record.binding_generation == 0) == (record.state is _PENDING), "a wrong generation")
    rule(record.attached == (record.connection_id is not None), "attached without a connection")
    rule(record.ends_ms > tables.now_ms, "a state outlives its end")


def _family(tables: Tables, record: Record) -> None:
    parent = record.parent
    rule((record.role == TERM) == (parent is None), "a role does not fit its parent")
    if parent is None:
        return
    rule(tables.records.get(parent.record_id) is parent, "a child outlives its parent")
    rule(parent.children.get(record.record_id) is record, "a parent does not know its child")
    rule(parent.uid == record.uid, "a child of another user")
    rule(parent.attached or not record.attached, "an attached child of a parent that is not")
    highest = parent.panes.get(record.pane_id or 0, 0)
    rule(0 < (record.pane_generation or 0) <= highest, "a pane generation over the highest")


def _quotas(tables: Tables) -> None:
    records = list(tables.records)
    meter_rule(tables.records.terms, (each.uid for each in records if each.role == TERM))
    children = sum(len(each.children) for each in records)
    rule(children == sum(each.parent is not None for each in records), "children differ")
    of_users = [each for uid in {each.uid for each in records} for each in tables.records.of(uid)]
    rule(len(of_users) == len(records), "the records of the users differ")
    meter_rule(tables.interests.per_uid, (uid for _, (uid, _) in tables.interests))
    for connection_id, wanted in tables.interests:
        rule(connection_id in tables.interests.of(*wanted), "an interest without effect")


def _bindings(tables: Tables) -> None:
    records = list(tables.records)
    held = {each.connection_id: each for each in records if each.connection_id is not None}
    attached = [each for each in records if each.attached]
    rule(len(held) == len(attached), "a connection holds two records")
    rule(dict(tables.bindings.held()) == held, "bindings differ from records")
    lost = tables.bindings.lost()
    rule(held.keys() <= lost.keys(), "a holder that was never bound")
    former = {(each.former, each) for each in records if each.former is not None}
    rule({(who, each) for who, some in lost.items() for each in some} == former, "former differ")
    rule(not any(each.former for each in attached), "an attached record with a former holder")


def _grants(tables: Tables) -> None:
    grants = list(tables.grants)
    meter_rule(tables.grants.per_parent, (each.parent for each in grants))
    _shared(tables.grants.total, ((each.parent.uid, None) for each in grants))
    rule(all(each.state is GrantState.PENDING for each in grants), "a grant is kept too long")
    pending = {each for each in tables.records if each.state is _PENDING}
    rule({each.record for each in grants} == pending, "pending records differ from grants")
    rule(all(each.record.grant is each for each in grants), "a grant of another record")


def _challenges(tables: Tables) -> None:
    outstanding = list(tables.challenges)
    meter_rule(tables.challenges.per_uid, (each.record.uid for each in outstanding))
    by_record = tables.challenges.by_record()
    indexed = [each for some in by_record.values() for each in some]
    rule(set(indexed) == set(outstanding), "challenges by record differ")
    live = set(tables.records)
    rule(all(each.record in live for each in outstanding), "a challenge outlives its record")
    cap = tables.limits.consumed_per_connection
    for connection_id, slot in tables.challenges.slots().items():
        rule(len(slot.consumed) <= cap, "too many used challenges are remembered")
        given = slot.outstanding
        mine = given is None or (given.connection_id == connection_id and slot.lapsed is None)
        rule(mine, "a challenge of another connection")


def _dependencies(tables: Tables) -> None:
    deliveries = list(tables.dependencies)
    at_recipients = ((record.uid, who) for who, _, record in deliveries)
    _shared(tables.dependencies.per_recipient, at_recipients)
    _shared(tables.dependencies.total, ((record.uid, None) for _, _, record in deliveries))
    counts = Counter((record, who) for who, _, record in deliveries)
    counted = tables.dependencies.counts()
    flat = {(record, who): n for record, some in counted.items() for who, n in some.items()}
    rule(flat == counts, "deliveries by record differ")
    live = set(tables.records)
    rule(all(record in live for _, _, record in deliveries), "a delivery outlives its record")


def _deadlines(tables: Tables) -> None:
    if tables.clock_failed:
        rule(not tables.schedule.pending() and not len(tables.records), "time without a clock")
        return
    rule(tables.schedule.pending() == set(_expected(tables)), "deadlines differ from what may end")
    for kind, what in tables.schedule.pending():
        due = tables.schedule.due(kind, what)
        rule(due is not None and due > tables.now_ms, f"overdue: {kind.name}")
        if isinstance(what, Record):
            rule(due == what.ends_ms, "a state ends at another time than it says")


def _expected(tables: Tables) -> Iterator[Key]:
    yield from ((Kind.INTEREST, who) for who, _ in tables.interests)
    yield from ((Kind.DEPENDENCY, (who, ref)) for who, ref, _ in tables.dependencies)
    yield from ((Kind.CHALLENGE, each) for each in tables.challenges)
    yield from ((Kind.GRANT, each) for each in tables.grants)
    for each in tables.records:
        if each.state is not _PENDING:
            yield (Kind.LEASE if each.attached else Kind.WINDOW), each
