"""The pane host's messages, and the clean-up after a fork that failed."""

from __future__ import annotations

import errno
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termnode.panehost import spawn
from termnode.panehost.protocol import (
    MAX_MESSAGE,
    Failure,
    SpawnRequest,
    decode,
    encode,
)
from termnode.sideprocess.records import RecordError, RecordTooLarge

TEXT = st.text(max_size=20) | st.binary(max_size=20).map(os.fsdecode)
PLAIN = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | TEXT


@given(st.dictionaries(TEXT, PLAIN | st.lists(TEXT) | st.dictionaries(TEXT, TEXT), max_size=8))
def test_messages_survive_the_wire(fields: dict[str, object]) -> None:
    message = {**fields, "type": "spawn"}
    assert decode(encode(message)) == message


@given(st.binary(max_size=300))
def test_any_bytes_are_a_message_or_a_protocol_error(data: bytes) -> None:
    try:
        message = decode(data)
    except RecordError:
        return
    assert isinstance(message["type"], str)


def test_deep_nesting_is_a_protocol_error() -> None:
    with pytest.raises(RecordError):
        decode(b"\x81\xa4type" + b"\x91" * 50_000)


def test_messages_are_bounded_both_ways() -> None:
    with pytest.raises(RecordTooLarge):
        encode({"type": "spawn", "cwd": "x" * MAX_MESSAGE})
    with pytest.raises(RecordTooLarge):
        decode(b"x" * (MAX_MESSAGE + 1))


@given(st.dictionaries(st.sampled_from(["argv", "cwd", "env", "cols", "rows"]), PLAIN))
def test_odd_spawn_requests_are_refused_by_field(fields: dict[str, object]) -> None:
    with pytest.raises(Failure) as caught:
        SpawnRequest.from_message(fields)
    assert caught.value.code == "INVALID_ARGUMENT"
    assert caught.value.details["field"] in ("argv", "env")  # cwd may be right by chance


def test_a_failed_fork_leaves_no_descriptor() -> None:
    """ptyprocess keeps its error pipe open when the fork fails; its numbers are known before."""
    leaked = spawn._lowest_free_descriptors()
    pipe = os.pipe()
    assert set(pipe) <= set(leaked)
    failure = spawn._failure(OSError(errno.EAGAIN, ""), None, leaked)
    assert failure.code == "RESOURCE_LIMIT"
    for descriptor in pipe:
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(descriptor)
