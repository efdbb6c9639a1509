"""How a result is shown, and the exit code that goes with it. No I/O but printing."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any, Final

from termnode.cli.exits import NOT_ITS_OWN, STILL_RUNS

SIGNALLED: Final = 128

_SEQUENCE: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC, DCS and the like, to their end
    r"|\x1b[ -/]*[0-~]?"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)


def plain(text: str) -> str:
    """Output of a terminal without its sequences; of a line that was written over, the last."""
    lines = _SEQUENCE.sub("", text).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)


def show(told: Mapping[str, Any]) -> int:
    """Print what came of an operation that has ended; the exit code."""
    return _show_task(told["report"]) if "report" in told else _show_command(told["result"])


def status_of(told: Mapping[str, Any]) -> int:
    """The exit code, without printing."""
    if "report" in told:
        return _task_status(told["report"]["outcome"])
    result = told["result"]
    if result.get("outcome") not in {"completed", "cancelled"}:
        return NOT_ITS_OWN
    return _status(result.get("exit") or {})


def _show_command(result: Mapping[str, Any]) -> int:
    output = result.get("output")
    if output is not None:
        sys.stdout.write(plain(output["text"]))
        if output.get("omitted"):
            note(left_out(output["omitted"]))
    note_command(result)
    return status_of({"result": result})


def note_command(result: Mapping[str, Any]) -> None:
    """Tell the person what the exit code does not."""
    outcome, ended = result.get("outcome"), result.get("exit") or {}
    if outcome not in {"completed", "cancelled"}:
        reason = result.get("reason") or "no reason is known"
        what = "nothing ran" if outcome == "not_started" else "nobody knows what came of it"
        note(f"{what}: {reason}")
    elif ended.get("shell_exited"):
        note("the shell has ended with it; 'termnode restart' starts it again")
    elif "stopped" in ended:
        note("it is stopped, not ended: 'fg' in the pane lets it go on")
    elif result.get("output") is None:
        note("its output is not known")


def _show_task(report: Mapping[str, Any]) -> int:
    for name, stream in (("stdout", sys.stdout), ("stderr", sys.stderr)):
        told = report[name]
        stream.write(plain(told["text"]) if stream.isatty() else told["text"])
        if told["truncated"]:
            shown = len(told["text"].encode())
            note(f"of its {told['bytes']} bytes of {name} the first {shown} are shown")
    _note_task(report)
    return _task_status(report["outcome"])


def _note_task(report: Mapping[str, Any]) -> None:
    outcome = report["outcome"]
    forced = f", by {outcome['escalated_to'].upper()}" if outcome.get("escalated_to") else ""
    if outcome["kind"] == "timeout":
        note(f"its time ran out and it was ended{forced}")
    elif outcome["kind"] == "cancelled":
        note(f"it was cancelled{forced}")
    elif outcome["kind"] == "unknown":
        note(f"nobody knows how it ended: {outcome.get('detail', '')}")
    if report.get("survivors"):
        note(f"processes that it left were killed: {report['survivors']}")


def _task_status(outcome: Mapping[str, Any]) -> int:
    if outcome["kind"] == "timeout":
        return STILL_RUNS
    return _status(outcome.get("wait") or outcome)


def _status(ended: Mapping[str, Any]) -> int:
    """As shells say it."""
    if "code" in ended:
        return int(ended["code"])
    number = ended.get("signal", ended.get("stopped"))
    return NOT_ITS_OWN if number is None else SIGNALLED + int(number)


def left_out(count: int) -> str:
    """Of the middle of an output."""
    return f"{count} bytes in the middle of the output are left out"


def note(words: str) -> None:
    """Tell the person, behind what was printed."""
    sys.stdout.flush()
    print(f"termnode: {words}", file=sys.stderr)
