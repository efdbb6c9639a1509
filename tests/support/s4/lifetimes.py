"""p0i_08: no authority outlives the program, the pane, the Term or the broker."""

from __future__ import annotations

import os
import signal

from brokerd.client import CAPABILITIES
from tests.support.s4.caller import Caller, denied, refused
from tests.support.s4.lab import Lab, Start, ask_nobody, first, gone
from tests.support.session_peer import Answer, Fields
from tests.support.termnode_process import eventually
from tests.support.zmtp import Dropped


def p0i_08_child_pane_term_and_broker_lifetime(start: Start) -> None:
    """Each of them ends, and what was held through it with it."""
    with start() as lab:
        one = first(lab)
        two, three = lab.split(2)
        lab.strict()
        owner = lab.owner()
        _child_exit(lab, owner, two)
        _pane_close(lab, owner, three, (one, two))
        _broker_bounce(lab, one)
        _term_exit(lab, one)


def _nobody_now(child: Caller, target: Fields) -> None:
    """Its record is over: the broker says so, or the Term denies."""

    def answer() -> Answer:
        return child.ask("term.session", target)

    eventually(lambda: answer().rc != 0, "the caller has lost its record")
    said = answer()
    assert said.why in {("EXPIRED", "binding_lost"), ("FORBIDDEN", None)}, said.body


def _child_exit(lab: Lab, owner: Caller, pane: int) -> None:
    target, child = lab.target(pane), lab.child(pane)
    assert child.good("term.session", target)["target"] == target
    shell = next(
        each["child_pid"] for each in owner.good("term.session", target)["panes"]
        if each["target"] == target
    )  # fmt: skip
    os.kill(shell, signal.SIGKILL)
    gone(shell)
    eventually(lambda: owner.ask("term.session", target).rc != 0, "the pane is not ready any more")
    for caller in (owner, child):
        said = caller.ask("term.snapshot", target, contents=True)
        assert said.why[0] in ("FORBIDDEN", "EXPIRED"), said.body
    denied(owner.do("term.type", target, text="x", foreground_generation="1"))
    _nobody_now(child, target)


def _pane_close(lab: Lab, owner: Caller, pane: int, rest: tuple[int, int]) -> None:
    target, child = lab.target(pane), lab.child(pane)
    one = lab.target(rest[0])
    # The other pane's program has ended: it is named by the generation that it had.
    ended = {**one, "pane_id": str(rest[1]), "pane_generation": _generation(owner, one, rest[1])}
    body = owner.next(target, affected=[one, ended])
    closed = owner.send("term.pane.close", body)
    assert closed.rc == 0, closed.body
    assert owner.send("term.pane.close", body) == closed, "told again, although the pane is gone"
    denied(owner.ask("term.session", target))
    _nobody_now(child, target)


def _others(owner: Caller, target: Fields) -> list[Fields]:
    """All panes but that one."""
    panes = owner.good("term.session", target)["panes"]
    return [each["target"] for each in panes if each["target"] != target]


def _generation(owner: Caller, target: Fields, pane: int) -> str:
    panes = owner.good("term.session", target)["panes"]
    found: str = next(
        each["target"]["pane_generation"] for each in panes
        if each["target"]["pane_id"] == str(pane)
    )  # fmt: skip
    return found


def _broker_bounce(lab: Lab, pane: int) -> None:
    old, owner, child = lab.target(pane), lab.owner(), lab.child(pane)
    body = owner.next(old, title="before", affected=_others(owner, old))
    done = owner.send("term.pane.rename", body)
    assert done.rc == 0, done.body
    assert child.good("term.session", old)
    lab.broker.kill()  # the service starts another one
    lab.go_on(pane)
    eventually(lambda: _again(lab, pane), "the pane is ready under the next broker")
    for caller in (owner, child):
        caller.peer.close()
    fresh, now = lab.target(pane), lab.owner()
    assert fresh["instance_id"] != old["instance_id"]
    assert now.good("term.session", fresh)["request_high_water"] == "0"
    denied(now.ask("term.session", old))
    denied(now.ask("term.session", {**old, "pane_generation": fresh["pane_generation"]}))
    refused(now.send("term.pane.rename", body), "UNKNOWN_OUTCOME")
    refused(now.operation(old, "1"), "UNKNOWN_OUTCOME")
    stale = now.next(fresh, title="x", affected=_others(now, fresh)).replace(
        now.peer.connection_id.encode(), owner.peer.connection_id.encode()
    )
    refused(now.send("term.pane.rename", stale), "UNKNOWN_OUTCOME")
    shown = now.good("term.session", fresh)["panes"]
    assert [each["title"] for each in shown if each["target"] == fresh] == ["before"]


def _again(lab: Lab, pane: int) -> bool:
    try:
        record = lab.record_of(pane)
        return record is not None and lab.owner().ask("term.session", lab.target(pane)).rc == 0
    except (OSError, Dropped, AssertionError, ValueError):
        return False


def _term_exit(lab: Lab, pane: int) -> None:
    target, owner, child = lab.target(pane), lab.owner(), lab.child(pane)
    assert child.record is not None
    assert set(child.record["capabilities"]) == set(CAPABILITIES)
    assert child.good("term.session", target)
    assert owner.good("term.session", target)
    os.kill(lab.term.ready["pid"], signal.SIGKILL)
    lab.term.down()
    assert child.peer.notice_of(child.record, "suspended") >= 1
    lost = child.ask("term.session", target)
    assert lost.rc != 0
    eventually(lambda: ask_nobody(owner.peer, owner.name), "nobody has the name")
