"""Stamps and kernel addresses: exactly one way to a principal, nothing by default."""

from __future__ import annotations

from dataclasses import replace

import msgpack
import pytest

from brokerd.principal import (
    MAX_STAMP_BYTES,
    NodePeer,
    NodePrincipal,
    PeerCredentials,
    Principal,
    SessionBinding,
    parse_peer_address,
    principal_from_stamp,
)

ALICE = Principal(
    owner_node="node-1",
    unix_uid=3_000_000_000,
    unix_gid=5,
    peer_pid=77,
    broker_epoch="e" * 32,
    connection_id="c" * 32,
)


def test_a_stamp_says_what_the_contract_lists() -> None:
    fields = msgpack.unpackb(ALICE.to_stamp())
    assert fields == {
        "version": 1,
        "assurance": "local-unix",
        "owner_node": "node-1",
        "unix_uid": 3_000_000_000,
        "unix_gid": 5,
        "peer_pid": 77,
        "broker_epoch": "e" * 32,
        "connection_id": "c" * 32,
        "session": None,
    }
    assert Principal.from_stamp(ALICE.to_stamp()) == ALICE


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("version", 2),
        ("version", True),
        ("assurance", "session-bound"),
        ("owner_node", "Node"),
        ("owner_node", "a\n"),
        ("unix_uid", -1),
        ("unix_uid", 2**32),
        ("unix_uid", 65_534),
        ("unix_uid", False),
        ("unix_uid", "0"),
        ("unix_uid", None),
        ("unix_gid", 1.0),
        ("peer_pid", 0),
        ("broker_epoch", "E" * 32),
        ("connection_id", "c" * 31),
        ("connection_id", b"c" * 32),
        ("session", {}),
        ("extra", 1),
    ],
)
def test_any_other_stamp_is_no_principal(key: str, value: object) -> None:
    fields = msgpack.unpackb(ALICE.to_stamp())
    assert Principal.from_stamp(msgpack.packb({**fields, key: value})) is None


@pytest.mark.parametrize("key", ["unix_uid", "unix_gid", "session", "version", "connection_id"])
def test_a_missing_field_is_not_made_up(key: str) -> None:
    fields = msgpack.unpackb(ALICE.to_stamp())
    del fields[key]
    assert Principal.from_stamp(msgpack.packb(fields)) is None


def test_a_duplicate_field_is_no_principal() -> None:
    stamp = bytearray(ALICE.to_stamp())
    stamp[0] += 1
    assert Principal.from_stamp(bytes(stamp) + msgpack.packb("unix_uid") + b"\x00") is None


@pytest.mark.parametrize("stamp", [b"", b"\xc0", b"\x90", b"\xff" * 2_000, b"\x81"])
def test_garbage_is_no_principal(stamp: bytes) -> None:
    assert Principal.from_stamp(stamp) is None


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("localhost:0:0:1", PeerCredentials(0, 0, 1)),
        ("a:b:c:1000:100:42", PeerCredentials(1000, 100, 42)),
        ("localhost:4294967295:0:1", PeerCredentials(2**32 - 1, 0, 1)),
        ("localhost:4294967296:0:1", None),
        ("localhost:65534:0:1", None),
        ("localhost:0:0:0", None),
        ("localhost:-1:0:1", None),
        ("localhost:+1:0:1", None),
        ("localhost:1_0:0:1", None),
        ("localhost: 1:0:1", None),
        ("localhost:\u0661:0:1", None),
        ("localhost:0:0:1\n", None),
        ("localhost:0:0:1:", None),
        ("localhost:0:1", None),
        ("0:0:1", None),
        ("localhost", None),
        ("", None),
    ],
)
def test_the_kernels_triple_is_read_from_the_right(
    address: str, expected: PeerCredentials | None
) -> None:
    assert parse_peer_address(address) == expected


SHELL = SessionBinding(
    record_id="1" * 32,
    instance_id="2" * 32,
    incarnation="3" * 32,
    role="pane-shell",
    parent_instance="4" * 32,
    parent_incarnation="5" * 32,
    pane_id=0,
    pane_generation=1,
    binding_generation=2**64 - 1,
    capabilities=("execute", "input"),
    lease_remaining_ms=0,
)
TERM = replace(
    SHELL,
    role="term",
    parent_instance=None,
    parent_incarnation=None,
    pane_id=None,
    pane_generation=None,
)
MACHINE = NodePrincipal(owner_node="there", broker_epoch="e" * 32, connection_id="c" * 32)


def bound(binding: SessionBinding = SHELL) -> Principal:
    return replace(ALICE, session=binding)


