"""Submissions that wait for their end, over real processes: losses and kills in the midst of it."""

from __future__ import annotations

import os
import signal

from tests.support.s4.caller import Caller
from tests.support.s4.lab import gone
from tests.support.stage_d.lab import PaneLab, kill, pane_lab
from tests.support.termnode_process import eventually

MARK = "echo ran >>~/ran"


def _body(lab: PaneLab, owner: Caller, source: str) -> bytes:
    """A submission over the service that waits, for the present prompt."""
    generation = lab.ready_caller().generation()
    return owner.next(lab.target(), source=source, prompt_generation=generation, wait_ms=30_000)


def test_the_end_comes_with_the_answer_however_long_it_takes() -> None:
    with pane_lab() as lab:
        owner = lab.owner()
        for source in ("echo hello", "command sleep 0.3; echo hello"):
            told = owner.send("term.execute", _body(lab, owner, source))
            assert (told.rc, told.body["status"], told.body["state"]) == (0, "accepted", "finished")
            assert told.body["result"]["exit"] == {"code": 0}
            assert told.body["result"]["output"]["text"].strip() == "hello"
        shell = lab.ready_caller()
        body = shell.execution("echo hello", wait_ms=30_000)
        told = shell.send("shell.execute", body)
        assert told.body["result"]["output"]["text"].strip() == "hello"
        assert shell.send("shell.execute", body).body == told.body


def test_after_a_lost_answer_the_same_again_is_the_one_that_ran() -> None:
    with pane_lab() as lab:
        owner = lab.owner()
        body = _body(lab, owner, MARK)
        asked = owner.post("term.execute", body)
        owner.peer.next_of(lambda h: (h.type, h.id) == ("response", asked))  # nobody reads it
        first = owner.send("term.execute", body)
        assert (first.rc, first.body["result"]["exit"]) == (0, {"code": 0})
        assert owner.send("term.execute", body).body == first.body
        assert lab.lines("ran") == ["ran"]


def test_a_pane_shell_that_is_killed_in_the_wait_leaves_the_acceptance() -> None:
    with pane_lab() as lab:
        owner = lab.owner()
        body = _body(lab, owner, f"{MARK}; command sleep 600")
        asked = owner.post("term.execute", body)
        lab.until_line("ran", "ran")
        # It is recorded by now, or soon, and the end is waited for.
        told = eventually(lambda: _taken(lab, owner, body), "it is recorded as taken")
        sidecar = lab.lab.shell_of(lab.pane)
        assert sidecar is not None
        kill(sidecar)
        answer = owner.answer(asked)
        assert (answer.rc, answer.body["state"]) == (0, "running")
        assert answer.body["operation_id"] == told
        gone(sidecar)
        os.kill(lab.shell_pid(), signal.SIGHUP)
        assert lab.lines("ran") == ["ran"]


def _taken(_lab: PaneLab, owner: Caller, body: bytes) -> str | None:
    """The operation, once a repeat is told of it."""
    answer = owner.send("term.execute", body)
    found = answer.body.get("operation_id") if answer.rc == 0 else None
    return None if found is None else str(found)
