"""p0i_08: what is over takes nothing from what came after it, and is told to nobody else."""

from __future__ import annotations

from typing import Final

from termnode.view.messages import Text
from tests.support.s4.caller import Caller, refused
from tests.support.s4.lab import Lab, Start, event_of, first
from tests.support.s4.programs import LAST, SlowReader
from tests.support.session_peer import Fields
from tests.support.termnode_process import eventually
from tests.support.view_client import viewer

CHUNK: Final = 7_000
REVOKED: Final = "term.input.revoked"


def p0i_08_stale_cleanup_and_private_event_connection_guard(start: Start) -> None:
    """The end of a writer and of a connection is its own; its notice goes there or nowhere."""
    with start() as lab:
        first(lab)
        program = SlowReader(lab)
        target = lab.target(program.pane)
        gone, stays, other = lab.owner(), lab.owner(), lab.owner()
        with viewer(lab.term) as view:
            foreground = gone.foreground(target)
            for letter in "abc":
                gone.typed(target, letter * CHUNK, foreground)
            mine = stays.typed(target, "d" * CHUNK, foreground)
            gone.peer.close()  # what it wrote down stays; nobody is told of it
            view.press(Text("P"), pane=program.pane)
            _told_alone(stays, other, target, mine)
            # A person's key ended what was before it, and nothing that comes after.
            fresh = other.foreground(target)
            program.go()
            after = eventually(lambda: _accepted(other, target, "e" * 10), "there is room again")
            _completed(other, target, after)
            refused(stays.type(target, "x", foreground), "STALE_GENERATION")
            assert other.foreground(target) == fresh
            view.press(Text(LAST.decode()), pane=program.pane)
            got = program.got()
        assert got.count(b"d") == 0
        assert got.count(b"e") == 10
        assert got.endswith(b"P" + b"e" * 10)
        _successor_hears_nothing(lab)


def _accepted(caller: Caller, target: Fields, text: str) -> str | None:
    answer = caller.type(target, text)
    return answer.body["operation_id"] if answer.rc == 0 else None


def _completed(caller: Caller, target: Fields, number: str) -> None:
    eventually(
        lambda: caller.operation(target, number).body.get("status") == "completed",
        "it was written",
    )


def _told_alone(stays: Caller, other: Caller, target: Fields, mine: str) -> None:
    told = event_of(stays, REVOKED, [mine])
    assert set(told) == {mine}
    assert told[mine] == {
        "target": target,
        "request_id": mine,
        "status": "revoked",
        "outcome": "partial_or_unknown",
        "delivered_bytes_lower_bound": 0,
    }
    _heard_nothing(other, target)


def _heard_nothing(caller: Caller, target: Fields) -> None:
    """An answer comes after all that was sent before it."""
    assert caller.good("term.session", target)
    passed = [header.command for header, _, _ in caller.peer.passed if header.type == "event"]
    assert REVOKED not in passed


def _successor_hears_nothing(lab: Lab) -> None:
    """Another connection under the same record: the one before is told, or nobody."""
    lab.strict(on=False)
    (pane,) = lab.split()
    lab.strict()
    target, child, owner = lab.target(pane), lab.child(pane), lab.owner()
    child.typed(target, "x")
    successor = lab.take_over(child, pane)
    # The writer before is over, and so is its hold on the pane; its end changes nothing later on.
    mine = successor.typed(target, "y")
    child.peer.close()
    _heard_nothing(successor, target)
    _completed(successor, target, mine)
    assert successor.keeps_out(owner, target)
