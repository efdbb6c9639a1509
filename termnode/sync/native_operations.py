# Made from termnode/client/native_operations.py by python -m termnode.client.generate.
"""Commands and tasks that run: what to wait for, and what to cancel."""

from __future__ import annotations

from termnode.client import native_exec_link, native_link
from termnode.client.native_exec_calls import Submitted, cancel, exec_result, task_result
from termnode.client.native_exec_replies import (
    CancelReply,
    ExecState,
    Executed,
    TaskReport,
    TaskState,
)
from termnode.client.native_term import Term
from termnode.sync.native_output import Output
from termnode.sync.runner import Runner


class _Running:
    """One operation of this session, which alone can ask for it."""

    def __init__(self, runner: Runner, term: Term, operation: Submitted) -> None:
        self._runner = runner
        self._term = term
        self._operation = operation

    @property
    def id(self) -> int:
        """The operation's number."""
        return self._operation.number

    def cancel(self) -> CancelReply:
        """Ask for its end. Raises UnknownOutcome, Disconnected, Forbidden."""
        call = cancel(self._operation)
        return self._runner.run(native_link.ask, self._term, call)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"


class Execution(_Running):
    """A command at a pane's prompt. `cancel` sends SIGINT, once, and no more than that."""

    def state(self) -> ExecState:
        """Where it stands now. Raises UnknownOutcome, Disconnected, Forbidden."""
        call = exec_result(self._operation, 0)
        return self._runner.run(native_link.ask, self._term, call)

    def output(self) -> Output:
        """What it writes, as it comes; ask for it at once, for a command that writes much."""
        return Output(self._runner, self._term, self._operation)

    def result(self, *, timeout: float | None = 30.0) -> Executed:
        """How it ended, waited for ``timeout`` seconds (None: for as long as it takes).

        Raises WaitTimeout while it runs, UnknownOutcome, Disconnected, Forbidden. A wait that is
        cancelled or interrupted leaves the command running.
        """
        return self._runner.run(native_exec_link.executed, self._term, self._operation, timeout)


class Task(_Running):
    """A task beside a pane's shell. `cancel` sends SIGTERM, and SIGKILL two seconds later."""

    def state(self) -> TaskState:
        """Where it stands now. Raises UnknownOutcome, Disconnected, Forbidden."""
        call = task_result(self._operation, 0)
        return self._runner.run(native_link.ask, self._term, call)

    def report(self, *, timeout: float | None = None) -> TaskReport:
        """How it ended, waited for ``timeout`` seconds (None: until it has settled).

        Raises WaitTimeout while it runs, UnknownOutcome, Disconnected, Forbidden.
        """
        return self._runner.run(native_exec_link.settled, self._term, self._operation, timeout)
