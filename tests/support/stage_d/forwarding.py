"""p0j_d: over the service, a command reaches exactly the pane's own shell, in its caller's name."""

from __future__ import annotations

import os
from typing import Any

from tests.support.s4.caller import Caller, denied, refused
from tests.support.session_peer import Fields
from tests.support.stage_d.asking import NOT_YET, ShellCaller
from tests.support.stage_d.lab import PaneLab, Start
from tests.support.termnode_process import eventually


def p0j_d_execute_forwards_under_the_callers_own_name_and_ids(start: Start) -> None:
    """Two callers with one id have two operations, which neither of them shares."""
    with start() as lab:
        shell, target = lab.ready_caller(), lab.target()
        one, two = lab.owner(), lab.owner()
        first = accepted(shell, one, target, "echo 'of one' >>~/ran")
        _ended(one, target, first)
        second = accepted(shell, two, target, "echo 'of two' >>~/ran")
        _ended(two, target, second)
        # Both began at the same id, and each got an operation of its own.
        assert first["operation_id"] != second["operation_id"]
        assert lab.lines("ran") == ["of one", "of two"]
        _theirs_alone(one, two, target, first)
        _shown(lab)
        _retried(shell, one, target, lab)
        _elsewhere(shell, one, target)
        _as_the_shell_says(shell, one, target)
        assert len(lab.lines("ran")) == 3


def accepted(shell: ShellCaller, caller: Caller, target: Fields, source: str) -> Fields:
    """What is answered to a command once it is accepted; its request id is the caller's next.

    A refusal for a prompt that is just being shown is recorded, so the next try has the next id.
    """
    held: dict[str, Any] = {}

    def tried() -> bool:
        answer = caller.do(
            "term.execute", target, source=source, prompt_generation=shell.at_prompt()
        )
        if answer.rc == 0:
            held.update(answer.body)
            return True
        assert answer.why[0] == "STALE_GENERATION" or answer.why[1] in NOT_YET, answer.body
        return False

    eventually(tried, f"{source!r} is accepted")
    assert held["target"] == target
    assert (held["state"], held["status"]) == ("running", "accepted")
    assert held["operation_id_request"] == str(caller.last_id)
    return held


def _ended(caller: Caller, target: Fields, told: Fields) -> Fields:
    def asked() -> Fields | None:
        said = caller.good(
            "term.exec.result", target, operation_id=told["operation_id"], wait_ms=5_000
        )
        return said["result"] if said["state"] == "finished" else None

    result = eventually(asked, "it has finished")
    assert (result["outcome"], result["exit"]) == ("completed", {"code": 0})
    return result


def _theirs_alone(one: Caller, two: Caller, target: Fields, first: Fields) -> None:
    """Not by another caller, not at the shell itself, not as a task."""
    operation = first["operation_id"]
    for caller, verb in (
        (two, "term.exec.result"),
        (two, "term.exec.cancel"),
        (one, "term.task.result"),
        (one, "term.task.cancel"),
    ):
        refused(caller.ask(verb, target, operation_id=operation), "UNKNOWN_OUTCOME")


def _shown(lab: PaneLab) -> None:
    """Whose it is, by the kernel's word and via whom; the text stands there exactly twice."""
    shown = lab.screen()
    who = f"# uid {os.getuid()} pid {os.getpid()} via Term: "
    for text in ("echo 'of one' >>~/ran", "echo 'of two' >>~/ran"):
        assert shown.count(text) == 2, shown
        assert f"{who}{text}" in shown, shown


def _retried(shell: ShellCaller, one: Caller, target: Fields, lab: PaneLab) -> None:
    source = "echo 'of one, again' >>~/ran"
    first = accepted(shell, one, target, source)
    _ended(one, target, first)
    fields = {"source": source, "prompt_generation": first["prompt_generation"]}
    one.last_id -= 1
    body = one.next(target, **fields)
    again = one.send("term.execute", body)
    assert again.body["operation_id"] == first["operation_id"]
    other = one.send("term.execute", body.replace(b"again", b"other"))
    refused(other, "CONFLICT", "request_mismatch")
    assert lab.lines("ran").count("of one, again") == 1


def _elsewhere(shell: ShellCaller, one: Caller, target: Fields) -> None:
    """A pane of another generation, or none, is nobody's."""
    fields = {"source": "echo elsewhere >>~/ran", "prompt_generation": shell.at_prompt()}
    held = int(target["pane_generation"])
    for other in (held - 1, held + 1, 2**64 - 1):
        denied(one.do("term.execute", {**target, "pane_generation": str(other)}, **fields))
    denied(one.do("term.execute", {**target, "pane_id": "99"}, **fields))


def _as_the_shell_says(shell: ShellCaller, one: Caller, target: Fields) -> None:
    """What the shell refuses, it refuses with its own words."""
    now = shell.at_prompt()
    source = "echo refused >>~/ran"
    stale = one.do("term.execute", target, source=source, prompt_generation=str(int(now) + 1))
    refused(stale, "STALE_GENERATION")
    unfinished = one.do("term.execute", target, source=f"{source}; if", prompt_generation=now)
    assert unfinished.why[0] == "INVALID_ARGUMENT", unfinished.body
