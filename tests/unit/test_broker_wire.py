"""Headers: the grammar row by row, and what a peer may not say."""

from __future__ import annotations

import msgpack
import pytest

from brokerd.limits import MAX_HEADER_BYTES
from brokerd.wire import (
    ALLOCATED_NAME,
    BROKER_ONLY,
    Header,
    HeaderError,
    decode_header,
    encode_header,
)

PEER = "a" * 32
REQUEST: dict[str, object] = {"v": 1, "type": "request", "id": "i1", "to": "term", "command": "x.y"}
RESPONSE: dict[str, object] = {"v": 1, "type": "response", "id": "i1", "to": PEER, "rc": 0}
EVENT: dict[str, object] = {
    "v": 1,
    "type": "event",
    "command": "x.y",
    "recipient_connection": PEER,
}
FROM_BROKER: dict[str, object] = {"from": PEER, "gap": True}


def refused(fields: dict[str, object], *, from_broker: bool = False) -> HeaderError:
    with pytest.raises(HeaderError) as caught:
        decode_header(encode_header(fields), from_broker=from_broker)
    return caught.value


@pytest.mark.parametrize("fields", [REQUEST, RESPONSE, EVENT])
def test_each_message_type_of_a_peer_is_read(fields: dict[str, object]) -> None:
    assert decode_header(encode_header(fields), from_broker=False) == Header(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("fields", [REQUEST, RESPONSE, EVENT])
@pytest.mark.parametrize("index", range(4))
def test_every_key_of_a_shape_is_needed(fields: dict[str, object], index: int) -> None:
    missing = sorted(fields)[index]
    error = refused({key: value for key, value in fields.items() if key != missing})
    assert error.field == missing


def test_a_topic_event_of_the_broker_is_read() -> None:
    fields = {"v": 1, "type": "event", "command": "broker.topic", "from": "brokerd"}
    header = decode_header(
        encode_header({**fields, "topic": "a.b", "seq": 3, "gap": True}), from_broker=True
    )
    assert (header.topic, header.seq, header.gap, header.from_) == ("a.b", 3, True, "brokerd")


@pytest.mark.parametrize("key", sorted(BROKER_ONLY))
@pytest.mark.parametrize("spell", [str.lower, str.upper, str.title])
def test_a_broker_only_key_of_a_peer_is_dropped(key: str, spell: object) -> None:
    assert callable(spell)
    claimed = {**REQUEST, spell(key): "brokerd"}
    assert decode_header(encode_header(claimed), from_broker=False) == Header(**REQUEST)  # type: ignore[arg-type]


def test_the_broker_must_say_who_sent_it() -> None:
    assert refused(REQUEST, from_broker=True).field == "from"
    header = decode_header(encode_header({**REQUEST, **FROM_BROKER}), from_broker=True)
    assert header.from_ == PEER


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("v", True),
        ("v", 2),
        ("v", 1.0),
        ("type", "REQUEST"),
        ("type", None),
        ("type", {}),
        ("id", ""),
        ("id", "a b"),
        ("id", "a\n"),
        ("id", "é"),
        ("id", "x" * 129),
        ("id", 1),
        ("to", "Term"),
        ("to", "term\n"),
        ("to", "term..x"),
        ("to", "term.-x"),
        ("to", "../x"),
        ("command", "1x"),
        ("command", "x" * 65),
        ("command", "x\n"),
        ("unknown", 1),
        ("rc", 0),
        ("Id", "x"),
    ],
)
def test_a_wrong_value_is_refused_by_name_of_its_field(key: str, value: object) -> None:
    error = refused({**REQUEST, key: value})
    assert error.field == (key if key in REQUEST else "header")
    assert error.request_id == ("i1" if key not in {"id", "type"} else None)


@pytest.mark.parametrize("rc", [True, 1, -1, 21, 0.0, "0", None])
def test_a_return_code_is_one_of_four(rc: object) -> None:
    assert refused({**RESPONSE, "rc": rc}).field == "rc"


def duplicate(*pairs: tuple[str, object]) -> bytes:
    packed = b"".join(msgpack.packb(part) for pair in pairs for part in pair)
    return bytes((0x80 + len(pairs),)) + packed


def test_a_duplicate_key_is_refused_and_the_id_still_read() -> None:
    raw = duplicate(*REQUEST.items(), ("to", "other"))
    with pytest.raises(HeaderError) as caught:
        decode_header(raw, from_broker=False)
    assert caught.value.request_id == "i1"


def test_a_duplicate_id_is_nobodys() -> None:
    with pytest.raises(HeaderError) as caught:
        decode_header(duplicate(*REQUEST.items(), ("id", "i2")), from_broker=False)
    assert caught.value.request_id is None


@pytest.mark.parametrize("prefix", [b"\xde\x00\x05", b"\xdf\x00\x00\x00\x05"])
def test_a_longer_form_of_the_same_map_is_read(prefix: bytes) -> None:
    raw = prefix + encode_header(REQUEST)[1:]
    assert decode_header(raw, from_broker=False).id == "i1"


def test_size_is_checked_before_anything_is_decoded() -> None:
    with pytest.raises(HeaderError, match="over 4096 bytes"):
        decode_header(b"\xc1" * (MAX_HEADER_BYTES + 1), from_broker=False)
    with pytest.raises(HeaderError):
        encode_header({"command": "x" * MAX_HEADER_BYTES})


def test_no_value_of_the_sender_is_in_an_error() -> None:
    canary = "canary-7f3a"
    error = refused({**REQUEST, "to": canary + "/", canary: canary})
    assert canary not in repr(error) + str(error.refusal.body())


@pytest.mark.parametrize(
    ("name", "reserved"),
    [
        ("t0-" + "a" * 22, True),
        ("c1z141z3-" + "2" * 20 + "z7", True),  # the greatest uid
        ("t0-" + "a" * 21, False),
        ("t0-" + "a" * 23, False),
        ("t0-" + "a" * 21 + "1", False),
        ("t0-" + "a" * 21 + "8", False),
        ("t-" + "a" * 22, False),
        ("t12345678-" + "a" * 22, False),
        ("s0-" + "a" * 22, False),
        ("t0-" + "a" * 22 + "\n", False),
        ("xt0-" + "a" * 22, False),
    ],
)
def test_which_names_only_the_broker_gives(name: str, reserved: bool) -> None:
    assert (ALLOCATED_NAME.fullmatch(name) is not None) is reserved
