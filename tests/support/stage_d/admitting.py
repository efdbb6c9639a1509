"""p0j_d: an admitted command is announced, runs in the person's shell, and is told as data."""

from __future__ import annotations

import os
import re

from tests.support.session_peer import Fields
from tests.support.stage_d.asking import ShellCaller
from tests.support.stage_d.lab import PaneLab, Start
from tests.support.termnode_process import eventually


def p0j_d_admits_with_echo_and_structured_result(start: Start) -> None:
    """Announced whole before its output; exit, output, directory and time come as data."""
    with start() as lab:
        caller = lab.ready_caller()
        _acceptance(caller)
        _announced(lab, caller)
        _result(lab, caller)
        _kept_in_the_shell(caller)
        _a_retry_is_the_same(lab, caller)
        _much_output(caller)


def _acceptance(caller: ShellCaller) -> None:
    generation = caller.at_prompt()
    answer = caller.execute("true", generation)
    assert answer.rc == 0, answer.body
    operation = answer.body["operation_id"]
    assert answer.body == {
        "version": 1,
        "operation_id": operation,
        "state": "running",
        "status": "accepted",
        "prompt_generation": generation,
    }
    assert caller.finished(operation)["outcome"] == "completed"
    assert int(caller.at_prompt(generation)) == int(generation) + 1


def _announced(lab: PaneLab, caller: ShellCaller) -> None:
    """In one line, by whom the kernel says it is, above the first of its output."""
    caller.run("echo $((6 * 7))'\x1b]0;t\x07\u202e'")
    shown = lab.screen()
    who = re.escape(f"# uid {os.getuid()} pid {os.getpid()}: ")
    line = who + re.escape(r"echo $((6 * 7))'\x1b]0;t\x07\u{202e}'")
    assert re.search(f"^{line}$(.|\n)*^42", shown, re.MULTILINE), shown


def _result(lab: PaneLab, caller: ShellCaller) -> None:
    (lab.home / "deep").mkdir()
    result = caller.run("cd ~/deep && printf 'a\\n\\nb'; (exit 3)")
    assert result.pop("duration_ms") >= 0
    output = result.pop("output")
    assert result == {
        "outcome": "completed",
        "exit": {"code": 3},
        "cwd": str(lab.home / "deep"),
    }
    assert (output["text"], output["bytes"]) == ("a\r\n\r\nb", 6)
    assert (output["truncated"], output["omitted"]) == (False, 0)
    assert caller.run("sh -c 'kill -KILL $$'")["exit"] == {"signal": 9}


def _kept_in_the_shell(caller: ShellCaller) -> None:
    """It is the person's shell: what one command sets is there for the next."""
    caller.run('said() { printf %s "$1:$WORD"; }\nexport WORD=kept')
    assert _text(caller.run("said one")) == "one:kept"


def _a_retry_is_the_same(lab: PaneLab, caller: ShellCaller) -> None:
    body = caller.execution("echo once >>~/once")

    def accepted() -> Fields | None:
        answer = caller.send("shell.execute", body)
        return answer.body if answer.rc == 0 else None

    first = eventually(accepted, "it is accepted")
    caller.finished(first["operation_id"])
    again = caller.send("shell.execute", body)
    assert again.body == {**first, "state": "finished"}
    other = body.replace(b"once >>", b"twice >>")
    assert caller.send("shell.execute", other).why == ("CONFLICT", "request_mismatch")
    caller.run("true")
    assert lab.lines("once") == ["once"]


def _much_output(caller: ShellCaller) -> None:
    """Its head and its tail are kept, and the rest is counted."""
    output = caller.run("seq 1 30000")["output"]
    whole = "".join(f"{number}\r\n" for number in range(1, 30_001))
    assert output["bytes"] == len(whole)
    assert output["truncated"] is True
    assert 0 < output["omitted"] < len(whole)
    assert output["text"].startswith("1\r\n2\r\n")
    assert output["text"].endswith("29999\r\n30000\r\n")
    assert len(output["text"].encode()) <= 65_536 + 1_024


def _text(result: Fields) -> str:
    return str(result["output"]["text"])
