"""Session keys: only sound ones, and only signatures that are the one of their message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from brokerd import keys
from brokerd.keys import SessionKey, sound_key, verify

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
Point: TypeAlias = "tuple[int, int]"

# The curve, written again from its definition: the table in the code must be what this finds.


def add(one: Point, other: Point) -> Point:
    (x1, y1), (x2, y2) = one, other
    twist = D * x1 * x2 * y1 * y2 % P
    x3 = (x1 * y2 + x2 * y1) * pow(1 + twist, P - 2, P)
    y3 = (y1 * y2 + x1 * x2) * pow(1 - twist, P - 2, P)
    return x3 % P, y3 % P


def times(count: int, point: Point) -> Point:
    total = (0, 1)
    while count:
        if count & 1:
            total = add(total, point)
        point, count = add(point, point), count >> 1
    return total


def x_of(y: int) -> int | None:
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    root = pow(square, (P + 3) // 8, P)
    if root * root % P != square:
        root = root * pow(2, (P - 1) // 4, P) % P
    return root if root * root % P == square else None


def small_order_points() -> set[Point]:
    """The eight multiples of a point of order 8: what is left of some point times L."""
    for y in range(2, 100):
        if (x := x_of(y)) is not None:
            found = times(L, (x, y))
            if times(4, found) != (0, 1):
                return {times(count, found) for count in range(8)}
    raise AssertionError("there is no point of order 8")


def encodings(point: Point) -> Iterator[bytes]:
    """Every 32 bytes that a lenient reader takes for this point."""
    x, y = point
    for number in (y, y + P):
        for sign in (0, 1) if x == 0 else (x & 1,):
            if number < 2**255:
                yield (number | sign << 255).to_bytes(32, "little")


SMALL = [raw for point in sorted(small_order_points()) for raw in encodings(point)]
IDENTITY = (1).to_bytes(32, "little")
KEY = SessionKey.from_seed(bytes(range(32)))
MESSAGE = b"what was signed"
SIGNATURE = KEY.sign(MESSAGE)


def test_there_are_fourteen_encodings_of_small_order() -> None:
    assert len(SMALL) == len(set(SMALL)) == 14


@pytest.mark.parametrize("raw", SMALL, ids=bytes.hex)
def test_no_point_of_small_order_is_a_key_or_in_a_signature(raw: bytes) -> None:
    assert not sound_key(raw)
    for scalar in (bytes(32), SIGNATURE[32:], (L - 1).to_bytes(32, "little")):
        assert not verify(raw, raw + scalar, MESSAGE)
        assert not verify(raw, SIGNATURE[:32] + scalar, MESSAGE)
        assert not verify(KEY.public_key, raw + scalar, MESSAGE)


def test_the_library_alone_would_take_a_signature_of_everything() -> None:
    """Why there is a table: without it the check above would fail."""
    assert keys._verified(IDENTITY, IDENTITY + bytes(32), MESSAGE)
    assert keys._verified(IDENTITY, IDENTITY + bytes(32), b"anything else")
    assert not verify(IDENTITY, IDENTITY + bytes(32), MESSAGE)


@given(st.integers(0, 18), st.integers(0, 1))
def test_a_y_that_is_not_reduced_is_no_key(over: int, sign: int) -> None:
    raw = (P + over | sign << 255).to_bytes(32, "little")
    assert not sound_key(raw)
    assert not verify(KEY.public_key, raw + SIGNATURE[32:], MESSAGE)


@given(st.integers(2, P - 2), st.integers(0, 1))
def test_only_points_of_the_curve_are_keys(y: int, sign: int) -> None:
    raw = (y | sign << 255).to_bytes(32, "little")
    assert sound_key(raw) == (x_of(y) is not None and raw not in SMALL)


@pytest.mark.parametrize("multiple", [1, 2, 15])
def test_a_scalar_that_is_not_reduced_is_no_second_signature(multiple: int) -> None:
    scalar = int.from_bytes(SIGNATURE[32:], "little") + multiple * L
    forged = SIGNATURE[:32] + scalar.to_bytes(32, "little")
    assert verify(KEY.public_key, SIGNATURE, MESSAGE)
    assert not verify(KEY.public_key, forged, MESSAGE)


def test_every_flipped_bit_is_seen() -> None:
    for bit in range(512):
        forged = (int.from_bytes(SIGNATURE, "big") ^ 1 << bit).to_bytes(64, "big")
        assert not verify(KEY.public_key, forged, MESSAGE)
    for bit in range(256):
        other = (int.from_bytes(KEY.public_key, "big") ^ 1 << bit).to_bytes(32, "big")
        assert not verify(other, SIGNATURE, MESSAGE)


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=400))
def test_honest_keys_sign_as_the_library_does(seed: bytes, message: bytes) -> None:
    mine, library = SessionKey.from_seed(seed), Ed25519PrivateKey.from_private_bytes(seed)
    signature = mine.sign(message)
    assert signature == library.sign(message)
    assert mine.public_key == library.public_key().public_bytes_raw()
    assert mine.seed == seed
    assert sound_key(mine.public_key)
    assert verify(mine.public_key, signature, message)
    assert not verify(mine.public_key, signature, message + b"x")


@given(st.binary(max_size=70), st.binary(max_size=70), st.binary(max_size=8))
def test_verifying_never_raises(key: bytes, signature: bytes, message: bytes) -> None:
    assert not verify(key, signature, message)


def test_lengths_are_exact() -> None:
    for wrong in (KEY.public_key[:-1], KEY.public_key + b"\0", b""):
        assert not sound_key(wrong)
        assert not verify(wrong, SIGNATURE, MESSAGE)
    for wrong in (SIGNATURE[:-1], SIGNATURE + b"\0", b""):
        assert not verify(KEY.public_key, wrong, MESSAGE)
    with pytest.raises(ValueError, match="32"):
        SessionKey.from_seed(bytes(31))


def test_a_key_never_shows_its_seed() -> None:
    seed = bytes(range(200, 232))
    key = SessionKey.from_seed(seed)
    shown = f"{key!r} {key} {[key]}"
    assert seed.hex()[:16] not in shown
    assert str(seed)[2:20] not in shown
    assert key.public_key.hex()[:8] in shown


def test_keys_are_compared_by_what_they_open() -> None:
    assert SessionKey.from_seed(bytes(32)) == SessionKey.from_seed(bytes(32))
    assert len({SessionKey.generate(), SessionKey.generate()}) == 2
    assert SessionKey.generate() != "key"
