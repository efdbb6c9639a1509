"""Verified sessions as the client library sees them: the same in memory and with a real broker."""

from __future__ import annotations

from dataclasses import replace

import pytest
import trio

from brokerd.client import (
    ATTACHED,
    CAPABILITIES,
    PANE_SHELL,
    PENDING,
    RC_OK,
    REVOKED,
    SUSPENDED,
    TERM,
    LifecycleGap,
    NotConnected,
    Refused,
    Request,
    SessionKeeper,
    SessionKey,
    attach_child,
    attach_term,
)
from tests.support.bus_labs import Lab, on_both_buses
from tests.support.session_lab import (
    CHILD_CAPABILITIES,
    CHILD_KEY,
    TERM_KEY,
    clock_of,
    grant,
    kept,
    notice_of,
    renewed,
    until,
)


def reason_of(refused: pytest.ExceptionInfo[Refused]) -> tuple[str, object]:
    return refused.value.code, refused.value.details.get("reason")


@on_both_buses
async def test_a_term_from_its_allocation_to_its_end(lab: Lab) -> None:
    async with lab.connect() as bus:
        sessions = bus.sessions
        hello = await sessions.hello()
        assert (hello.broker_epoch, hello.connection_id) == (bus.broker_epoch, bus.connection_id)
        record = await sessions.allocate(TERM_KEY, "restricted")
        assert (record.role, record.state, record.policy) == (TERM, ATTACHED, "restricted")
        assert (record.capabilities, record.binding_generation) == (CAPABILITIES, 1)
        assert record.broker_epoch == bus.broker_epoch
        renewed = await sessions.renew(record.ref)
        assert renewed.ref == record.ref
        assert [each.record_id for each in await sessions.list()] == [record.record_id]
        assert (await sessions.self_record(record.record_id)).ref == record.ref
        for wrong in (
            replace(record.ref, binding_generation=2),
            replace(record.ref, record_id="0" * 32),
        ):
            with pytest.raises(Refused) as refused:
                await sessions.renew(wrong)
            assert refused.value.code == "FORBIDDEN"
        assert await sessions.revoke(record.ref) is True
        assert await sessions.list() == []


@on_both_buses
async def test_a_pane_shell_from_its_grant_to_its_end(lab: Lab) -> None:
    async with lab.connect() as bus, lab.connect() as pane:
        term = await bus.sessions.allocate(TERM_KEY)
        with bus.lifecycle() as notices:
            grant_, record = await grant(bus, term.ref)
            assert (record.role, record.state, grant_.state) == (PANE_SHELL, PENDING, PENDING)
            assert (await bus.sessions.grant_fetch(CHILD_KEY.public_key))[0] == grant_
            child = await pane.sessions.enrol(CHILD_KEY, grant_, record)
            assert (child.state, child.binding_generation) == (ATTACHED, 1)
            assert child.capabilities == CHILD_CAPABILITIES
            told = await notice_of(notices, child.record_id, ATTACHED)
            assert told.ref == child.ref
            again = await pane.sessions.resume(CHILD_KEY, child)
            assert again.ref == replace(child.ref, binding_generation=2)
            assert await bus.sessions.revoke(again.ref)
            await notice_of(notices, child.record_id, REVOKED)
        with pytest.raises(Refused) as refused:
            await pane.sessions.renew(again.ref)
        assert refused.value.code in {"FORBIDDEN", "EXPIRED"}


@on_both_buses
async def test_a_second_holder_takes_the_record_and_the_first_is_told(lab: Lab) -> None:
    async with lab.connect() as first, lab.connect() as second, lab.connect() as other:
        record = await first.sessions.allocate(TERM_KEY)
        with first.lifecycle() as notices:
            taken = await second.sessions.by_key(TERM_KEY)
            assert taken.binding_generation == record.binding_generation + 1
            told = await notice_of(notices, record.record_id, ATTACHED)
            assert told.ends(record.ref)
            assert not told.ends(taken.ref)
        reply = await first.request("nobody", "nobody.x")
        assert reply.error is not None
        assert (reply.error.code, reply.error.details.get("reason")) == ("EXPIRED", "binding_lost")
        assert (await other.sessions.self_record(record.record_id)).ref == taken.ref


