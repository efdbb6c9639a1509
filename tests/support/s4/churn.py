"""p0i_07: actors come and go, and no mutation is refused or repeated for it."""

from __future__ import annotations

from typing import Final

from tests.support.raw_bus import socket_of
from tests.support.s4.caller import Caller, refused
from tests.support.s4.lab import Start, first
from tests.support.session_peer import SessionPeer

CONNECTIONS: Final = 320
"""More than there are histories (256)."""


def p0i_07_actor_table_survives_reconnect_churn(start: Start) -> None:
    """Each of many connections mutates once; those that stay are never run again."""
    with start() as lab:
        pane = first(lab)
        lab.strict()
        target = lab.target(pane)
        staying = lab.owner()
        body = staying.next(target, title="stays")
        told = staying.send("term.pane.rename", body)
        assert told.rc == 0, told.body
        assert staying.send("term.pane.rename", body) == told
        for number in range(CONNECTIONS):
            with SessionPeer.open(socket_of(lab.broker)) as peer:
                peer.hello()
                caller = Caller(peer, staying.name)
                once = caller.next(target, title=f"churn {number}")
                answer = caller.send("term.pane.rename", once)
                assert answer.rc == 0, (number, answer.body)
                assert caller.send("term.pane.rename", once) == answer
        _not_again(staying, body)
        session = staying.good("term.session", target)
        (shown,) = [each for each in session["panes"] if each["target"] == target]
        assert shown["title"] == f"churn {CONNECTIONS - 1}", "it was run a second time"
        assert session["request_high_water"] == "1"
        assert staying.done("term.pane.rename", target, title="goes on")


def _not_again(staying: Caller, body: bytes) -> None:
    """Its history had to go: what it did is not known any more, and is not done again."""
    again = staying.send("term.pane.rename", body)
    refused(again, "UNKNOWN_OUTCOME", "retired_request_id")
    assert again.body["details"]["request_high_water"] == "1"
