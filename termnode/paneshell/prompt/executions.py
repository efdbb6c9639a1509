"""What becomes of one admitted command: when it has ended, how, and what is told of it. No I/O."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from termnode.paneshell.prompt.output import Output
from termnode.paneshell.prompt.records import Cont, Prompt, PromptRecord, ReplyWord, Run
from termnode.paneshell.status import bounded_path

OUTPUT_MS: Final = 1_000
"""After the shell told the end, for Term to tell the output; and the other way round."""

ABANDONED: Final = "admission_abandoned_before_execution"
"""Why nothing ran: the shell took it, and then its line was given up, as by an interrupt."""

NO_OUTPUT: Final = Output("", b"", b"", 0, None)

_STOPS: Final = frozenset({signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU})


@dataclass(slots=True, eq=False)
class Execution:
    """One command, from the moment that its request is written. Times are ms since boot."""

    id: str
    began_ms: int
    generation: int
    """Of the prompt that it is for."""
    admitted: bool = False
    """Whether the shell has said that it took it."""
    running: bool = False
    """Whether the shell has said that it runs."""
    unfinished: bool = False
    """Whether the shell asked for more of it."""
    doubted: bool = False
    """Whether nobody could say if it runs when its admission ended."""
    cancel_requested: bool = False
    signalled: bool = False
    result: dict[str, object] | None = None
    _output: Output | None = None
    _status: int | None = None
    _cwd: bytes | None = None
    _ended_ms: int | None = None
    """When the first of the two sides told the end."""
    _told: bool = False
    """Whether the shell itself told the end."""
    _passed: bool = False
    """Whether the shell has gone on without it: it never ran and never will."""

    @property
    def over(self) -> bool:
        """Whether it has its result."""
        return self.result is not None

    @property
    def ended(self) -> bool:
        """Whether there is nothing to cancel any more, its result told or not."""
        return self.over or self._ended_ms is not None

    @property
    def stuck(self) -> bool:
        """Whether the shell waits for more of it."""
        return self.unfinished and not (self.running or self._passed or self.ended)

    def note(self, record: PromptRecord, now_ms: int) -> None:
        """What the shell tells, in its order."""
        if isinstance(record, ReplyWord):
            self._reply(record)
        elif isinstance(record, Run):
            self._run(record)
        elif isinstance(record, Cont):
            self.unfinished |= self.admitted and not self.running
        elif isinstance(record, Prompt):
            self._prompt(record, now_ms)

    def note_output(self, output: Output, now_ms: int) -> None:
        """What Term tells of it."""
        if output.op == self.id and self._output is None:
            self._output = output
            if output.status is not None:
                self._status = output.status if self._status is None else self._status
                self._end(now_ms)

    def note_program(self, ended: Mapping[str, Any], now_ms: int) -> None:
        """The pane's program has ended."""
        if self.result is not None:
            return
        how: dict[str, object] = {key: ended[key] for key in ("code", "signal") if key in ended}
        if self.admitted:
            self._settle(now_ms, "completed", {"shell_exited": True, **how})
        else:
            self._settle(now_ms, "unknown", None, reason="shell_exited")

    def note_lost(self, now_ms: int) -> None:
        """A prompt came that the shell did not tell of: its hooks are gone."""
        if self.result is None and self._ended_ms is None:
            self._settle(now_ms, "unknown", None, reason="hooks_lost")

    def due_ms(self) -> int | None:
        """When it is settled at the latest; None while it has not ended."""
        if self.result is not None or self._ended_ms is None:
            return None
        complete = self._told and self._output is not None
        return self._ended_ms + (0 if complete else OUTPUT_MS)

    def settle_if_due(self, now_ms: int) -> bool:
        """Make the result if it is time. Whether it was made now."""
        if self.result is None and self._passed and (self.admitted or self.doubted):
            reason = "unfinished_source" if self.unfinished else ABANDONED
            self._settle(now_ms, "not_started", None, reason=reason)
            return True
        due = self.due_ms()
        if due is None or now_ms < due:
            return False
        self._settle(now_ms, "completed", exit_of(self._status or 0))
        return True

    def _reply(self, record: ReplyWord) -> None:
        """A free prompt is proof once it is in doubt: what was told before the claim was read."""
        if record.id == self.id:
            self.admitted |= record.word == "ADMITTED"
        elif record.word == "READY" and self.doubted and not self.running:
            self._passed |= record.generation in (self.generation, self.generation + 1)

    def _run(self, record: Run) -> None:
        """A shell says of each line that it runs, so another one of this prompt is proof."""
        if record.op == self.id:
            self.admitted = self.running = True
        elif not self.running and record.generation == self.generation:
            self._passed = True

    def _prompt(self, record: Prompt, now_ms: int) -> None:
        if self.result is not None:
            return
        if record.op == self.id:
            self._status, self._cwd = record.status, record.cwd
            self._told, self._passed = True, not self.running
            if self.running:
                self._end(now_ms)
        elif self.admitted:
            if not (self._passed or self.ended):
                self._settle(now_ms, "unknown", None, reason="hooks_lost")
        elif record.generation == self.generation + 1:
            self._passed = True
        elif self.doubted and record.generation > self.generation:
            self._settle(now_ms, "unknown", None, reason="reports_lost")

    def _end(self, now_ms: int) -> None:
        if self._ended_ms is None:
            self._ended_ms = now_ms

    def _settle(
        self, now_ms: int, outcome: str, exit_: dict[str, object] | None, reason: str | None = None
    ) -> None:
        end = now_ms if self._ended_ms is None else self._ended_ms
        result: dict[str, object] = {"outcome": outcome, "exit": exit_}
        result["output"] = self._output_body(outcome)
        result["cwd"] = None if self._cwd is None else bounded_path(self._cwd)[0]
        result["duration_ms"] = max(0, end - self.began_ms)
        if reason is not None:
            result["reason"] = reason
        if self.cancel_requested:
            interrupted = self.signalled and exit_ == {"signal": int(signal.SIGINT)}
            result["outcome"] = "cancelled" if interrupted else outcome
            delivered = self._delivered(str(result["outcome"]))
            result["cancellation"] = {"requested": True, "delivered": delivered}
        self.result = result

    def _delivered(self, outcome: str) -> str:
        if not self.signalled:
            return "none"
        return "completed_anyway" if outcome == "completed" else "signal"

    def _output_body(self, outcome: str) -> dict[str, object] | None:
        """None when Term did not tell it although there may have been some."""
        if self._output is not None:
            return self._output.body()
        return NO_OUTPUT.body() if outcome == "not_started" else None


def exit_of(status: int) -> dict[str, object]:
    """What a shell's status says: ``code``, or ``signal`` or ``stopped`` with the signal's number.

    A command that itself ends with 128 and more reads the same as one that a signal ended.
    """
    number = status - 128
    if number in _STOPS:
        return {"stopped": number}
    return {"signal": number} if number in _SIGNALS else {"code": status}


_SIGNALS: Final = frozenset(int(number) for number in signal.valid_signals())
