"""p0j_d: what the person does at the prompt is left as it is, and the agent is told why."""

from __future__ import annotations

from typing import Final

from termnode.view.messages import Key, Text
from tests.support.stage_d.asking import ShellCaller
from tests.support.stage_d.lab import PaneLab, Start, refusal
from tests.support.termnode_process import eventually
from tests.support.view_client import Viewer, viewer

MARK: Final = "echo ran >>~/ran"
"""What every refused submission would have done."""


def p0j_d_refuses_every_ineligible_state_without_discarding(start: Start) -> None:
    """A draft, a search, an unfinished line, a running program, a prompt that is gone."""
    with start() as lab, viewer(lab.term) as view:
        caller = lab.ready_caller()
        _draft(lab, caller, view)
        _search(lab, caller, view)
        _continuation(lab, caller, view)
        _program(lab, caller, view)
        _own_reading(lab, caller, view)
        _another_prompt(caller)
        _unsound(caller)
        assert lab.lines("ran") == []
        _no_id_was_spent(lab, caller)


def _busy(caller: ShellCaller, *reasons: str) -> None:
    """Refused for one of these, with nothing run: asked for often, as an eager agent would."""
    generation = caller.generation()

    def refused() -> bool:
        why = refusal(caller.execute(MARK, generation))
        assert why[0] in ("BUSY", "STALE_GENERATION"), why
        return why[0] == "BUSY" and why[1] in reasons

    eventually(refused, f"refused for one of {reasons}")
    for _ in range(5):
        assert refused()


def _enter(caller: ShellCaller, view: Viewer, text: str = "") -> None:
    generation = caller.generation()
    view.press(*([Text(text)] if text else []), Key("Enter"))
    caller.at_prompt(generation)


def _draft(lab: PaneLab, caller: ShellCaller, view: Viewer) -> None:
    view.press(Text("echo dra"))
    view.until(lambda: any("echo dra" in row for row in view.rows()), "the draft is shown")
    _busy(caller, "person", "draft")
    _enter(caller, view, "ft >>~/draft")
    assert lab.lines("draft") == ["draft"]


def _search(lab: PaneLab, caller: ShellCaller, view: Viewer) -> None:
    view.press(Key("C-r"), Text("draft"))
    view.until(lambda: any("i-search" in row for row in view.rows()), "a search is shown")
    _busy(caller, "person", "draft")
    _enter(caller, view)
    assert lab.lines("draft") == ["draft", "draft"]


def _continuation(lab: PaneLab, caller: ShellCaller, view: Viewer) -> None:
    view.press(Text("echo 'two"), Key("Enter"))
    eventually(lambda: caller.status()["continuation"], "more of the line is asked for")
    _busy(caller, "continuation")
    _enter(caller, view, "lines' >>~/lines")
    assert lab.lines("lines") == ["two", "lines"]


def _program(lab: PaneLab, caller: ShellCaller, view: Viewer) -> None:
    """It gets none of the trigger's bytes."""
    view.press(Text("cat >~/typed"), Key("Enter"))
    eventually(lab.file("typed").exists, "the program has the terminal")
    _busy(caller, "foreground_program", "running")
    view.press(Text("x"), Key("Enter"))
    generation = caller.generation()
    view.press(Key("C-d"))
    caller.at_prompt(generation)
    assert lab.file("typed").read_bytes() == b"x\n"


def _own_reading(lab: PaneLab, caller: ShellCaller, view: Viewer) -> None:
    """The shell itself reads a line, with its own editor."""
    view.press(Text("read -e -r line; echo $line >>~/own"), Key("Enter"))
    eventually(lambda: caller.status()["phase"] == "evaluating", "it evaluates")
    _busy(caller, "running", "foreground_program")
    _enter(caller, view, "mine")
    assert lab.lines("own") == ["mine"]


def _another_prompt(caller: ShellCaller) -> None:
    now = int(caller.at_prompt())
    for other in (0, now - 1, now + 1, 2**64 - 1):
        assert refusal(caller.execute(MARK, str(other)))[0] == "STALE_GENERATION"


def _unsound(caller: ShellCaller) -> None:
    for source, reason in (
        (f"{MARK}; if", "unfinished_source"),
        (f"{MARK}; echo 'open", "unfinished_source"),
        (f"{MARK}; )", "syntax"),
        (" \n ", None),
        ("x" * 4_097, None),
        (f"{MARK}; \0", None),
    ):
        code, why = refusal(caller.execute(source))
        assert code == "INVALID_ARGUMENT", source
        assert reason in (None, why, "syntax"), (source, why)


def _no_id_was_spent(lab: PaneLab, caller: ShellCaller) -> None:
    """The ids of all that was refused are as good as new."""
    caller.last_id = 0
    caller.run(MARK)
    assert lab.lines("ran") == ["ran"]
