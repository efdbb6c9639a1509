"""p0j_d: a cancellation is of one operation, and says what was done."""

from __future__ import annotations

import os

from tests.support.session_peer import Fields
from tests.support.stage_d.asking import ShellCaller
from tests.support.stage_d.lab import PaneLab, Start, refusal
from tests.support.termnode_process import alive, eventually

WAITS = "sh -c 'echo $$ >~/{0}; exec cat ~/{0}.go'"
"""A program that says who it is and then waits for a pipe."""


def p0j_d_cancellation_resolves_the_exact_operation(start: Start) -> None:
    """A program's group, the shell's own loop, who ignores it; nobody else's operation."""
    with start() as lab:
        caller = lab.ready_caller()
        _program(lab, caller)
        _loop(lab, caller)
        _who_ignores_it(lab, caller)
        _what_never_was(caller)


def _waiting(lab: PaneLab, caller: ShellCaller, name: str) -> tuple[str, int]:
    """An operation that waits, and the process that does."""
    os.mkfifo(lab.file(f"{name}.go"))
    operation = caller.accepted(WAITS.format(name))
    eventually(lambda: lab.lines(name), f"{name} runs")
    return operation, int(lab.lines(name)[0])


def _cancel(caller: ShellCaller, operation: str) -> Fields:
    said = caller.good("shell.execute.cancel", operation_id=operation)
    assert (said["version"], said["operation_id"]) == (1, operation)
    return said


def _program(lab: PaneLab, caller: ShellCaller) -> None:
    operation, pid = _waiting(lab, caller, "program")
    other = lab.caller()
    for verb in ("shell.execute.cancel", "shell.execute.result"):
        answer = other.ask(verb, operation_id=operation)
        assert refusal(answer)[0] == "UNKNOWN_OUTCOME", "another's operation was touched"
    assert alive(pid)
    said = _cancel(caller, operation)
    assert (said["outcome"], said["signalled_pgid"]) == ("requested", pid)
    result = caller.finished(operation)
    assert (result["outcome"], result["exit"]) == ("cancelled", {"signal": 2})
    assert result["cancellation"] == {"requested": True, "delivered": "signal"}
    eventually(lambda: not alive(pid), "the program is gone")
    again = _cancel(caller, operation)
    assert (again["outcome"], again["signalled_pgid"]) == ("already_finished", None)


def _loop(lab: PaneLab, caller: ShellCaller) -> None:
    """The shell itself evaluates: it is interrupted, and lives."""
    operation = caller.accepted("echo >~/looping; while :; do :; done")
    eventually(lab.file("looping").exists, "it loops")
    assert _cancel(caller, operation)["outcome"] == "requested"
    result = caller.finished(operation)
    assert result["outcome"] == "cancelled"
    assert caller.run("echo alive")["output"]["text"] == "alive\r\n"


def _who_ignores_it(lab: PaneLab, caller: ShellCaller) -> None:
    """It is not hurt further, and its own end is told."""
    os.mkfifo(lab.file("stubborn.go"))
    operation = caller.accepted("sh -c 'trap \"\" INT; echo >~/stubborn; cat ~/stubborn.go'")
    eventually(lab.file("stubborn").exists, "it runs")
    assert _cancel(caller, operation)["outcome"] == "requested"
    with lab.file("stubborn.go").open("w") as pipe:
        pipe.write("done")
    result = caller.finished(operation)
    assert (result["outcome"], result["exit"]) == ("completed", {"code": 0})
    assert result["cancellation"] == {"requested": True, "delivered": "completed_anyway"}


def _what_never_was(caller: ShellCaller) -> None:
    for verb in ("shell.execute.cancel", "shell.execute.result"):
        assert refusal(caller.ask(verb, operation_id="1"))[0] == "UNKNOWN_OUTCOME"
