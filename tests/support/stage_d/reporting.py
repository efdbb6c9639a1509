"""p0j_d: a pane shell says what it can do, and does it for who may ask, and for nobody else."""

from __future__ import annotations

from typing import Final

from tests.support.p0i.lab import DENIED
from tests.support.session_peer import ALL, Fields
from tests.support.stage_d.asking import ShellCaller
from tests.support.stage_d.lab import PaneLab, Start, refusal

MARK: Final = "echo ran >>~/ran"

WITHOUT: Final = [each for each in ALL if each != "execute"]


def p0j_d_capability_report_and_unauthorised(start: Start) -> None:
    """Its own pane shell and an owner of an open Term may; others are denied in one word."""
    granted = {"2": WITHOUT, "3": ["execute"]}
    with start(settings={"capabilities": granted}) as lab:
        caller = lab.ready_caller()
        _report(caller)
        without, alone = lab.lab.split(2)
        _denied(lab.caller(without))
        # Reading its state is another right: it has that one not, and the other one it has.
        assert lab.caller(alone).ask("shell.status").rc == 10
        _for_others(lab, without, alone)
        _claims(caller)
        _malformed(caller)
        assert lab.lines("ran") == []
        assert lab.lines("task") == []
    with start(COSMIX_TERM_POLICY="restricted") as lab:
        _denied(lab.caller())
        assert lab.lines("ran") == []


def _report(caller: ShellCaller) -> None:
    said = caller.good("shell.status")
    assert said["capabilities"]["evaluation_submit"] == "idle-prompt-admission"
    assert said["capabilities"]["evaluation_inspect"] == "result-and-cancel"
    assert said["capabilities"]["prompt_generation"] == "snapshot"
    assert said["capabilities"]["isolated_task"] != "UNSUPPORTED"
    snapshot = said["status"]["snapshot"]
    assert (snapshot["phase"], snapshot["command_id"]) == ("prompt-ready", None)
    assert int(snapshot["prompt_generation"]) > 0


def _requests(caller: ShellCaller) -> list[tuple[str, bytes]]:
    """One sound request of every verb but the status."""
    operation: Fields = {"operation_id": "1"}
    return [
        ("shell.execute", caller.execution(MARK, "1")),
        ("shell.execute.result", caller.body(**operation)),
        ("shell.execute.cancel", caller.body(**operation)),
        ("shell.task.submit", caller.task(source="echo >~/task")),
        ("shell.task.result", caller.body(**operation)),
        ("shell.task.cancel", caller.body(**operation)),
    ]


def _denied(caller: ShellCaller) -> None:
    for verb, body in _requests(caller):
        answer = caller.send(verb, body)
        assert (answer.rc, answer.body) == (10, DENIED), verb


def _for_others(lab: PaneLab, without: int, alone: int) -> None:
    """A pane shell asks for itself alone; its right is what was granted."""
    bound = lab.lab.child(alone)
    for pane in (lab.pane, without):
        _denied(lab.caller(pane, bound.peer))


def _claims(caller: ShellCaller) -> None:
    """Only the owning Term speaks for somebody."""
    answer = caller.execute(MARK, on_behalf_of="somebody")
    assert (answer.rc, answer.body) == (10, DENIED)


def _malformed(caller: ShellCaller) -> None:
    now = caller.at_prompt()
    sound = {"request_id": "99", "prompt_generation": now, "source": MARK}
    wrong: Fields
    for wrong in (
        {"request_id": "0"},
        {"request_id": 1},
        {"prompt_generation": int(now)},
        {"source": 1},
        {"more": "1"},
        {"version": 2},
        {"target": {}},
        {"on_behalf_of": "x" * 97},
    ):
        body = caller.body(**{**sound, **wrong})
        assert refusal(caller.send("shell.execute", body))[0] == "INVALID_ARGUMENT", wrong
    for missing in sound:
        fields = {name: value for name, value in sound.items() if name != missing}
        answer = caller.send("shell.execute", caller.body(**fields))
        assert refusal(answer)[0] == "INVALID_ARGUMENT", missing
    stale = {**caller.target, "pane_generation": str(int(caller.target["pane_generation"]) + 1)}
    answer = caller.send("shell.execute", caller.body(**{**sound, "target": stale}))
    assert refusal(answer)[0] == "STALE_GENERATION"
