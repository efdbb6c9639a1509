# Made from termnode/client/native_exec.py by python -m termnode.client.generate.
"""Commands in a pane's own shell, at its free prompt, and tasks beside it (specs/execute.md)."""

from __future__ import annotations

import os
from collections.abc import Mapping

from termnode.client import native_exec_link, native_link
from termnode.client.errors import InvalidArgument
from termnode.client.native_exec_calls import Family, Submitted, submit_task
from termnode.client.native_exec_link import Command
from termnode.client.native_exec_replies import Executed, ShellPrompt, TaskReport
from termnode.client.program import Program, argv_of, directory_of
from termnode.sync.native_look import NativeLook
from termnode.sync.native_operations import Execution, Task

MAX_SECONDS = 600.0
"""The longest time that a task may be given."""


class NativeExec(NativeLook):
    """What can be run in a pane.

    Commands run in the shell that the person uses: it shows who asked and what, and keeps what the
    command changed (its directory, its variables). The shell itself decides, and says Busy, when
    something is typed at its prompt or runs there; nothing ran then. Results are kept for 15
    minutes and are this session's alone.
    """

    def prompt(self) -> ShellPrompt:
        """What the shell is at. Raises ServiceUnavailable while it has no verified session,
        StaleGeneration, Forbidden."""
        return self._runner.run(native_exec_link.prompt, self._term, self.info.target)

    def execute(
        self, source: str, *, timeout: float | None = 30.0, prompt_generation: int | None = None
    ) -> Executed:
        """Run a command at the prompt and give its end: exit status, output, directory::

            done = pane.execute("make test", timeout=600)
            print(done.exit, done.text)

        ``source`` has at most 4,096 bytes and may have several lines, which run as one command.
        Raises as `submit`, and WaitTimeout when it runs for longer than ``timeout`` seconds: it
        goes on then, and so it does when the wait is cancelled or interrupted;
        ``execution(error.details["operation_id"])`` waits on.
        """
        command = Command(self.info.target, source, prompt_generation)
        return self._runner.run(native_exec_link.run_to_end, self._term, command, timeout)

    def submit(self, source: str, *, prompt_generation: int | None = None) -> Execution:
        """Have a command run at the prompt, and go on while it does.

        With the ``prompt_generation`` that `prompt` told, only at that very prompt. Raises Busy and
        StaleGeneration (nothing ran), Unsupported where the program takes no commands,
        InvalidArgument for a source that the shell finds wrong or unfinished, UnknownOutcome,
        ResourceLimit, Forbidden.
        """
        command = Command(self.info.target, source, prompt_generation)
        admitted = self._runner.run(native_exec_link.run_at_prompt, self._term, command)
        return self.execution(admitted.operation_id)

    def execution(self, operation_id: int | str) -> Execution:
        """A command of this session by its operation's number."""
        return Execution(self._runner, self._term, self._operation(Family.COMMAND, operation_id))

    def task(
        self,
        program: Program = None,
        *,
        source: str | None = None,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = 60.0,
    ) -> TaskReport:
        """Run a program, or a script, beside the shell, out of sight, and give its report::

            report = pane.task(["make", "test"], timeout=600)
            print(report.outcome, report.stdout.text)

        Raises as `submit_task`. One that is not done in ``timeout`` seconds is ended: its report
        says so.
        """
        running = self.submit_task(program, source=source, cwd=cwd, env=env, timeout=timeout)
        return running.report()

    def submit_task(
        self,
        program: Program = None,
        *,
        source: str | None = None,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = 60.0,
    ) -> Task:
        """Have a task run, and go on while it does; at most four run beside one shell.

        ``program`` is a list of words, or a string that is split into words; ``source`` instead of
        it is a script for the person's kind of shell, which may write one JSON value to its
        descriptor 3. ``cwd`` is the shell's directory if left out. Of the environment it gets HOME,
        USER, PATH and LANG, and ``env``; its stdin is empty. ``timeout`` is at most 600 seconds.
        Raises InvalidArgument, NotFound for a program or directory that is not there,
        ResourceLimit (nothing ran: try again), ServiceUnavailable, UnknownOutcome, Forbidden.
        """
        call = submit_task(
            self.info.target,
            argv=argv_of(program),
            source=source,
            cwd=self._directory(cwd),
            env=env,
            timeout_ms=_milliseconds(timeout),
        )
        admitted = self._runner.run(native_link.ask, self._term, call)
        return self.task_of(admitted.operation_id)

    def task_of(self, operation_id: int | str) -> Task:
        """A task of this session by its operation's number."""
        return Task(self._runner, self._term, self._operation(Family.TASK, operation_id))

    def _operation(self, family: Family, operation_id: int | str) -> Submitted:
        return Submitted(family, self.info.target, int(operation_id))

    def _directory(self, cwd: str | os.PathLike[str] | None) -> str:
        """The one that was named, else the shell's own."""
        named = directory_of(cwd)
        if named is not None:
            return named
        found = self.prompt()
        if found.cwd_truncated:
            raise InvalidArgument("the shell's directory cannot be named here: give cwd")
        return found.cwd


def _milliseconds(timeout: float) -> int:
    if not 0 < timeout <= MAX_SECONDS:
        raise InvalidArgument(
            f"a task's time is more than 0 and at most {MAX_SECONDS:g} seconds",
            {"field": "timeout_ms"},
        )
    return max(1, round(1000 * timeout))
