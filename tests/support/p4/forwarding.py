"""p4: over the service, a task is its caller's, and is a task."""

from __future__ import annotations

from tests.support.s4.caller import Caller, denied, refused
from tests.support.session_peer import Fields
from tests.support.stage_d.forwarding import accepted
from tests.support.stage_d.lab import PaneLab, Start
from tests.support.termnode_process import eventually


def p4_task_forwards_with_kind_and_actor_scoping(start: Start) -> None:
    """One id of a caller is one submission, whatever its kind; what it made, only it may ask of."""
    with start() as lab:
        lab.ready_caller()
        target, one, two = lab.target(), lab.owner(), lab.owner()
        first = _submitted(one, target, source="echo one; echo 1 >&3; echo one >>~/ran")
        second = _submitted(two, target, source="echo two; echo 2 >&3; echo two >>~/ran")
        assert first["operation_id"] != second["operation_id"]
        for caller, told, number in ((one, first, 1), (two, second, 2)):
            report = _settled(caller, target, told["operation_id"])
            assert report["result"] == {"kind": "value", "data": number}
        assert sorted(lab.lines("ran")) == ["one", "two"]
        _theirs_alone(one, two, target, first)
        _one_id_for_both(lab, one, target)
        _as_the_shell_says(one, target)
        _ended_by_its_caller(one, two, target)


def _submitted(caller: Caller, target: Fields, **fields: object) -> Fields:
    told = caller.done("term.task.submit", target, cwd="/", timeout_ms=60_000, **fields)
    assert (told["target"], told["status"]) == (target, "accepted")
    assert told["operation_id_request"] == str(caller.last_id)
    return told


def _settled(caller: Caller, target: Fields, operation: str) -> Fields:
    def asked() -> Fields | None:
        said = caller.good("term.task.result", target, operation_id=operation, wait_ms=5_000)
        return said["report"] if said["state"] == "settled" else None

    return eventually(asked, "the task has settled")


def _theirs_alone(one: Caller, two: Caller, target: Fields, first: Fields) -> None:
    for caller, verb in (
        (two, "term.task.result"),
        (two, "term.task.cancel"),
        (one, "term.exec.result"),
        (one, "term.exec.cancel"),
    ):
        answer = caller.ask(verb, target, operation_id=first["operation_id"])
        refused(answer, "UNKNOWN_OUTCOME")


def _one_id_for_both(lab: PaneLab, one: Caller, target: Fields) -> None:
    """What was spent for a task does not run as a command, nor the other way round."""
    shell = lab.caller()
    one.last_id -= 1
    used = {"source": "echo both >>~/ran", "prompt_generation": shell.at_prompt()}
    refused(one.do("term.execute", target, **used), "CONFLICT", "request_mismatch")
    accepted(shell, one, target, "true")
    one.last_id -= 1
    task = {"source": "echo both >>~/ran", "cwd": "/", "timeout_ms": 1_000}
    refused(one.do("term.task.submit", target, **task), "CONFLICT", "request_mismatch")
    assert "both" not in lab.lines("ran")


def _as_the_shell_says(one: Caller, target: Fields) -> None:
    sound = {"cwd": "/", "timeout_ms": 1_000}
    refused(one.do("term.task.submit", target, **sound), "INVALID_ARGUMENT")
    both = one.do("term.task.submit", target, **sound, source="true", argv=["true"])
    refused(both, "INVALID_ARGUMENT")
    nowhere = {**sound, "cwd": "/nowhere/at/all"}
    refused(one.do("term.task.submit", target, **nowhere, argv=["true"]), "NOT_FOUND")
    held = int(target["pane_generation"])
    other = {**target, "pane_generation": str(held + 1)}
    denied(one.do("term.task.submit", other, **sound, argv=["true"]))


def _ended_by_its_caller(one: Caller, two: Caller, target: Fields) -> None:
    """As many as may run do; about load nothing is recorded, so the same may be sent again."""
    running = [_submitted(one, target, argv=["sleep", "1000"]) for _ in range(4)]
    fields = {"cwd": "/", "timeout_ms": 60_000, "argv": ["true"]}
    fifth = two.next(target, **fields)
    refused(two.send("term.task.submit", fifth), "RESOURCE_LIMIT")
    for told in running:
        operation = told["operation_id"]
        assert (
            one.good("term.task.cancel", target, operation_id=operation)["outcome"] == "requested"
        )
        assert _settled(one, target, operation)["outcome"]["kind"] == "cancelled"
    answer = two.send("term.task.submit", fifth)
    assert answer.rc == 0, answer.body
    report = _settled(two, target, answer.body["operation_id"])
    assert report["outcome"] == {"kind": "exited", "code": 0}
