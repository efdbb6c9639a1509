"""Invariant: any bytes either decode or raise the one typed error; a stamp never raises at all."""

from __future__ import annotations

import contextlib

import msgpack
from hypothesis import given
from hypothesis import strategies as st

from brokerd import bodies
from brokerd.core import BrokerCore, PeerCredentials
from brokerd.errors import Refusal
from brokerd.limits import DEFAULTS
from brokerd.principal import Principal, parse_peer_address
from brokerd.wire import HeaderError, decode_header, encode_header

KEYS = st.sampled_from(
    ["v", "type", "id", "to", "command", "rc", "recipient_connection", "from", "FROM", "gap", "seq"]
)
VALUES = st.one_of(
    st.sampled_from([1, 0, 10, True, None, "request", "response", "event", "brokerd", "a" * 32]),
    st.text(max_size=40),
    st.integers(-(2**63), 2**64 - 1),
    st.binary(max_size=8),
    st.floats(),
    st.lists(st.none(), max_size=2),
)
FIELDS = st.dictionaries(KEYS | st.text(max_size=8), VALUES, max_size=12)
# Maps as a peer would write them, damaged maps, and plain noise.
HEADERS = st.one_of(
    FIELDS.map(msgpack.packb),
    st.builds(
        lambda fields, at, byte: _damage(msgpack.packb(fields), at, byte),
        FIELDS,
        st.integers(0, 200),
        st.integers(0, 255),
    ),
    st.binary(max_size=200),
)


def _damage(raw: bytes, at: int, byte: int) -> bytes:
    at %= max(len(raw), 1)
    return raw[:at] + bytes((byte,)) + raw[at + 1 :]


@given(HEADERS, st.booleans())
def test_a_header_decodes_or_raises_its_error(raw: bytes, from_broker: bool) -> None:
    try:
        header = decode_header(raw, from_broker=from_broker)
    except HeaderError:
        return
    assert header.type in {"request", "response", "event"}
    if not from_broker:
        assert (header.from_, header.topic, header.seq, header.gap) == (None, None, None, None)


@given(HEADERS)
def test_what_decodes_encodes_to_the_same(raw: bytes) -> None:
    with contextlib.suppress(HeaderError):
        header = decode_header(raw, from_broker=False)
        fields = {key: getattr(header, key) for key in type(header).__slots__}
        again = encode_header({key: value for key, value in fields.items() if value is not None})
        assert decode_header(again, from_broker=False) == header


@given(HEADERS)
def test_a_stamp_never_raises(raw: bytes) -> None:
    assert Principal.from_stamp(raw) is None


@given(st.text(max_size=60))
def test_an_address_never_raises(text: str) -> None:
    found = parse_peer_address(text)
    assert found is None or text.endswith(f"{found.pid}")


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_a_body_decodes_or_raises_its_error(raw: bytes) -> None:
    with contextlib.suppress(Refusal):
        assert isinstance(bodies.decode_object(raw), dict)


@given(st.lists(HEADERS, max_size=4))
def test_the_core_never_raises(frames: list[bytes]) -> None:
    core = BrokerCore(epoch="e" * 32, node="n", uid=0, pid=1, limits=DEFAULTS, now_ms=0)
    peer = core.accept(PeerCredentials(0, 0, 9), 0)
    core.receive(peer, frames, 0)
    core.verify()
