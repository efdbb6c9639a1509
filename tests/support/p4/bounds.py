"""p4: what is over a bound is refused by name, and a refusal leaves no trace."""

from __future__ import annotations

from typing import Any, Final

from tests.support.session_peer import Fields
from tests.support.stage_d.asking import ShellCaller
from tests.support.stage_d.lab import PaneLab, Start, refusal

RAN: Final = "echo ran >>~/ran"
SOUND: Final[Fields] = {"source": RAN, "cwd": "/", "timeout_ms": 60_000}

BAD: Final = "INVALID_ARGUMENT"
FULL: Final = "RESOURCE_LIMIT"
NOWHERE: Final = "NOT_FOUND"

REFUSED: Final[tuple[tuple[Fields, str, str | None], ...]] = (
    ({"source": None}, BAD, None),
    ({"source": ""}, BAD, None),
    ({"source": " \n\t"}, BAD, None),
    ({"source": "x" * 4_097}, BAD, None),
    ({"source": f"{RAN}\0"}, BAD, None),
    ({"argv": ["true"]}, BAD, None),
    ({"source": ..., "argv": []}, BAD, None),
    ({"source": ..., "argv": ["true"] * 257}, BAD, None),
    ({"source": ..., "argv": ["x" * 4_097]}, BAD, None),
    ({"source": ..., "argv": ["a\0"]}, BAD, None),
    ({"source": ...}, BAD, None),
    ({"timeout_ms": ...}, BAD, None),
    ({"timeout_ms": 0}, BAD, None),
    ({"timeout_ms": 600_001}, BAD, None),
    ({"env": [["A", ""]] * 65}, FULL, None),
    ({"env": [["A", "x" * 4_096]]}, FULL, None),
    ({"env": [["A", "1"], ["A", "2"]]}, BAD, None),
    ({"env": [["", "1"]]}, BAD, None),
    ({"env": [["A=B", "1"]]}, BAD, None),
    ({"env": [["A\0", "1"]]}, BAD, None),
    ({"cwd": ...}, BAD, None),
    ({"cwd": "/nowhere/at/all"}, NOWHERE, None),
    ({"cwd": "/etc/passwd"}, NOWHERE, None),
    ({"source": ..., "argv": ["/nowhere/at/all"]}, NOWHERE, "spawn_failed"),
    ({"source": ..., "argv": ["/etc/passwd"]}, NOWHERE, "spawn_failed"),
    ({"more": 1}, BAD, None),
)
"""Changes to a sound submission (``...``: without it), the code, and the reason if there is one."""

ORDER: Final[tuple[tuple[Fields, str], ...]] = (
    ({"argv": ["true"], "timeout_ms": 0, "env": [["A", ""]] * 65, "cwd": "/nowhere"}, BAD),
    ({"timeout_ms": 0, "env": [["A", ""]] * 65, "cwd": "/nowhere"}, BAD),
    ({"env": [["", ""]] * 65, "cwd": "/nowhere"}, FULL),
    ({"env": [["", ""]], "cwd": "/nowhere"}, BAD),
    ({"cwd": "/nowhere"}, NOWHERE),
)
"""Of several faults the first one is told."""


def p4_bounds_reported_and_refusals_leave_no_trace(start: Start) -> None:
    """Nothing ran, no id was spent, no place is taken."""
    with start() as lab:
        caller = lab.ready_caller()
        for changes, code, reason in REFUSED:
            _refused(caller, changes, code, reason)
        for changes, code in ORDER:
            _refused(caller, changes, code, None)
        assert lab.lines("ran") == []
        for deferred in ("shell.task.watch", "shell.task.list"):
            assert refusal(caller.ask(deferred)) == ("UNSUPPORTED", "deferred")
        _as_many_as_may(lab, caller)
        _the_id_is_as_new(lab, caller)


def _fields(changes: Fields) -> dict[str, Any]:
    whole = {**SOUND, **changes}
    return {name: value for name, value in whole.items() if value is not ...}


def _refused(caller: ShellCaller, changes: Fields, code: str, reason: str | None) -> None:
    answer = caller.ask("shell.task.submit", request_id="1", **_fields(changes))
    why = refusal(answer)
    assert why[0] == code, (changes, answer.body)
    assert reason in (None, why[1]), (changes, answer.body)


def _as_many_as_may(lab: PaneLab, caller: ShellCaller) -> None:
    """Four at once, never told as busy; a refused one may be sent again as it is."""
    caller.last_id = 1
    running = [caller.started(argv=["sleep", "1000"]) for _ in range(4)]
    body = caller.task(argv=["sh", "-c", "echo fifth >>~/fifth"])
    for _ in range(3):
        assert refusal(caller.send("shell.task.submit", body))[0] == FULL
    assert caller.good("shell.task.cancel", operation_id=running[0])["outcome"] == "requested"
    caller.settled(running[0])
    answer = caller.send("shell.task.submit", body)
    assert answer.rc == 0, answer.body
    caller.settled(answer.body["operation_id"])
    again = caller.send("shell.task.submit", body)
    assert again.body == {**answer.body, "state": "settled"}
    assert lab.lines("fifth") == ["fifth"]
    for each in running[1:]:
        caller.good("shell.task.cancel", operation_id=each)
        caller.settled(each)


def _the_id_is_as_new(lab: PaneLab, caller: ShellCaller) -> None:
    """On a connection that has spent none since."""
    other = lab.caller()
    _refused(other, {"cwd": "/nowhere"}, NOWHERE, None)
    answer = other.ask("shell.task.submit", request_id="1", **SOUND)
    assert answer.rc == 0, answer.body
    other.settled(answer.body["operation_id"])
    assert lab.lines("ran") == ["ran"]
    _streams(caller)


def _streams(caller: ShellCaller) -> None:
    """What is kept of a stream is bounded as JSON; the rest is counted."""
    report = caller.report(source="head -c 200000 /dev/zero | tr '\\0' '\"'; echo e >&2")
    assert report["stdout"]["bytes"] == "200000"
    assert report["stdout"]["truncated"] is True
    assert len(report["stdout"]["text"]) == (65_536 - 2) // 2
    assert report["stderr"] == {
        "bytes": "2",
        "truncated": False,
        "writer_survived": False,
        "text": "e\n",
    }
