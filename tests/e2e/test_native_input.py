"""Agents typing over the native lane of a real service: people, programs and layouts in between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from termnode.view.messages import Text
from tests.support.s4.caller import Caller, refused
from tests.support.s4.lab import Lab, event_of, first, lab_of
from tests.support.s4.programs import LAST, SlowReader
from tests.support.session_peer import Fields
from tests.support.termnode_process import eventually
from tests.support.view_client import viewer

CHUNK = 7_000
FULL = 6
"""So many of them are more than a terminal takes that nobody reads."""


@pytest.fixture
def lab() -> Iterator[Lab]:
    with lab_of() as made:
        first(made)
        yield made


def fill(owner: Caller, target: Fields) -> list[str]:
    """Operations of which the last ones wait for the program."""
    foreground = owner.foreground(target)
    return [owner.typed(target, letter * CHUNK, foreground) for letter in "abcdef"[:FULL]]


def outcomes(owner: Caller, target: Fields, numbers: list[str]) -> list[Fields]:
    def known() -> list[Fields]:
        found = [owner.operation(target, number).body for number in numbers]
        return found if all("boundary" in each for each in found) else []

    return eventually(known, "every operation has an outcome")


def counts(found: list[Fields]) -> list[int]:
    return [each["delivered_bytes_lower_bound"] for each in found]


def told(owner: Caller, numbers: list[str]) -> list[Any]:
    events = event_of(owner, "term.input.revoked", numbers)
    return [events[number]["delivered_bytes_lower_bound"] for number in numbers]


def letters(delivered: list[int]) -> bytes:
    """What the program has to have read, once it reads."""
    pairs = zip("abcdef", delivered, strict=False)
    return b"".join(letter.encode() * count for letter, count in pairs)


def test_a_person_at_a_view_goes_first_and_every_count_agrees(lab: Lab) -> None:
    """Also the counterpart: the program sees what was counted, then what the person typed."""
    program = SlowReader(lab)
    target, owner = lab.target(program.pane), lab.owner()
    with viewer(lab.term) as view:
        numbers = fill(owner, target)
        view.press(Text("person"), pane=program.pane)
        found = outcomes(owner, target, numbers)
        delivered = counts(found)
        assert sum(delivered) < FULL * CHUNK
        assert {each["status"] for each in found} == {"completed", "unknown"}
        assert told(owner, numbers) == delivered
        program.go()
        view.press(Text(LAST.decode()), pane=program.pane)
        assert program.got() == letters(delivered) + b"person"


def test_agents_go_on_when_nobody_types(lab: Lab) -> None:
    """What the test above would see if a person took nothing away: all of it arrives."""
    program = SlowReader(lab)
    target, owner = lab.target(program.pane), lab.owner()
    numbers = fill(owner, target)
    program.go()
    assert counts(outcomes(owner, target, numbers)) == [CHUNK] * FULL
    owner.typed(target, LAST.decode())
    assert program.got() == letters([CHUNK] * FULL)


def test_the_generation_of_before_is_stale_after_a_program_a_resize_and_global_input(
    lab: Lab,
) -> None:
    pane = lab.term.at_prompt(lab.term.ready["pane"])
    target, owner = lab.target(pane), lab.owner()
    seen = owner.foreground(target)
    owner.typed(target, "cat\n", seen)

    def another() -> bool:
        return owner.foreground(target) != seen

    eventually(another, "another program is in front")
    refused(owner.type(target, "x", seen), "STALE_GENERATION", "foreground_generation")
    with_cat = owner.foreground(target)
    lab.term.good("term.type", {"pane": pane, "text": "global", "enter": True})
    refused(owner.type(target, "x", with_cat), "STALE_GENERATION", "foreground_generation")
    seen = owner.foreground(target)
    lab.term.good("term.pane.split", {"pane": pane, "dir": "v"})
    refused(owner.type(target, "x", seen), "STALE_GENERATION", "foreground_generation")
    seen = owner.foreground(target)
    lab.term.good("term.pane.select", {"id": pane})
    refused(owner.type(target, "x", seen), "STALE_GENERATION", "foreground_generation")
    assert owner.typed(target, "native\n")
    lab.term.wait("^native", pane)
    assert "x" not in "".join(lab.term.screen(pane))


def test_in_strict_posture_one_caller_types_at_a_time(lab: Lab) -> None:
    pane = lab.term.ready["pane"]
    lab.strict()
    target, one, other = lab.target(pane), lab.owner(), lab.owner()
    foreground = one.foreground(target)
    one.typed(target, "a", foreground)
    one.typed(target, "b", foreground)
    refused(other.type(target, "no", foreground), "BUSY", "writer_busy")
    high = other.good("term.session", target)["request_high_water"]
    assert high == "0", "a refusal of this kind spends no id"

    def free() -> bool:
        return other.type(target, "c", foreground).rc == 0

    eventually(free, "its two seconds are over")


def test_strict_comes_while_a_caller_of_a_restricted_term_has_input_waiting() -> None:
    with lab_of(COSMIX_TERM_POLICY="restricted") as lab:
        first(lab)
        program = SlowReader(lab)
        target, owner = lab.target(program.pane), lab.owner()
        numbers = fill(owner, target)
        lab.strict()
        lab.term.call("INFO")  # a flip is seen at the next request
        delivered = told(owner, numbers)
        assert sum(delivered) < FULL * CHUNK
        lab.strict(on=False)
        assert counts(outcomes(owner, target, numbers)) == delivered
        program.go()
        owner.typed(target, LAST.decode())
        assert program.got() == letters(delivered)


def test_input_of_every_kind_arrives_and_properties_stand_for_typing(lab: Lab) -> None:
    program = SlowReader(lab)
    target, owner = lab.target(program.pane), lab.owner()
    program.go()
    foreground = {"foreground_generation": owner.foreground(target)}
    sent = [
        owner.done("term.type", target, text="a", enter=True, **foreground),
        owner.done("term.keys", target, keys=["C-a", "b"], **foreground),
        owner.done("term.paste", target, text="é\n", **foreground),
        owner.done("term.props.set", target, property="input", value="c", **foreground),
    ]
    for number, body in enumerate(sent, 1):
        assert body == {
            "status": "accepted",
            "outcome": "unknown",
            "request_id": str(number),
            "operation_id": str(number),
        }
    found = outcomes(owner, target, [each["operation_id"] for each in sent])
    assert counts(found) == [2, 2, 3, 1]
    refused(
        owner.do("term.mouse", target, action="click", button="left", x=1, y=1, **foreground),
        "UNSUPPORTED",
        "mouse_not_requested",
    )
    owner.typed(target, LAST.decode())
    assert program.got() == b"a\r\x01b" + "é".encode() + b"\rc"


def test_a_retry_types_nothing_again(lab: Lab) -> None:
    program = SlowReader(lab)
    target, owner = lab.target(program.pane), lab.owner()
    program.go()
    body = owner.next(target, text="once", foreground_generation=owner.foreground(target))
    answer = owner.send("term.type", body)
    assert answer.rc == 0
    lab.term.good("term.type", {"pane": program.pane, "text": "."})  # another generation by now
    assert owner.send("term.type", body) == answer
    lab.term.good("term.type", {"pane": program.pane, "text": LAST.decode()})
    assert program.got() == b"once."
