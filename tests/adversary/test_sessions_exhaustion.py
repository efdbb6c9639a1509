"""Who asks for too much of verified sessions is refused by name, and harms nobody else for long."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from tests.support.broken_broker import logged_broker
from tests.support.p0i.lab import Bus, answered, asked, bus, denied
from tests.support.session_peer import ALL, Answer, Fields, Key, SessionPeer, proof_bytes, ref


@contextmanager
def limited(**limits: int) -> Iterator[Bus]:
    """A broker with these limits of sessions."""
    arguments = [part for name in limits for part in ("--set", f"sessions.{name}={limits[name]}")]
    with bus(logged_broker, *arguments) as lab:
        yield lab


def full(answer: Answer, limit: str) -> None:
    assert answer.why == ("RESOURCE_LIMIT", limit)


def test_terms_of_a_user_are_bounded_and_come_back() -> None:
    with limited(terms_per_uid=2) as lab:
        first, second, third = lab.peer(), lab.peer(), lab.peer()
        record, kept = first.allocate(Key()), second.allocate(Key())
        for _ in range(3):
            full(third.try_allocate(Key()), "term_limit")
        assert first.revoke(record)
        third.allocate(Key())
        full(lab.peer().try_allocate(Key()), "term_limit")
        assert second.renew(kept)["state"] == "attached"


@pytest.mark.parametrize("limits", [{"grants_per_parent": 2}, {"grants": 2}])
def test_pending_grants_are_bounded_and_come_back(limits: dict[str, int]) -> None:
    with limited(**limits) as lab:
        term, key = lab.peer(), Key()
        record = term.allocate(Key())
        term.grant(record, key, (1, 1))
        _, pending = term.grant(record, Key(), (2, 1))
        full(term.try_grant(record, Key(), (3, 1)), "grant_limit")
        lab.peer().attach(key)  # a used one is pending no more
        term.grant(record, Key(), (3, 1))
        full(term.try_grant(record, Key(), (4, 1)), "grant_limit")
        assert term.revoke(pending)
        term.grant(record, Key(), (4, 1))


def test_pending_grants_end_and_take_their_records_along() -> None:
    with limited(grants_per_parent=1, grant_ms=300) as lab:
        term, key = lab.peer(), Key()
        record = term.allocate(Key())
        grant, pending = term.grant(record, key)
        assert term.notice_of(pending, "revoked") == 0
        denied(term.session("grant.fetch", {"public_key": key.public.hex()}))
        denied(lab.peer().try_challenge(pending, grant["grant_id"]))
        assert [each["record_id"] for each in term.records()] == [record["record_id"]]
        term.grant(record, key, (1, 2))
        assert term.try_grant(record, Key(), (1, 2)).why[0] == "STALE_GENERATION"


def test_challenges_of_a_user_are_bounded_and_an_attempt_frees_one() -> None:
    with limited(challenges_per_uid=2, challenge_ms=600_000) as lab:
        holder = lab.peer()
        record = holder.allocate(Key())
        one, other, third = lab.peer(), lab.peer(), lab.peer()
        challenge = one.challenge(record)
        other.challenge(record)
        full(third.try_challenge(record), "challenge_limit")
        assert one.challenge(record) == challenge  # the same, not one more
        denied(one.try_prove(Key(), challenge))
        third.challenge(record)
        full(one.try_challenge(record), "challenge_limit")
        assert holder.renew(record)["binding_generation"] == "1"


def test_a_connection_that_goes_gives_back_what_it_had() -> None:
    with limited(challenges_per_uid=1, terms_per_uid=2, window_ms=200) as lab:
        watcher, holder = lab.peer(), lab.peer()
        record = holder.allocate(Key())
        for _ in range(6):
            peer = lab.peer()
            peer.challenge(record)
            mine = peer.allocate(Key())
            assert peer.verb("broker.bye") == {}
            while any(each["record_id"] == mine["record_id"] for each in watcher.records()):
                holder.renew(record)
        assert [each["record_id"] for each in watcher.records()] == [record["record_id"]]


def test_names_are_never_given_again() -> None:
    with limited(issued_names=3) as lab:
        names = set()
        for _ in range(3):
            peer = lab.peer()
            record = peer.allocate(Key())
            names.add(record["name"])
            assert peer.revoke(record)
        assert len(names) == 3
        full(lab.peer().try_allocate(Key()), "issued_name_limit")


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ("dependencies_per_recipient", "recipient_dependency_limit"),
        ("dependencies", "dependency_limit"),
    ],
)
def test_a_recipient_is_not_filled_up_by_bound_senders(limit: str, reason: str) -> None:
    with limited(**{limit: 1}) as lab:
        target, first, second = lab.service("target"), lab.peer(), lab.peer()
        record = first.allocate(Key())
        second.allocate(Key())
        first.ask("target", id="a")
        assert asked(target)[0].id == "a"
        second.ask("target", id="b")
        second.verb("broker.ping")
        target.verb("broker.ping")
        assert not target.passed, "nothing of it gets there"
        rc, body = answered(second, "b")
        assert (rc, body["error_code"], body["details"]["reason"]) == (10, "RESOURCE_LIMIT", reason)
        second.ask("target", id="b")  # refused again, not taken for one under way
        assert answered(second, "b")[1]["details"]["reason"] == reason
        first.ask("target", id="c")  # the same record takes no more room
        assert asked(target)[0].id == "c"
        lab.peer().ask("target", id="unbound")  # and who has none takes none
        assert asked(target)[0].id == "unbound"
        assert first.revoke(record)
        second.ask("target", id="d")
        assert asked(target)[0].id == "d"


def test_waiting_for_keys_is_bounded_per_user() -> None:
    with limited(interests_per_uid=1) as lab:
        term, first, second = lab.peer(), lab.peer(), lab.peer()
        record = term.allocate(Key())
        one, other = Key(), Key()
        denied(first.try_challenge_key(one))
        denied(second.try_challenge_key(other))
        _, of_first = term.grant(record, one, (1, 1))
        _, of_second = term.grant(record, other, (2, 1))
        assert first.notice_of(of_first, "pending") == 0
        challenge = second.challenge_key(other)
        assert challenge["wake_error"] is not None
        details = challenge["wake_error"]["details"]
        assert challenge["wake_error"]["error_code"] == "RESOURCE_LIMIT"
        assert (details["reason"], details["retry_after_ms"]) == ("interest_limit", "60000")
        assert second.prove(other, challenge)["record_id"] == of_second["record_id"]
        assert not [each for each in second.passed if b'"pending"' in each[1]]


def test_a_list_that_would_be_too_long_is_refused() -> None:
    with limited(list_bytes=1_000) as lab:
        watcher = lab.peer()
        lab.peer().allocate(Key())
        assert len(watcher.records()) == 1
        lab.peer().allocate(Key())
        full(watcher.session("list"), "snapshot_limit")


def test_kept_results_are_bounded_and_then_unknown() -> None:
    with limited(retained_per_connection=1) as lab:
        term, key = lab.peer(), Key()
        record = term.allocate(Key())
        term.grant(record, key)
        mine = str(term.last_id)
        again = term.session("grant.create", grant_body(record, key), id=mine)
        assert again.rc == 0
        term.grant(record, Key(), (2, 1))
        forgotten = term.session("grant.create", grant_body(record, key), id=mine)
        assert forgotten.why == ("CONFLICT", "unknown_outcome")
        assert len(term.records()) == 3


def grant_body(record: Fields, key: Key) -> Fields:
    return {
        "parent": ref(record),
        "pane_id": "1",
        "pane_generation": "1",
        "public_key": key.public.hex(),
        "role": "pane-shell",
        "capabilities": list(ALL),
    }


def test_used_challenges_are_remembered_up_to_a_bound() -> None:
    with limited(consumed_per_connection=2) as lab:
        record, peer = lab.peer().allocate(Key()), lab.peer()
        used = []
        for _ in range(3):
            used.append(peer.challenge(record))
            denied(peer.try_prove(Key(), used[-1]))
        denied(peer.try_prove(Key(), used[0]))
        for challenge in used[1:]:
            assert peer.try_prove(Key(), challenge).why == ("CONFLICT", "challenge_consumed")


@pytest.mark.parametrize(
    ("body", "spends"),
    [
        ({"signature": "00"}, True),
        ({"signature": None}, True),
        ({"more": 1}, True),
        ({"challenge_id": "0" * 32}, True),
        ({"challenge_id": "A" * 32}, False),
        ({"challenge_id": None}, False),
    ],
)
def test_an_attempt_that_says_for_what_costs_the_challenge(body: Fields, spends: bool) -> None:
    with limited() as lab:
        key, peer = Key(), lab.peer()
        record = lab.peer().allocate(key)
        challenge = peer.challenge(record)
        sound = {
            "challenge_id": challenge["challenge_id"],
            "signature": key.sign(proof_bytes(challenge)),
        }
        assert peer.session("prove", {**sound, **body}).rc == 10
        after = peer.session("prove", sound)
        if spends:
            assert after.why == ("CONFLICT", "challenge_consumed")
        else:
            assert after.rc == 0


def test_a_challenge_lapses() -> None:
    with limited(challenge_ms=200) as lab:
        key, peer = Key(), lab.peer()
        record = lab.peer().allocate(key)
        lapsed = peer.challenge(record)
        watcher = lab.peer()
        later = watcher.challenge(record)
        while watcher.challenge(record)["challenge_id"] == later["challenge_id"]:
            pass  # when it has lapsed, so has the one before it
        assert peer.try_prove(key, lapsed).why[0] == "EXPIRED"
        assert peer.try_prove(key, lapsed).why == ("CONFLICT", "challenge_consumed")
        fresh = peer.challenge(record)
        assert fresh["challenge_id"] != lapsed["challenge_id"]


def test_a_flood_of_bad_proofs_keeps_nobody_from_renewing() -> None:
    with limited() as lab:
        holder = lab.peer()
        record = holder.allocate(Key())
        flood: list[SessionPeer] = [lab.peer() for _ in range(8)]
        for _ in range(20):
            for peer in flood:
                denied(peer.try_prove(Key(), peer.challenge(record)))
            assert holder.renew(record)["state"] == "attached"
        assert len(holder.records()) == 1
        assert holder.counts()["queue_full"] == 0


def test_a_revoked_record_does_not_come_back() -> None:
    with limited() as lab:
        term, child_key, key = lab.peer(), Key(), Key()
        record = term.allocate(key)
        child, bound, _ = lab.child(term, record, (5, 1))
        grant, waiting = term.grant(record, child_key, (1, 4))
        assert term.revoke(record)
        for peer, aim in ((child, bound), (term, record)):
            denied(peer.session("renew", {"target": ref(aim)}))
            denied(peer.session("self", {"record_id": aim["record_id"]}))
        other = lab.peer()
        denied(other.try_challenge(waiting, grant["grant_id"]))
        for one in (child_key, key):
            denied(other.try_challenge_key(one))
        answer = other.verb("broker.register", json.dumps({"name": record["name"]}).encode())
        assert answer["error_code"] == "FORBIDDEN"
        fresh = other.allocate(key)  # the key may be used again: for another record
        for field in ("record_id", "instance_id", "incarnation", "name"):
            assert fresh[field] != record[field]
        # The same pane of another Term starts again.
        other.grant(fresh, child_key, (1, 1))


BOUNDED: Final[dict[str, Callable[[], None]]] = {
    "terms": test_terms_of_a_user_are_bounded_and_come_back,
    "grants": lambda: test_pending_grants_are_bounded_and_come_back({"grants": 2}),
    "challenges": test_challenges_of_a_user_are_bounded_and_an_attempt_frees_one,
    "names": test_names_are_never_given_again,
    "dependencies": lambda: test_a_recipient_is_not_filled_up_by_bound_senders(
        "dependencies", "dependency_limit"
    ),
    "interests": test_waiting_for_keys_is_bounded_per_user,
    "list": test_a_list_that_would_be_too_long_is_refused,
    "retained": test_kept_results_are_bounded_and_then_unknown,
    "consumed": test_used_challenges_are_remembered_up_to_a_bound,
}


@pytest.mark.parametrize("check", BOUNDED.values(), ids=BOUNDED)
def test_without_its_limit_each_check_fails(
    check: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "limited", lambda **_: bus(logged_broker))
    with pytest.raises(AssertionError):
        check()
