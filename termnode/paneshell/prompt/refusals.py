"""Why a command is not admitted: one typed refusal for each reason, with what to do next."""

from __future__ import annotations

from typing import Final

from brokerd.client import ErrorCode, Refusal
from termnode.paneshell.prompt.state import PromptState

_BUSY: Final = {
    "BUSY": ("draft", "a line is being edited at the prompt: wait until it is free"),
    "busy": (
        "person",
        "a person typed at this prompt, or it is just shown: try again after their Enter or Ctrl-C",
    ),
    "queued": ("input_queued", "other input is on its way to the pane: try again"),
    "RUNNING": ("running", "a command runs in the shell: wait for its end"),
    "CONTINUATION": ("continuation", "the prompt asks for more of a line: wait until it is free"),
    "foreground_program": (
        "foreground_program",
        "another program has the terminal: wait for its end",
    ),
    "canonical": ("not_editing", "the shell does not edit a line now: try again"),
    "HOOKS_LOST": (
        "hooks_lost",
        "the shell's hooks were removed and are put back: try again after the next prompt",
    ),
    "no_reply": ("no_reply", "the shell did not answer and nothing ran: try again"),
    "READY": ("no_reply", "the shell did not take the command and nothing ran: try again"),
    "EXPIRED": ("no_reply", "the shell came too late and nothing ran: try again"),
    "admission": ("admission", "another command is being admitted: try again"),
    "unresolved": (
        "unresolved_admission",
        "it is not known whether the last command runs: look at the pane",
    ),
    "probing": ("unknown_prompt", "where the prompt is is not known yet: ask for the status again"),
}
"""A word of Term, of the shell or of our own: the reason told, and what to do."""


def not_run(why: str) -> Refusal:
    """The refusal for a command that did not run and never will."""
    if why == "STALE_GENERATION":
        return stale()
    if why == "gone":
        return ended()
    reason, text = _BUSY.get(why, _BUSY["no_reply"])
    return Refusal(ErrorCode.BUSY, text, reason=reason)


def stale() -> Refusal:
    """The prompt has moved on."""
    text = "the prompt has moved on: read its generation again"
    return Refusal(ErrorCode.STALE_GENERATION, text, field="prompt_generation")


def ended() -> Refusal:
    """There is no shell any more."""
    return Refusal(ErrorCode.UNAVAILABLE, "the shell has ended: restart the pane")


def no_integration() -> Refusal:
    """Commands cannot be admitted here at all."""
    return Refusal(
        ErrorCode.UNSUPPORTED,
        "this pane's program takes no commands this way: type them, or submit a task",
        reason="no_integration",
    )


def hooks_lost() -> Refusal:
    """The person's startup files or commands removed the hooks, again and again."""
    return Refusal(
        ErrorCode.UNSUPPORTED,
        "the shell's hooks were removed: type the command, or restart the pane",
        reason="hooks_lost",
    )


def unknown(operation_id: str) -> Refusal:
    """The shell took the command and did not say so."""
    return Refusal(
        ErrorCode.UNKNOWN_OUTCOME,
        "the shell may run it, or not: look at the pane, or ask for its result",
        reason="admission_claimed_without_report",
        operation_id=operation_id,
    )


def check(state: PromptState, generation: int, *, foreground_child: bool) -> None:
    """Raises Refusal unless a command may be tried at this prompt."""
    if state.phase == "exiting":
        raise ended()
    if not state.integrated:
        raise hooks_lost()
    if foreground_child:
        raise not_run("foreground_program")
    if not state.known:
        raise not_run("probing")
    if generation != state.generation:
        raise stale()
    if state.continuation:
        raise not_run("CONTINUATION")
    if not state.ready:
        raise not_run("RUNNING")
