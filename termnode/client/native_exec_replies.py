"""What comes of commands at a shell's prompt, and of tasks beside it (specs/execute.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from termnode.client.decode import Decimal

FINISHED: Final = "finished"
SETTLED: Final = "settled"

SIGNALLED: Final = 128
"""Shells say with this and its number that a signal ended, or stopped, a command."""


@dataclass(frozen=True, slots=True)
class ShellPrompt:
    """What a pane's shell is at. ``prompt_generation`` counts the prompts that it has shown; 0
    where it tells of none (``prompt_source`` is then not integration).

    ``phase`` is prompt-ready at a prompt, evaluating while a command of the shell runs,
    foreground-child while another program has the terminal. ``command_id`` is the operation that
    runs, None for a command of the person's.
    """

    phase: str
    prompt_generation: Decimal
    continuation: bool
    cwd: str
    cwd_truncated: bool = False
    prompt_source: str = ""
    command_id: Decimal | None = None

    @property
    def free(self) -> bool:
        """Whether a command may be tried; a half-typed line is the shell's alone to see."""
        return self.phase == "prompt-ready" and not self.continuation


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """What a command wrote to the terminal. Of more than 64 KiB both ends are kept.

    ``bytes`` counts all of it, ``omitted`` what ``text`` does not have, and ``gap`` is the place in
    ``text`` where that was.
    """

    text: str
    bytes: int
    truncated: bool
    omitted: int
    gap: int | None = None


@dataclass(frozen=True, slots=True)
class CommandExit:
    """How a command ended: with ``code``, by ``signal``, or not at all, but ``stopped`` by one.

    ``shell_exited``: the shell itself ended with it; code or signal are then the shell's.
    """

    code: int | None = None
    signal: int | None = None
    stopped: int | None = None
    shell_exited: bool = False

    @property
    def status(self) -> int | None:
        """As shells say it: the code, or 128 and the signal's number."""
        if self.code is not None:
            return self.code
        number = self.signal if self.signal is not None else self.stopped
        return None if number is None else SIGNALLED + number

    def __str__(self) -> str:
        if self.code is not None:
            return f"exit code {self.code}"
        if self.signal is not None:
            return f"signal {self.signal}"
        return "no known status" if self.stopped is None else f"stopped by signal {self.stopped}"


@dataclass(frozen=True, slots=True)
class Cancellation:
    """A cancel that was asked for while it ran: ``delivered`` is none, signal, or
    completed_anyway."""

    requested: bool
    delivered: str


@dataclass(frozen=True, slots=True)
class Executed:
    """A command at the prompt that has ended.

    ``outcome``: completed; cancelled; not_started (nothing ran); unknown (nobody can say:
    ``reason``). ``exit`` and ``output`` are None where they are not known.
    """

    outcome: str
    exit: CommandExit | None = None
    output: CommandOutput | None = None
    cwd: str | None = None
    duration_ms: int | None = None
    cancellation: Cancellation | None = None
    reason: str | None = None

    @property
    def ok(self) -> bool:
        """Whether it completed with 0, in a shell that goes on."""
        ended = self.exit
        clean = ended is not None and ended.code == 0 and not ended.shell_exited
        return self.outcome == "completed" and clean

    @property
    def text(self) -> str:
        """The output as far as it was kept, its lines ended as the command did, not as a terminal
        does; empty where it is not known. Sequences are in it."""
        return "" if self.output is None else self.output.text.replace("\r\n", "\n")


@dataclass(frozen=True, slots=True)
class OutputPiece:
    """Output of a command while it runs, as it stands on the terminal: sequences are in it.

    ``offset`` counts the bytes before it; ``lost`` of them, right before it, came too fast.
    """

    text: str
    offset: int
    lost: int = 0


@dataclass(frozen=True, slots=True)
class Admitted:
    """term.execute and term.task.submit: it runs, or has run. ``result`` is there when a wait for
    a command met its end."""

    operation_id: Decimal
    state: str
    prompt_generation: Decimal | None = None
    result: Executed | None = None


@dataclass(frozen=True, slots=True)
class ExecState:
    """term.exec.result; ``result`` is None while it runs."""

    operation_id: Decimal
    state: str
    result: Executed | None = None


@dataclass(frozen=True, slots=True)
class CancelReply:
    """What a cancel did: ``outcome`` is requested, already_finished (of tasks already_settled) or
    unknown, ``delivery`` says it in words, ``signalled_pgid`` is whom SIGINT was sent."""

    outcome: str
    delivery: str = ""
    signalled_pgid: int | None = None


@dataclass(frozen=True, slots=True)
class TaskWait:
    """How the process of a task that was ended by force ended."""

    code: int | None = None
    signal: int | None = None
    reaped: bool = True


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """How a task ended: ``kind`` is exited, signalled, timeout, cancelled or unknown.

    The middle two have ``escalated_to`` (sigterm or sigkill) and ``wait``; unknown has ``detail``.
    """

    kind: str
    code: int | None = None
    signal: int | None = None
    escalated_to: str | None = None
    wait: TaskWait | None = None
    source: str | None = None
    detail: str | None = None

    @property
    def status(self) -> int | None:
        """As shells say it: the code, or 128 and the signal's number."""
        code, number = self.code, self.signal
        if self.wait is not None:
            code, number = self.wait.code, self.wait.signal
        return SIGNALLED + number if number is not None else code

    def __str__(self) -> str:
        how = {"exited": f"exit code {self.code}", "signalled": f"signal {self.signal}"}
        return how.get(self.kind, self.kind)


@dataclass(frozen=True, slots=True)
class TaskStream:
    """What a task wrote: its first 64 KiB at most. ``bytes`` counts all; ``writer_survived``:
    somebody could still have written when it was read for the last time."""

    bytes: Decimal
    truncated: bool
    writer_survived: bool
    text: str


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What a script wrote to its descriptor 3: ``data`` where ``kind`` is value, else why not."""

    kind: str
    data: Any = None


@dataclass(frozen=True, slots=True)
class TaskReport:
    """A task that has settled. ``survivors`` are processes that it left and that were killed."""

    outcome: TaskOutcome
    stdout: TaskStream
    stderr: TaskStream
    duration_ms: int
    result: TaskResult = field(default_factory=lambda: TaskResult("not_applicable"))
    survivors: int = 0
    survivors_left: int = 0

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with 0."""
        return self.outcome.kind == "exited" and self.outcome.code == 0


@dataclass(frozen=True, slots=True)
class TaskState:
    """term.task.result: ``state`` is running, cancelling or settled; then ``report`` is there."""

    operation_id: Decimal
    state: str
    elapsed_ms: int | None = None
    report: TaskReport | None = None