@on_both_buses
async def test_the_allocated_name_leads_to_whoever_attends(lab: Lab) -> None:
    def take(request: Request) -> None:
        session = request.principal.session if request.principal else None
        request.respond(RC_OK, {"bound": session is not None, "name": request.name})

    async with lab.connect() as bus, lab.connect() as other:
        record = await bus.sessions.allocate(TERM_KEY)
        refused = await other.request(record.name, "term.x")
        assert refused.error is not None
        assert refused.error.code == "UNAVAILABLE"
        with bus.attend_bound(take):
            with pytest.raises(ValueError, match="attended"), bus.attend_bound(take):
                pass
            reply = await other.request(record.name, "term.x")
            assert reply.body == {"bound": False, "name": record.name}
            assert reply.sender is not None
            assert reply.sender.session is not None
            assert reply.sender.session.record_id == record.record_id


@on_both_buses
async def test_a_recipient_checks_the_lease_of_who_asked(lab: Lab) -> None:
    async with lab.connect() as bus, lab.connect() as recipient:
        record = await bus.sessions.allocate(TERM_KEY)
        with pytest.raises(Refused) as refused:
            await recipient.sessions.lease_check(record.ref)
        assert reason_of(refused) == ("NOT_FOUND", "dependency_missing")
        async with recipient.listen("desk") as requests, trio.open_nursery() as nursery:
            nursery.start_soon(bus.request, "desk", "desk.x")
            request = await requests.__anext__()
            principal = request.principal
            assert principal is not None
            assert principal.session is not None
            assert 0 < await recipient.sessions.lease_check(record.ref) <= 15_000
            request.respond(RC_OK, {})


@on_both_buses
async def test_a_term_may_send_events_to_those_who_did_not_subscribe(lab: Lab) -> None:
    async with lab.connect() as bus, lab.connect() as other:
        with other.private_events() as events, other.lifecycle() as notices:
            assert bus.send_event(other.connection_id, "term.x", {"n": 1})  # not bound: no effect
            record = await bus.sessions.allocate(TERM_KEY)
            assert bus.send_event(other.connection_id, "term.x", {"n": 2})
            # A bound sender cannot speak for the broker either.
            bus.send_event(other.connection_id, "session.lifecycle.gap", {})
            event = await events.__anext__()
            assert event.body == {"n": 2}
            assert event.sender is not None
            assert event.sender.session is not None
            assert event.sender.session.record_id == record.record_id
            await bus.request("brokerd", "broker.ping")
            await other.request("brokerd", "broker.ping")
            assert (len(events), len(notices), notices.gapped) == (0, 0, False)


@on_both_buses
async def test_a_keeper_attaches_renews_and_attaches_again_to_the_next_broker(lab: Lab) -> None:
    async with lab.connect() as bus:
        async with kept(lab, bus, TERM_KEY, attach_term(TERM_KEY)) as keeper:
            first = await keeper.wait_authority()
            assert (first.broker_epoch, first.connection_id) == (
                bus.broker_epoch,
                bus.connection_id,
            )
            assert keeper.problem == ""
            for _ in range(3):
                await renewed(first, clock_of(lab))
            assert keeper.authority is first
            await lab.kill()
            await until(lambda: not first.live)
            assert (keeper.problem, first.remaining_ms()) == ("the broker is away", 0)
            await lab.start()
            second = await keeper.wait_authority()
            assert second is not first
            assert second.broker_epoch == bus.broker_epoch != first.broker_epoch
            assert (first.live, first.remaining_ms()) == (False, 0)
        assert not second.live


@on_both_buses
async def test_a_keeper_comes_back_when_another_took_its_record(lab: Lab) -> None:
    async with (
        lab.connect() as bus,
        lab.connect() as thief,
        kept(lab, bus, TERM_KEY, attach_term(TERM_KEY)) as keeper,
    ):
        first = await keeper.wait_authority()
        await thief.sessions.by_key(TERM_KEY)
        await until(lambda: not first.live)
        second = await keeper.wait_authority()
        assert second.ref == replace(first.ref, binding_generation=3)


@on_both_buses
async def test_a_keeper_whose_record_was_revoked_allocates_on_a_new_connection(lab: Lab) -> None:
    async with lab.connect() as bus, kept(lab, bus, TERM_KEY, attach_term(TERM_KEY)) as keeper:
        first = await keeper.wait_authority()
        before = bus.connection_id
        assert await bus.sessions.revoke(first.ref)
        await until(lambda: not first.live)
        second = await keeper.wait_authority()
        assert second.ref.record_id != first.ref.record_id
        assert bus.connection_id == second.connection_id != before


