"""p0i_08: input that waits is discarded when a person types, and when its two seconds are over."""

from __future__ import annotations

import signal
import time
from typing import Final

from termnode.view.messages import Text
from tests.support.s4.caller import Caller, refused
from tests.support.s4.lab import Lab, Start, event_of, first
from tests.support.s4.programs import LAST, SlowReader
from tests.support.session_peer import Fields
from tests.support.termnode_process import eventually
from tests.support.view_client import Viewer, viewer

CHUNK: Final = 7_000
CHUNKS: Final = 4
"""More than a terminal holds that nobody reads (about 12,000 bytes)."""

PAUSE_S: Final = 2.2
"""Longer than any right to write lasts."""


def p0i_08_queued_input_human_revoke_and_deadline(start: Start) -> None:
    """What the program reads is exactly what was counted, and nothing of what was not."""
    _person(start)
    _deadline(start)


def _queued(owner: Caller, target: Fields) -> list[str]:
    """Operations of which the last ones wait for the program."""
    foreground = owner.foreground(target)
    return [owner.typed(target, letter * CHUNK, foreground) for letter in "abcdefg"[:CHUNKS]]


def _outcomes(owner: Caller, target: Fields, numbers: list[str]) -> list[Fields]:
    """What became of operations, once that is known."""

    def known() -> list[Fields]:
        found = [owner.operation(target, number).body for number in numbers]
        settled = all(each["status"] in ("completed", "unknown") for each in found)
        return found if settled else []

    return eventually(known, "every operation has an outcome")


def _sound(outcomes: list[Fields], numbers: list[str]) -> list[int]:
    """How many bytes of each were delivered at least; the rest of the fields is as it must be."""
    delivered = [int(each["delivered_bytes_lower_bound"]) for each in outcomes]
    for number, each, count in zip(numbers, outcomes, delivered, strict=True):
        assert each["operation_id"] == number
        assert each["boundary"] == "pty_write"
        assert each["status"] == ("completed" if count == CHUNK else "unknown"), each
        if each["status"] == "unknown":
            assert each["reason"] == "input_lease_ended"
    assert delivered[0] == CHUNK
    assert delivered[-1] == 0
    assert sorted(delivered, reverse=True) == delivered
    return delivered


def _agrees(owner: Caller, target: Fields, outcomes: list[Fields]) -> None:
    """What was told by itself is what is told when asked."""
    ended = {each["operation_id"]: each for each in outcomes if each["status"] == "unknown"}
    for number, event in event_of(owner, "term.input.revoked", list(ended)).items():
        count = event["delivered_bytes_lower_bound"]
        assert event["target"] == target
        assert event["status"] == "revoked"
        if number in ended:
            assert event["outcome"] == "partial_or_unknown"
            assert count == ended[number]["delivered_bytes_lower_bound"]
        else:
            assert (event["outcome"], int(count)) == ("complete", CHUNK)


def _read(program: SlowReader) -> dict[str, int]:
    """How many of each character it read."""
    got = program.got().decode()
    return {letter: got.count(letter) for letter in sorted(set(got))}


def _as_counted(delivered: list[int]) -> dict[str, int]:
    return {letter: count for letter, count in zip("abcdefg", delivered, strict=False) if count}


def _person(start: Start) -> None:
    with start() as lab:
        first(lab)
        program = SlowReader(lab)
        target, owner = lab.target(program.pane), lab.owner()
        with viewer(lab.term) as view:
            numbers = _queued(owner, target)
            before = owner.foreground(target)
            view.press(Text("P"), pane=program.pane)
            eventually(lambda: owner.foreground(target) != before, "the person was heard")
            program.go()  # now it would read what waits, if that were still there
            outcomes = _outcomes(owner, target, numbers)
            delivered = _sound(outcomes, numbers)
            refused(owner.type(target, "x", before), "STALE_GENERATION")
            _agrees(owner, target, outcomes)
            _end(view, program)
        assert _read(program) == {"P": 1, **_as_counted(delivered)}


def _deadline(start: Start) -> None:
    with start() as lab:
        first(lab)
        program = SlowReader(lab)
        target, owner = lab.target(program.pane), lab.owner()
        with viewer(lab.term) as view:
            numbers = _queued(owner, target)
            _broker_pauses(lab)
            program.go()
            outcomes = _outcomes(owner, target, numbers)
            delivered = _sound(outcomes, numbers)
            _agrees(owner, target, outcomes)
            _end(view, program)
        assert _read(program) == _as_counted(delivered)


def _broker_pauses(lab: Lab) -> None:
    lab.broker.send(signal.SIGSTOP)
    try:
        end = time.monotonic() + PAUSE_S
        eventually(lambda: time.monotonic() > end, "the time is over")
    finally:
        lab.broker.send(signal.SIGCONT)


def _end(view: Viewer, program: SlowReader) -> None:
    view.press(Text(LAST.decode()), pane=program.pane)
    program.got()