@pytest.mark.parametrize("binding", [SHELL, TERM])
def test_a_stamp_says_which_record_is_held(binding: SessionBinding) -> None:
    principal = bound(binding)
    assert principal.assurance == "session-bound"
    fields = msgpack.unpackb(principal.to_stamp())
    assert fields["assurance"] == "session-bound"
    assert fields["session"]["binding_generation"] == str(2**64 - 1)
    assert fields["session"]["lease_remaining_ms"] == "0"
    assert principal_from_stamp(principal.to_stamp()) == principal
    assert Principal.from_stamp(principal.to_stamp()) == principal


def test_the_largest_stamp_fits() -> None:
    largest = replace(
        SHELL,
        pane_id=2**64 - 1,
        pane_generation=2**64 - 1,
        lease_remaining_ms=2**64 - 1,
        capabilities=(
            "execute",
            "input",
            "manage_layout",
            "read_contents",
            "read_state",
            "terminate",
        ),
    )
    principal = replace(bound(largest), owner_node="n" * 63, unix_uid=2**32 - 1)
    assert len(principal.to_stamp()) <= MAX_STAMP_BYTES
    assert principal_from_stamp(principal.to_stamp()) == principal


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("record_id", "1" * 31),
        ("record_id", None),
        ("record_id", b"1" * 32),
        ("role", "shell"),
        ("role", "term"),
        ("role", ["term"]),
        ("parent_instance", None),
        ("parent_incarnation", None),
        ("pane_id", None),
        ("pane_id", 0),
        ("pane_id", "00"),
        ("pane_generation", "0"),
        ("pane_generation", None),
        ("binding_generation", "0"),
        ("binding_generation", str(2**64)),
        ("binding_generation", "+1"),
        ("binding_generation", "\u0661"),
        ("lease_remaining_ms", "-1"),
        ("lease_remaining_ms", None),
        ("capabilities", []),
        ("capabilities", ["input", "execute"]),
        ("capabilities", ["input", "input"]),
        ("capabilities", ["everything"]),
        ("capabilities", [["input"]]),
        ("capabilities", "input"),
        ("more", "1"),
    ],
)
def test_a_binding_that_is_not_exactly_one_is_no_principal(key: str, value: object) -> None:
    fields = msgpack.unpackb(bound().to_stamp())
    fields["session"][key] = value
    assert principal_from_stamp(msgpack.packb(fields)) is None


@pytest.mark.parametrize("key", SHELL.__slots__)
def test_a_binding_with_a_field_missing_is_no_principal(key: str) -> None:
    fields = msgpack.unpackb(bound().to_stamp())
    del fields["session"][key]
    assert principal_from_stamp(msgpack.packb(fields)) is None


@pytest.mark.parametrize(
    ("stamp", "assurance"),
    [
        (ALICE.to_stamp(), "session-bound"),
        (ALICE.to_stamp(), "node"),
        (bound().to_stamp(), "local-unix"),
        (bound().to_stamp(), "node"),
        (MACHINE.to_stamp(), "local-unix"),
        (MACHINE.to_stamp(), "session-bound"),
    ],
)
def test_an_assurance_that_does_not_go_with_the_rest_is_no_principal(
    stamp: bytes, assurance: str
) -> None:
    fields = msgpack.unpackb(stamp)
    assert principal_from_stamp(msgpack.packb({**fields, "assurance": assurance})) is None


def test_a_machine_is_never_a_process_of_this_one() -> None:
    stamp = MACHINE.to_stamp()
    assert msgpack.unpackb(stamp) == {
        "version": 1,
        "assurance": "node",
        "owner_node": "there",
        "broker_epoch": "e" * 32,
        "connection_id": "c" * 32,
        "session": None,
    }
    assert principal_from_stamp(stamp) == MACHINE
    assert Principal.from_stamp(stamp) is None
    assert (MACHINE.unix_uid, MACHINE.peer_pid, MACHINE.session) == (None, None, None)
    assert (MACHINE.assurance, ALICE.assurance) == ("node", "local-unix")


@pytest.mark.parametrize("key", ["unix_uid", "unix_gid", "peer_pid", "more"])
def test_a_machine_with_a_user_is_no_principal(key: str) -> None:
    fields = msgpack.unpackb(MACHINE.to_stamp())
    assert principal_from_stamp(msgpack.packb({**fields, key: 7})) is None


def test_a_machine_owns_what_no_user_does() -> None:
    assert NodePeer("there", "k" * 40).owner == "node:there"
    assert PeerCredentials(7, 8, 9).owner == 7