@on_both_buses
async def test_a_keeper_revokes_its_own_record_and_ends(lab: Lab) -> None:
    async with lab.connect() as bus:
        keeper = SessionKeeper(bus, TERM_KEY, attach_term(TERM_KEY), clock_ms=clock_of(lab))
        async with trio.open_nursery() as nursery:
            await nursery.start(keeper.run)
            authority = await keeper.wait_authority()
            await keeper.revoke()
        assert not authority.live
        assert keeper.authority is None
        assert await bus.sessions.list() == []


@on_both_buses
async def test_a_child_follows_its_parent_to_the_next_broker(lab: Lab) -> None:
    async with (
        lab.connect() as bus,
        lab.connect() as pane,
        kept(lab, bus, TERM_KEY, attach_term(TERM_KEY)) as term,
    ):
        parent = await term.wait_authority()
        granted = await grant(bus, parent.ref)
        attach = attach_child(CHILD_KEY, *granted)
        async with kept(lab, pane, CHILD_KEY, attach) as child:
            first = await child.wait_authority()
            assert first.record.parent_instance == parent.record.instance_id
            await lab.kill()
            await until(lambda: not first.live)
            await lab.start()
            parent = await term.wait_authority()
            await grant(bus, parent.ref)
            second = await child.wait_authority()
            assert second.record.parent_instance == parent.record.instance_id
            assert second.ref.record_id != first.ref.record_id


@on_both_buses
async def test_a_child_does_not_follow_another_parent(lab: Lab) -> None:
    waiting: list[bool] = []
    other_key = SessionKey.generate()
    async with lab.connect() as bus, lab.connect() as pane:
        term = await bus.sessions.allocate(TERM_KEY)
        attach = attach_child(CHILD_KEY, *await grant(bus, term.ref), on_waiting=waiting.append)
        async with kept(lab, pane, CHILD_KEY, attach) as child:
            first = await child.wait_authority()
            await bus.sessions.revoke(term.ref)
            await until(lambda: not first.live)
            await until(lambda: waiting[-1:] == [True])
            async with lab.connect() as other:
                record = await other.sessions.allocate(other_key)
                await grant(other, record.ref, generation=2)
                await until(lambda: "parent_key_hash" in child.problem)
                assert child.authority is None


@on_both_buses
async def test_a_childs_record_is_revoked_and_granted_again(lab: Lab) -> None:
    waiting: list[bool] = []
    async with (
        lab.connect() as bus,
        lab.connect() as pane,
        kept(lab, bus, TERM_KEY, attach_term(TERM_KEY)) as term,
    ):
        parent = await term.wait_authority()
        granted = await grant(bus, parent.ref)
        attach = attach_child(CHILD_KEY, *granted, on_waiting=waiting.append)
        async with kept(lab, pane, CHILD_KEY, attach) as child:
            first = await child.wait_authority()
            assert await bus.sessions.revoke(first.ref)
            await until(lambda: not first.live)
            await until(lambda: waiting[-1:] == [True])
            await grant(bus, parent.ref, generation=2)
            second = await child.wait_authority()
            assert second.record.pane_generation == 2


@on_both_buses
async def test_a_parent_that_left_takes_its_children_along_until_it_is_back(lab: Lab) -> None:
    async with lab.connect() as pane:
        async with lab.connect() as bus:
            term = await bus.sessions.allocate(TERM_KEY)
            attach = attach_child(CHILD_KEY, *await grant(bus, term.ref))
        async with kept(lab, pane, CHILD_KEY, attach) as child:
            await until(lambda: "EXPIRED" in child.problem)  # proofs need a live parent
            assert child.authority is None
            async with lab.connect() as bus:
                again = await bus.sessions.by_key(TERM_KEY)
                assert again.binding_generation == 2
                authority = await child.wait_authority()
                assert authority.record.parent_instance == term.instance_id


@on_both_buses
async def test_a_lost_broker_is_a_gap_in_the_notices(lab: Lab) -> None:
    async with lab.connect() as bus:
        with bus.lifecycle() as notices:
            await lab.kill()
            assert await notices.__anext__() == LifecycleGap()
        with pytest.raises(NotConnected):
            await bus.sessions.hello()
        await lab.start()
        assert await bus.wait_epoch_change("") == (await bus.sessions.hello()).broker_epoch


@on_both_buses
async def test_suspension_is_told_to_the_parent(lab: Lab) -> None:
    async with lab.connect() as bus:
        term = await bus.sessions.allocate(TERM_KEY)
        with bus.lifecycle() as notices:
            async with lab.connect() as pane:
                child = await pane.sessions.enrol(CHILD_KEY, (await grant(bus, term.ref))[0])
            told = await notice_of(notices, child.record_id, SUSPENDED)
            assert told.ref == child.ref
