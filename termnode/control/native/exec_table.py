"""The verbs that are for a pane's own shell: commands at its prompt, and tasks beside it.

Term decides who may ask, and whether it was asked before; all else is the shell's to decide
(specs/execute.md), so values are checked here no further than they must be to be passed on.
"""

from __future__ import annotations

from typing import Final

from brokerd.client import ErrorCode
from termnode.control.native.deriving import MUTATION
from termnode.control.native.fields import OPERATION_ID, TARGET
from termnode.control.native.limits import FORWARDED_WAIT_MS
from termnode.control.native.spec import Forwarded, NativeSpec
from termnode.control.spec import Capability, Field, FieldType, Kind

EXECUTE: Final = "execute"
TASK: Final = "task"

_SOURCE: Final = Field(
    "source",
    FieldType.TEXT,
    "the command, whole: at most 4,096 bytes, no NUL, not blank; it may have several lines",
    required=True,
    low=1,
    high=4_096,
)
_PROMPT: Final = Field(
    "prompt_generation",
    FieldType.DECIMAL,
    "of the prompt that it is for, as shell.status says it",
    required=True,
)
_SCRIPT: Final = Field(
    "source",
    FieldType.TEXT,
    "a script for the pane's kind of shell; either this or argv. JSON that it writes to descriptor "
    "3 is its structured result",
    low=1,
    high=4_096,
)
_WORDS: Final = Field(
    "argv", FieldType.ARGV, "a program and its arguments; either this or source", low=1, high=256
)
_CWD: Final = Field("cwd", FieldType.PATH, "absolute directory to run in", required=True, high=4096)
_ENV: Final = Field(
    "env",
    FieldType.PAIRS,
    "variables beside the few that a task has; 4,096 bytes in all",
    high=64,
)
_TIMEOUT: Final = Field(
    "timeout_ms",
    FieldType.INTEGER,
    "how long it may run; then it is ended, in the hard way after two seconds",
    required=True,
    low=1,
    high=600_000,
)
WAIT_MS: Final = "wait_ms"

_WAIT: Final = Field(
    WAIT_MS, FieldType.INTEGER, "how long to wait for the end", high=FORWARDED_WAIT_MS
)

_OF_SHELL: Final = (
    ErrorCode.STALE_GENERATION,
    ErrorCode.BUSY,
    ErrorCode.EXPIRED,
    ErrorCode.DISCONNECTED,
)
"""What a pane's shell may refuse with, beside what any verb may."""

_TARGET_ROW: Final = (TARGET, "the pane, as it was named")
_OPERATION_ROW: Final = (OPERATION_ID, "of the operation: to read and cancel it by")
_ACCEPTED: Final = (
    _TARGET_ROW,
    _OPERATION_ROW,
    ("operation_id_request", "the request id, for term.operation"),
    ("state", "running, or what it has become when this is a repeat"),
    ("status", "accepted"),
)
_CANCELLED: Final = (
    _TARGET_ROW,
    _OPERATION_ROW,
    ("outcome", "requested, already_finished or already_settled, or unknown"),
    ("delivery", "what was done, in words"),
)


def _submission(name: str, summary: str, forwarded: Forwarded, **rest: object) -> NativeSpec:
    made: dict[str, object] = {
        "kind": Kind.MUTATION,
        "capability": Capability.EXECUTE,
        "envelope": MUTATION,
        "errors": _OF_SHELL,
        "needs_epoch": True,
    }
    return NativeSpec(name, summary, forwarded=forwarded, **{**made, **rest})  # type: ignore[arg-type]  # of NativeSpec


def _question(
    name: str, summary: str, forwarded: Forwarded, kind: Kind, result: tuple[tuple[str, str], ...]
) -> NativeSpec:
    return NativeSpec(
        name,
        summary,
        kind,
        Capability.EXECUTE,
        (_WAIT,) if kind is Kind.WAIT else (),
        result,
        envelope=frozenset({OPERATION_ID}),
        errors=(*_OF_SHELL, ErrorCode.UNKNOWN_OUTCOME),
        of_ended=True,
        forwarded=forwarded,
        example={"wait_ms": 30_000} if kind is Kind.WAIT else {},
    )


EXEC_VERBS: Final = (
    _submission(
        "term.execute",
        "Have the pane's shell run a command, in sight of the person and only at a free prompt.",
        Forwarded("shell.execute", EXECUTE),
        fields=(_SOURCE, _PROMPT, _WAIT),
        result=(
            *_ACCEPTED,
            ("prompt_generation", "of the prompt that it runs at"),
            ("result", "as of term.exec.result; with a wait, when it has ended, and may be told"),
        ),
        limits="one at a time; while a person types, or a command runs, it is BUSY",
        example={"source": "make test", "prompt_generation": "12"},
    ),
    _question(
        "term.exec.result",
        "What a command that was submitted has come to; with a wait, as soon as it has.",
        Forwarded("shell.execute.result", EXECUTE),
        Kind.WAIT,
        (
            _TARGET_ROW,
            _OPERATION_ROW,
            ("state", "running or finished"),
            ("result", "once finished: outcome, exit, output, cwd, duration_ms, cancellation"),
        ),
    ),
    _question(
        "term.exec.cancel",
        "Interrupt a command that was submitted; once, and never harder.",
        Forwarded("shell.execute.cancel", EXECUTE),
        Kind.READ,
        (*_CANCELLED, ("signalled_pgid", "the process group that was interrupted, or null")),
    ),
    _submission(
        "term.task.submit",
        "Run a program or a script beside the pane's shell, isolated from its terminal.",
        Forwarded("shell.task.submit", TASK),
        fields=(_SCRIPT, _WORDS, _CWD, _ENV, _TIMEOUT),
        result=_ACCEPTED,
        errors=(*_OF_SHELL, ErrorCode.NOT_FOUND),
        limits="four at a time per pane; more are RESOURCE_LIMIT, to be sent again later",
        example={"argv": ["make", "test"], "cwd": "/home", "timeout_ms": 60_000},
    ),
    _question(
        "term.task.result",
        "What a task has come to; with a wait, as soon as it has.",
        Forwarded("shell.task.result", TASK),
        Kind.WAIT,
        (
            _TARGET_ROW,
            _OPERATION_ROW,
            ("state", "running, cancelling or settled"),
            ("elapsed_ms", "while it runs"),
            ("report", "once settled: outcome, stdout, stderr, result, duration_ms"),
        ),
    ),
    _question(
        "term.task.cancel",
        "End a task: SIGTERM to its group, and SIGKILL two seconds later.",
        Forwarded("shell.task.cancel", TASK),
        Kind.READ,
        _CANCELLED,
    ),
)
"""In the order of specs/execute.md."""
