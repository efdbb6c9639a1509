"""Ed25519 keys of verified sessions, and the strict check of their signatures.

The library verifies; it also takes encodings of a point that are not the only one, and points of
small order, under which one signature is good for many messages. Both are refused here first.
"""

from __future__ import annotations

import hmac
import secrets
from functools import lru_cache
from typing import Final, Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from brokerd.encodings import KEY_BYTES, SIGNATURE_BYTES

SEED_BYTES: Final = 32

_P: Final = 2**255 - 19
_D: Final = -121665 * pow(121666, -1, _P) % _P
_L: Final = 2**252 + 27742317777372353535851937790883648493
_SIGN: Final = 1 << 255
"""The bit of an encoded point that says which of the two x it has."""

_Y8: Final = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
"""y of two of the four points of order 8; the other two have its negative."""

_SMALL_ORDER_Y: Final = frozenset((0, 1, _P - 1, _Y8, _P - _Y8))
"""y of all eight points of small order; whichever x is encoded, the point is one of them."""


class SessionKey:
    """A private key of a session. Compared, shown and logged without its seed."""

    __slots__ = ("_private", "public_key")

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public_key: bytes = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    @classmethod
    def generate(cls) -> Self:
        """A new key from the system's random numbers."""
        return cls.from_seed(secrets.token_bytes(SEED_BYTES))

    @classmethod
    def from_seed(cls, seed: bytes) -> Self:
        """The key of this seed (32 bytes). Raises ValueError for another length."""
        return cls(Ed25519PrivateKey.from_private_bytes(seed))

    @property
    def seed(self) -> bytes:
        """The secret itself, to hand to the process that shall hold it; never to print."""
        return self._private.private_bytes_raw()

    def sign(self, message: bytes) -> bytes:
        """The signature (64 bytes) of a message."""
        return self._private.sign(message)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SessionKey):
            return NotImplemented
        return hmac.compare_digest(self.public_key, other.public_key)

    def __hash__(self) -> int:
        return hash(self.public_key)

    def __repr__(self) -> str:
        return f"SessionKey({self.public_key.hex()[:8]})"


@lru_cache(maxsize=1_024)
def sound_key(public_key: bytes) -> bool:
    """Whether these bytes are the one encoding of a point that may be a public key.

    False for another length, a y that is not reduced, a point of small order, and a y that no
    point of the curve has.
    """
    return len(public_key) == KEY_BYTES and _sound_point(public_key) and _on_curve(public_key)


def verify(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the key signed exactly this message. Never raises.

    Strict: the key is sound, the signature's point has its one encoding and is not of small order,
    and its scalar is reduced, so that no second signature can be made from a first.
    """
    if len(signature) != SIGNATURE_BYTES or not sound_key(public_key):
        return False
    point, scalar = signature[:32], int.from_bytes(signature[32:], "little")
    return _sound_point(point) and scalar < _L and _verified(public_key, signature, message)


def _verified(public_key: bytes, signature: bytes, message: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _y(point: bytes) -> int:
    return int.from_bytes(point, "little") & ~_SIGN


def _sound_point(point: bytes) -> bool:
    """Reduced and not of small order. (x = 0 with its sign set is small order too.)"""
    y = _y(point)
    return y < _P and y not in _SMALL_ORDER_Y


def _on_curve(point: bytes) -> bool:
    """Whether x squared = (y squared - 1) / (d y squared + 1) has a root (Euler's criterion)."""
    square = _y(point) ** 2
    return pow((square - 1) * (_D * square + 1), (_P - 1) // 2, _P) == 1
