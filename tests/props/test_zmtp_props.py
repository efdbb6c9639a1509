"""The server's side of ZMTP: any split gives the same, and any bytes are bounded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.io import zmtp, zmtp_frames
from brokerd.io.zmtp import Decoder, Message, Opened, Ping, Pong
from brokerd.io.zmtp_frames import ZmtpError
from tests.support import zmtp as by_hand

HELLO = by_hand.greeting() + by_hand.ready()

Told: TypeAlias = "tuple[list[object], bool]"
"""Events, and whether it ended in an error."""


class Forgetful(Decoder):
    """A deliberate mistake: what one feed left over is forgotten at the next."""

    def feed(self, data: bytes) -> None:
        self._buffer.clear()
        self._at = 0
        super().feed(data)


def told(chunks: Sequence[bytes], kind: type[Decoder] = Decoder) -> Told:
    decoder = kind()
    events: list[object] = []
    try:
        for chunk in chunks:
            decoder.feed(chunk)
            while (event := decoder.next()) is not None:
                events.append(event)
    except ZmtpError:
        return events, True
    return events, False


def split(data: bytes, cuts: Sequence[int]) -> list[bytes]:
    ends = sorted({cut % (len(data) + 1) for cut in cuts} | {len(data)})
    return [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]


payloads = st.one_of(st.binary(max_size=40), st.sampled_from([255, 256, 300]).map(bytes))
frames = st.one_of(
    st.lists(payloads, min_size=1, max_size=4).map(lambda parts: by_hand.message(*parts)),
    st.binary(max_size=16).map(lambda context: by_hand.command(b"PING", b"\0\x64" + context)),
    st.binary(max_size=16).map(lambda context: by_hand.command(b"PONG", context)),
)
noise = st.one_of(frames, st.binary(max_size=20), st.just(by_hand.command(b"SUBSCRIBE", b"x")))
starts = st.one_of(st.just(HELLO), st.just(b""), st.binary(max_size=70), st.just(HELLO[:-3]))
streams = st.tuples(starts, st.lists(noise, max_size=6)).map(
    lambda both: both[0] + b"".join(both[1])
)
cuts = st.lists(st.integers(0, 2_000), max_size=12)


@given(streams, cuts)
def test_any_split_gives_the_same(data: bytes, where: list[int]) -> None:
    assert told(split(data, where)) == told([data])


def test_the_check_of_splits_can_fail() -> None:
    data = HELLO + by_hand.message(b"header", b"body")
    assert told(split(data, [70, 100]), Forgetful) != told([data], Forgetful)


@given(st.lists(st.tuples(payloads, payloads), max_size=5))
def test_what_a_dealer_sends_arrives_as_it_is(messages: list[tuple[bytes, bytes]]) -> None:
    data = HELLO + b"".join(by_hand.message(*each) for each in messages)
    assert told([data]) == ([Opened(), *(Message(each) for each in messages)], False)


@given(st.lists(payloads, min_size=1, max_size=3))
def test_what_is_encoded_is_what_is_read(parts: list[bytes]) -> None:
    expected = Message(tuple(parts) if len(parts) <= zmtp.MAX_PARTS else ())
    assert told([HELLO + zmtp_frames.encode(tuple(parts))]) == ([Opened(), expected], False)


@given(st.binary(max_size=16))
def test_a_ping_is_told_with_its_context(context: bytes) -> None:
    data = HELLO + by_hand.command(b"PING", b"\0\x64" + context) + by_hand.command(b"PONG", context)
    assert told([data]) == ([Opened(), Ping(context), Pong()], False)
    assert zmtp_frames.pong(context) == by_hand.command(b"PONG", context)


LONG_HEAD = bytes((by_hand.LONG,))


@pytest.mark.parametrize(
    "after",
    [
        LONG_HEAD + (zmtp.MAX_BYTES + 1).to_bytes(8, "big"),
        LONG_HEAD + (2**63).to_bytes(8, "big"),
        by_hand.frame(bytes(1_000), by_hand.MORE)
        + LONG_HEAD
        + (zmtp.MAX_BYTES - 999).to_bytes(8, "big"),
        by_hand.frame(b"", by_hand.MORE) * (zmtp.MAX_FRAMES + 1),
        by_hand.frame(b"\x04PING" + bytes(19), by_hand.COMMAND),
        by_hand.frame(b"\x04PING\0", by_hand.COMMAND),
        by_hand.frame(b"\x05READY", by_hand.COMMAND),
        by_hand.frame(b"", by_hand.COMMAND),
        by_hand.frame(b"\0", by_hand.COMMAND),
        by_hand.frame(b"\xffx", by_hand.COMMAND),
        by_hand.frame(b"\x04PONG", by_hand.COMMAND | by_hand.MORE),
        by_hand.frame(b"\x04PONG" + bytes(zmtp.MAX_COMMAND_BYTES), by_hand.COMMAND),
        b"\x08\0",
        b"\xff\0",
    ],
)
def test_what_goes_over_a_bound_is_an_error_before_it_is_kept(after: bytes) -> None:
    assert told([HELLO + after]) == ([Opened()], True)


def test_the_largest_message_is_taken() -> None:
    parts = bytes(zmtp.MAX_BYTES - 10), bytes(10)
    assert told([HELLO + by_hand.message(*parts)]) == ([Opened(), Message(parts)], False)


@pytest.mark.parametrize(
    "start",
    [
        b"GET / HTTP/1.1\r\n",
        by_hand.greeting(mechanism=b"PLAIN"),
        by_hand.greeting(mechanism=b"NULLX"),
        by_hand.greeting(version=(2, 0)),
        by_hand.greeting(signature=b"\xff" + bytes(9)),
        by_hand.greeting() + by_hand.message(b"a", b"b"),
        by_hand.greeting() + by_hand.command(b"PING", b"\0\0"),
        by_hand.greeting() + by_hand.ready(((b"Socket-Type", b"SUB"),)),
        by_hand.greeting() + by_hand.ready(()),
        by_hand.greeting() + by_hand.command(b"READY", b"\x0bSocket-Type\0\0\0\x07DEALER"),
        by_hand.greeting() + by_hand.command(b"READY", b"\0\0\0\0\0"),
        by_hand.greeting() + by_hand.command(b"READY", b"\x0bSock"),
    ],
)
def test_another_handshake_is_an_error(start: bytes) -> None:
    assert told([start]) == ([], True)


def test_who_says_too_little_is_waited_for() -> None:
    for size in range(len(HELLO)):
        assert told([HELLO[:size]]) == ([], False)
    assert told([HELLO]) == ([Opened()], False)
