"""CURVE keys as text: 40 characters of Z85 (ZeroMQ RFC 32) for 32 bytes."""

from __future__ import annotations

import re
from typing import Final

import zmq

KEY_LENGTH: Final = 40
"""Characters of a key."""

_ALPHABET: Final = (
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
)
_Z85: Final = re.compile(f"[{re.escape(_ALPHABET)}]{{{KEY_LENGTH}}}", re.ASCII)


def is_key(text: str) -> bool:
    """Whether ``text`` has the form of a key."""
    if _Z85.fullmatch(text) is None:
        return False
    # Five characters are four bytes; the highest of them mean more than four bytes can hold.
    return all(_value(text[at : at + 5]) < 2**32 for at in range(0, KEY_LENGTH, 5))


def new_pair() -> tuple[str, str]:
    """A new (public, secret) key. The public one never starts with ``-``, as an option would."""
    while True:
        public, secret = (each.decode() for each in zmq.curve_keypair())
        if not public.startswith("-"):
            return public, secret


def public_of(secret: str) -> str:
    """The public key of a secret one."""
    return zmq.curve_public(secret.encode()).decode()


def _value(group: str) -> int:
    value = 0
    for character in group:
        value = value * 85 + _ALPHABET.index(character)
    return value
