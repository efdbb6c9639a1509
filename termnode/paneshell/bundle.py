"""What a launch descriptor says: its bytes, and what must hold between the facts in them.

One byte of version, the length of the JSON (32 bits, big-endian), the JSON ``{grant, record}``, and
the seed of the key.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from brokerd.client import (
    PANE_SHELL,
    GrantView,
    Json,
    MalformedReply,
    RecordView,
    Refusal,
    SessionKey,
    decode_object,
    encode,
)

VERSION: Final = 1
MAX_JSON: Final = 16_384
SEED_BYTES: Final = 32
_HEAD: Final = struct.Struct("!BI")
MIN_SIZE: Final = _HEAD.size + 1 + SEED_BYTES
MAX_SIZE: Final = _HEAD.size + MAX_JSON + SEED_BYTES
_PENDING: Final = "pending"


class BadDescriptor(Exception):
    """There is no launch to make of it; says why in one line, without anything that was in it."""


@dataclass(frozen=True, slots=True)
class LaunchBundle:
    """What a pane's process is started with: the bodies of its grant and record, and its key.

    ``seed`` is the secret (32 bytes) and is not shown.
    """

    grant: Mapping[str, Json]
    record: Mapping[str, Json]
    seed: bytes = field(repr=False)


def pack(bundle: LaunchBundle) -> bytes:
    """The bytes that say this. Raises BadDescriptor for what ``unpack`` would not take."""
    _check(bundle)
    text = encode({"grant": bundle.grant, "record": bundle.record})
    if len(text) > MAX_JSON:
        raise BadDescriptor(f"the launch has more than {MAX_JSON} bytes of JSON")
    return _HEAD.pack(VERSION, len(text)) + text + bundle.seed


def unpack(content: bytes) -> LaunchBundle:
    """The launch that these bytes (MIN_SIZE to MAX_SIZE) say. Raises BadDescriptor."""
    bundle = _parse(content)
    _check(bundle)
    return bundle


def _parse(content: bytes) -> LaunchBundle:
    version, size = _HEAD.unpack_from(content)
    if version != VERSION:
        raise BadDescriptor("the launch descriptor is of another version")
    if len(content) != _HEAD.size + size + SEED_BYTES:
        raise BadDescriptor("the launch descriptor has a wrong length inside")
    text, seed = content[_HEAD.size : -SEED_BYTES], content[-SEED_BYTES:]
    try:
        found = decode_object(text)
    except Refusal:
        raise BadDescriptor("the launch descriptor is not sound JSON") from None
    grant, record = found.pop("grant", None), found.pop("record", None)
    if found or not isinstance(grant, dict) or not isinstance(record, dict):
        raise BadDescriptor("the launch descriptor is not exactly a grant and a record")
    return LaunchBundle(grant, record, seed)


def _same(key: str) -> Callable[[GrantView, RecordView], bool]:
    return lambda grant, record: bool(getattr(grant, key) == getattr(record, key))


_RULES: Final[tuple[tuple[str, Callable[[GrantView, RecordView], bool]], ...]] = (
    ("its grant is for another record", _same("record_id")),
    ("its grant is for another incarnation", _same("incarnation")),
    ("its grant is not pending", lambda grant, _: grant.state == _PENDING),
    ("its record is not pending", lambda _, record: record.state == _PENDING),
    ("its record was held before", lambda _, record: record.binding_generation == 0),
    ("its record is no pane shell's", lambda _, record: record.role == PANE_SHELL),
    ("its record is another user's", lambda _, record: record.owner_uid == os.geteuid()),
    ("its record is of no pane", lambda _, record: record.pane_id != 0),
    ("its pane has no generation", lambda _, record: record.pane_generation != 0),
)
"""What must hold between a grant and its record: what to say when it does not, and the test."""


def _check(bundle: LaunchBundle) -> None:
    try:
        grant, record = GrantView.from_json(bundle.grant), RecordView.from_json(bundle.record)
    except MalformedReply:
        raise BadDescriptor("the launch descriptor has a malformed grant or record") from None
    for words, holds in _RULES:
        if not holds(grant, record):
            raise BadDescriptor(f"the launch descriptor is not for this process: {words}")
    if len(bundle.seed) != SEED_BYTES or _public(bundle.seed) != grant.public_key:
        raise BadDescriptor("the launch descriptor's key is not the one that was granted")


def _public(seed: bytes) -> str:
    return SessionKey.from_seed(seed).public_key.hex()
