"""Stamps and kernel addresses: exactly one way to a principal, nothing by default."""

from __future__ import annotations

import msgpack
import pytest

from brokerd.principal import PeerCredentials, Principal, parse_peer_address

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
