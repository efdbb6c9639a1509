"""p4: a script and a program, each reported as it is, and apart from commands at the prompt."""

from __future__ import annotations

from typing import Any

from tests.support.stage_d.asking import ShellCaller
from tests.support.stage_d.lab import PaneLab, Start, refusal


def p4_both_modes_accurate_and_surfaces_separate(start: Start) -> None:
    """Streams, result and outcome; the pane shows nothing; no verb reads the other's operation."""
    with start() as lab:
        caller = lab.ready_caller()
        before = lab.screen()
        _program(caller)
        _script(caller)
        _results(caller)
        assert lab.screen() == before, "a task showed in the pane"
        _surfaces(lab, caller)


def _program(caller: ShellCaller) -> None:
    script = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    report = caller.report(argv=["python3", "-c", script])
    assert report["outcome"] == {"kind": "exited", "code": 3}
    assert _text(report, "stdout") == "out\n"
    assert _text(report, "stderr") == "err\n"
    assert report["result"] == {"kind": "not_applicable"}
    # Words are words: nothing of them is a shell's.
    assert _text(caller.report(argv=["echo", "$HOME", "*", "a b"]), "stdout") == "$HOME * a b\n"
    assert caller.report(argv=["sh", "-c", "kill -9 $$"])["outcome"] == {
        "kind": "signalled",
        "signal": 9,
    }


def _script(caller: ShellCaller) -> None:
    """By the person's own kind of shell."""
    report = caller.report(source="echo ${BASH_VERSION:+bash}; pwd; [[ a == a ]]", cwd="/usr")
    assert _text(report, "stdout") == "bash\n/usr\n"
    assert report["outcome"] == {"kind": "exited", "code": 0}
    assert report["result"] == {"kind": "result_missing"}
    assert _text(report, "stderr") == ""


def _results(caller: ShellCaller) -> None:
    def of(source: str) -> Any:  # noqa: ANN401
        report = caller.report(source=source)
        assert _text(report, "stdout") == "", "the result is not output"
        return report["result"]

    assert of("echo '{\"a\": [1, null]}' >&3") == {"kind": "value", "data": {"a": [1, None]}}
    assert of("echo '\"text\"' >&3") == {"kind": "value", "data": "text"}
    for torn in ("printf '{\"a\":' >&3", "echo 1 2 >&3", "head -c 70000 /dev/zero >&3"):
        assert of(torn) == {"kind": "result_torn"}, torn
    # What it said before it failed counts, and its end is told beside it.
    report = caller.report(source="echo 7 >&3; exit 9")
    assert report["result"] == {"kind": "value", "data": 7}
    assert report["outcome"] == {"kind": "exited", "code": 9}


def _surfaces(lab: PaneLab, caller: ShellCaller) -> None:
    task = caller.started(argv=["sleep", "1000"])
    command = caller.accepted("true")
    caller.finished(command)
    for operation, verbs in (
        (task, ("shell.execute.result", "shell.execute.cancel")),
        (command, ("shell.task.result", "shell.task.cancel")),
    ):
        for verb in verbs:
            answer = caller.ask(verb, operation_id=operation)
            assert refusal(answer)[0] == "UNKNOWN_OUTCOME", verb
    for verb in ("shell.task.result", "shell.task.cancel"):
        assert refusal(lab.caller().ask(verb, operation_id=task))[0] == "UNKNOWN_OUTCOME"
    # One id is spent for both: what ran as a task does not run as a command.
    used = {"request_id": str(caller.last_id), "prompt_generation": caller.at_prompt()}
    answer = caller.ask("shell.execute", source="echo ran >>~/ran", **used)
    assert refusal(answer)[0] in ("CONFLICT", "UNKNOWN_OUTCOME")
    assert lab.lines("ran") == []
    said = caller.good("shell.task.result", operation_id=task)
    assert said["state"] == "running"
    assert caller.good("shell.task.cancel", operation_id=task)["outcome"] == "requested"
    assert caller.settled(task)["outcome"]["kind"] == "cancelled"


def _text(report: dict[str, Any], stream: str) -> str:
    return str(report[stream]["text"])
