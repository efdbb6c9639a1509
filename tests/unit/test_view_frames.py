"""The view protocol's frames: what is refused, and how they are cut."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace

import msgpack
import pytest

from termnode.terminal.engine import Style
from termnode.view.frames import (
    MAX_FRAME,
    BadFrame,
    Decoder,
    ServiceDecoder,
    encode,
    encode_line,
    encode_pane,
)
from termnode.view.messages import (
    Ack,
    Attach,
    Bye,
    Cursor,
    Done,
    FromView,
    Input,
    Key,
    Modes,
    PaneState,
    Pasted,
    Reason,
    Text,
)

STATE = PaneState(
    1, 2, 80, 24, 7, 3, (), Cursor(4, 5, visible=True, shape=2), Modes(mouse=1002), "t", "running",
    full=True, revision=9,
)  # fmt: skip


def frame(values: object) -> bytes:
    body: bytes = msgpack.packb(values)
    return struct.pack(">I", len(body)) + body


def attach(**other: object) -> dict[str, object]:
    good = {
        "t": "attach", "token": "x", "cols": 80, "rows": 24, "read_only": False, "tab": None,
        "env": {}, "watch": None, "v": 2,
    }  # fmt: skip
    return {**good, **other}


def test_the_good_frame_of_the_refusals_below_is_taken() -> None:
    assert ServiceDecoder().feed(frame(attach())) == [Attach("x", 80, 24)]


@pytest.mark.parametrize(
    "values",
    [
        attach(t="hello"), attach(t="welcome"), attach(t=7), attach(more=1), attach(v=1),
        attach(cols=0), attach(cols=1001), attach(rows=501), attach(rows=2.0), attach(cols=True),
        attach(token=b"x"), attach(token="x" * 129), attach(read_only=1), attach(tab=-1),
        attach(env={"A": 1}), attach(env={"A": "x" * 4097}), attach(env=[]),
        {key: value for key, value in attach().items() if key != "env"},
        [], None, 3, "attach",
        {"t": "input", "pane": 1, "items": [["x", "a"]]},
        {"t": "input", "pane": 1, "items": [["k"]]},
        {"t": "input", "pane": 1, "items": [["k", "a", "b"]]},
        {"t": "input", "pane": 1, "items": [[]]},
        {"t": "input", "pane": 1, "items": [["t", "a"]] * 1025},
        {"t": "do", "req": 1, "verb": "x", "body": {"a": b"bytes"}},
        {"t": "do", "req": 1, "verb": "x", "body": []},
        {"t": "page", "req": 1, "pane": 1, "line": 0, "lines": 501},
        {"t": "ack", "n": 2**63},
    ],
)  # fmt: skip
def test_what_is_no_message_of_a_view_is_refused(values: object) -> None:
    with pytest.raises(BadFrame):
        ServiceDecoder().feed(frame(values))


def nested(depth: int) -> dict[str, object]:
    return {"a": nested(depth - 1)} if depth else {}


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">I", MAX_FRAME + 1),
        struct.pack(">I", 1) + b"\xc1",
        struct.pack(">I", 0),
        struct.pack(">I", 2) + b"\x80\x80",
        frame({"t": "do", "req": 1, "verb": "x", "body": nested(30)}),
        frame({1: 2}),
    ],
)
def test_what_is_no_frame_is_refused(data: bytes) -> None:
    with pytest.raises(BadFrame):
        ServiceDecoder().feed(data)


def test_a_refusal_never_repeats_what_was_sent() -> None:
    secret = "hunter2-" * 20
    with pytest.raises(BadFrame) as refused:
        ServiceDecoder().feed(frame(attach(token=secret)))
    assert "hunter2" not in str(refused.value)


def test_frames_may_come_in_any_pieces() -> None:
    sent: list[FromView] = [
        Ack(1),
        Input(1, (Key("C-a"), Text("ä"), Pasted("x", more=True))),
        Ack(2),
    ]
    stream = b"".join(map(encode, sent))
    for size in (1, 3, 5, len(stream)):
        decoder = ServiceDecoder()
        got = []
        for at in range(0, len(stream), size):
            got += decoder.feed(stream[at : at + size])
        assert got == sent


@pytest.mark.parametrize("reason", list(Reason))
def test_each_reason_to_leave_travels(reason: Reason) -> None:
    assert Decoder().feed(encode(Bye(reason))) == [Bye(reason)]


def test_a_message_too_large_for_a_frame_is_not_encoded() -> None:
    with pytest.raises(ValueError, match="too large"):
        encode(Done(1, 0, {"text": "x" * MAX_FRAME}))


def test_a_pane_of_encoded_lines_is_the_same_as_one_encoded_at_once() -> None:
    lines = tuple((number, (("ab", 2, Style(bold=True)), ("c", 1, None))) for number in range(3))
    (one,) = encode_pane(STATE, [encode_line(line) for line in lines])
    assert Decoder().feed(one) == [replace(STATE, lines=lines)]
    assert Decoder().feed(encode(replace(STATE, lines=lines))) == [replace(STATE, lines=lines)]


@pytest.mark.parametrize("count", [0, 1, 500])
def test_a_large_screen_comes_as_several_frames_of_which_only_the_first_is_full(count: int) -> None:
    busy = tuple((chr(97 + at % 26), 1, Style(fg=(at % 256, 1, 2))) for at in range(1000))
    lines = [(number, busy) for number in range(count)]
    frames = list(encode_pane(STATE, [encode_line(line) for line in lines]))
    decoder = Decoder()
    states = [state for each in frames for state in decoder.feed(each)]
    assert all(isinstance(state, PaneState) for state in states)
    assert all(len(each) <= MAX_FRAME + 4 for each in frames)
    assert [getattr(state, "full", None) for state in states] == [True] + [False] * (
        len(states) - 1
    )
    assert [line for state in states for line in getattr(state, "lines", ())] == lines
    assert len(frames) > 5 or count < 500


@pytest.mark.parametrize("decoder", [Decoder, ServiceDecoder])
def test_each_side_takes_the_other_sides_messages_alone(
    decoder: Callable[[], Decoder | ServiceDecoder],
) -> None:
    theirs = encode(Ack(1)) if decoder is Decoder else encode(Bye(Reason.SLOW))
    with pytest.raises(BadFrame):
        decoder().feed(theirs)
