"""What session keys sign, byte for byte, and the JSON of the same fields."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.encodings import (
    CAPABILITIES,
    DEFAULT_OPEN,
    ENROL,
    MAX_U32,
    MAX_U64,
    PANE_SHELL,
    PURPOSES,
    RESTRICTED,
    RESUME,
    ROLES,
    TERM,
    Proof,
    allocation_transcript,
    capabilities_hash,
    encode_capabilities,
    key_hash,
    parse_hex,
    parse_u64,
)


def hex_id(number: int) -> str:
    return bytes([number] * 16).hex()


CHILD = Proof(
    purpose=ENROL,
    broker_epoch=hex_id(1),
    connection_id=hex_id(2),
    challenge_id=hex_id(3),
    nonce=bytes([4] * 32),
    grant_id=hex_id(5),
    record_id=hex_id(6),
    instance_id=hex_id(7),
    incarnation=hex_id(8),
    owner_uid=0x01020304,
    parent_instance=hex_id(9),
    parent_incarnation=hex_id(10),
    parent_key_hash=bytes([11] * 32),
    pane_id=0x0102030405060708,
    pane_generation=9,
    role=PANE_SHELL,
    public_key_hash=bytes([12] * 32),
    capabilities_hash=bytes([13] * 32),
    binding_generation=1,
    grant_expires_ms=0x1112131415161718,
    challenge_expires_ms=0x2122232425262728,
)
TERM_AGAIN = replace(
    CHILD,
    purpose=RESUME,
    role=TERM,
    grant_id=None,
    parent_instance=None,
    parent_incarnation=None,
    parent_key_hash=None,
    pane_id=None,
    pane_generation=None,
    grant_expires_ms=None,
    binding_generation=2,
)


def allocation(policy: str) -> bytes:
    return allocation_transcript(hex_id(1), hex_id(2), bytes([3] * 32), policy)


@pytest.mark.parametrize(
    ("raw", "size", "digest"),
    [
        (
            CHILD.transcript(),
            366,
            "94b68b25973c08f6ea506f4dcf80d50d6bd9a0b2817107693ebe70889ad95bb1",
        ),
        (
            TERM_AGAIN.transcript(),
            256,
            "463b8b0b82c270441fde9c2192b4b4024a4e0fa0e85104e2ad3767df4ff00015",
        ),
        (
            allocation(DEFAULT_OPEN),
            111,
            "aeefb1d6797352ddbe46daeea0ccab00b8632ca227236e74bf5cec9e26b7050b",
        ),
        (
            allocation(RESTRICTED),
            109,
            "ed5d3214e1a80327e612cb7d80cfff0b15c2d70d3fa95f37413f2930a2dd5a20",
        ),
        (
            encode_capabilities(CAPABILITIES),
            71,
            "24c2b00ffe296f49c271033a06c3afef8483350009656b4b393a1ffaa563c150",
        ),
    ],
    ids=["enrol", "resume", "default-open", "restricted", "capabilities"],
)
def test_the_vectors_of_the_contract(raw: bytes, size: int, digest: str) -> None:
    assert (len(raw), hashlib.sha256(raw).hexdigest()) == (size, digest)


def test_hashes_are_of_the_encodings() -> None:
    encoded = encode_capabilities(CAPABILITIES)
    assert capabilities_hash(CAPABILITIES) == hashlib.sha256(encoded).digest()
    assert key_hash(b"k" * 32) == hashlib.sha256(b"k" * 32).digest()


@given(st.permutations(CAPABILITIES), st.integers(1, 6))
def test_a_capability_set_has_one_encoding(order: list[str], count: int) -> None:
    chosen = order[:count]
    expected = struct.pack("!H", count)
    for token in sorted(chosen):
        expected += struct.pack("!H", len(token)) + token.encode()
    assert encode_capabilities(chosen) == expected


@pytest.mark.parametrize(
    "bad", [[], ["input", "input"], ["Input"], ["input", "other"], ["input\n"], [*CAPABILITIES] * 2]
)
def test_no_encoding_for_what_is_no_set_of_capabilities(bad: list[str]) -> None:
    with pytest.raises(ValueError, match="capabilities"):
        encode_capabilities(bad)


ids = st.binary(min_size=16, max_size=16).map(bytes.hex)
hashes = st.binary(min_size=32, max_size=32)
numbers = st.integers(0, MAX_U64)
proofs = st.builds(
    Proof,
    purpose=st.sampled_from(PURPOSES),
    broker_epoch=ids,
    connection_id=ids,
    challenge_id=ids,
    nonce=hashes,
    grant_id=st.none() | ids,
    record_id=ids,
    instance_id=ids,
    incarnation=ids,
    owner_uid=st.integers(0, MAX_U32),
    parent_instance=st.none() | ids,
    parent_incarnation=st.none() | ids,
    parent_key_hash=st.none() | hashes,
    pane_id=st.none() | numbers,
    pane_generation=st.none() | numbers,
    role=st.sampled_from(ROLES),
    public_key_hash=hashes,
    capabilities_hash=hashes,
    binding_generation=numbers,
    grant_expires_ms=st.none() | numbers,
    challenge_expires_ms=numbers,
)


@given(proofs)
def test_json_says_the_same_proof(proof: Proof) -> None:
    assert Proof.from_json(proof.to_json()) == proof


@given(proofs, proofs)
def test_different_proofs_never_sign_the_same_bytes(one: Proof, other: Proof) -> None:
    assert (one == other) == (one.transcript() == other.transcript())


@given(proofs, proofs, st.data())
def test_every_single_field_is_signed(one: Proof, other: Proof, data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(list(one.to_json())))
    mixed = replace(one, **{key: getattr(other, key)})
    assert (mixed == one) == (mixed.transcript() == one.transcript())


BAD: dict[str, list[object]] = {
    "purpose": ["", "Enrol", 1, None],
    "role": ["shell", None, []],
    "broker_epoch": ["A" * 32, "a" * 31, "a" * 33, "a" * 31 + "\n", None, 1, b"a" * 32],
    "grant_id": ["", "a" * 31, False],
    "nonce": ["a" * 63, "A" * 64, None, b"a" * 32],
    "parent_key_hash": ["a" * 62, 0],
    "owner_uid": ["0", True, -1, 2**32, 1.0, None],
    "pane_id": [1, "01", "-1", "+1", " 1", "1 ", "1\n", "", "1_0", "\u0661", str(2**64)],
    "binding_generation": [None, 1, "1.0"],
    "challenge_expires_ms": [None, "x"],
}


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in BAD.items() for value in values]
)
def test_json_that_is_not_exactly_a_proof_is_none(key: str, value: object) -> None:
    fields = CHILD.to_json()
    assert Proof.from_json({**fields, key: value}) is None


def test_a_field_more_or_less_is_no_proof() -> None:
    fields = CHILD.to_json()
    assert Proof.from_json({**fields, "more": None}) is None
    for key in fields:
        assert Proof.from_json({name: fields[name] for name in fields if name != key}) is None


@pytest.mark.parametrize(
    "change",
    [
        {"nonce": b"n" * 31},
        {"grant_id": "5" * 31},
        {"record_id": "G" * 32},
        {"owner_uid": 2**32},
        {"pane_id": -1},
        {"purpose": "other"},
    ],
)
def test_a_proof_out_of_range_has_no_transcript(change: dict[str, object]) -> None:
    with pytest.raises((ValueError, struct.error)):
        replace(CHILD, **change).transcript()  # type: ignore[arg-type]  # wrong on purpose


@given(numbers)
def test_u64_has_one_form(number: int) -> None:
    assert parse_u64(str(number)) == number
    assert parse_u64(f"0{number}") is None
    assert parse_u64(number) is None
    assert parse_u64(str(number + 2**64)) is None


@given(st.text())
def test_u64_is_what_prints_the_same(text: str) -> None:
    found = parse_u64(text)
    assert found is None or str(found) == text


@given(st.binary(max_size=40))
def test_hex_is_lowercase_and_of_its_size(raw: bytes) -> None:
    assert parse_hex(raw.hex(), len(raw)) == raw
    assert parse_hex(raw.hex(), len(raw) + 1) is None
    assert parse_hex(raw.hex() + "\n", len(raw)) is None
    upper = raw.hex().upper()
    assert upper == raw.hex() or parse_hex(upper, len(raw)) is None
    assert parse_hex(raw, len(raw)) is None
