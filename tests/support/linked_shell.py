"""An integrated shell in a pane as Term has it, with the test in the place of the sidecar."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import trio

from termnode.paneshell.integration import Request, as_one_command, write_request
from termnode.service.live_pane import LivePane
from termnode.service.program import Program
from termnode.service.shells.link import ShellLink
from termnode.service.shells.starting import Integration, prepare
from termnode.terminal import engines
from termnode.terminal.pty_terminal import Terminal
from tests.support.integrated_shell import environment, furnish
from tests.support.pty_lab import Lab, in_lab


class Told(list[Mapping[str, Any]]):
    """What Term told the sidecar, in order."""

    def post(self, record: Mapping[str, Any], *, best_effort: bool = False) -> bool:
        """As a channel that never fills."""
        del best_effort
        self.append(record)
        return True

    def of(self, kind: str) -> list[Mapping[str, Any]]:
        """The records of one type."""
        return [each for each in self if each["type"] == kind]


class LinkedShell:
    """One shell; requests are written as a sidecar writes them."""

    def __init__(
        self, live: LivePane, link: ShellLink, integration: Integration, home: Path
    ) -> None:
        self.live = live
        self.link = link
        self.terminal = live.terminal
        self.told = Told()
        self.home = home
        self.control = integration.directory.control
        self._unread = b""
        self._records: list[list[str]] = []
        self._ops = 0
        link.attach(self.told)

    async def until(self, check: Callable[[], object]) -> None:
        """Wait until ``check`` holds; not every condition is announced, so look often."""
        while not check():
            with trio.move_on_after(0.005):
                await self.terminal.changed(self.terminal.revision)

    async def at_prompt(self) -> None:
        """Wait until a command may be pressed into it, as far as the marks go."""
        typing = self.link.typing
        await self.until(lambda: typing.shown and typing.untouched(self.terminal.bytes_typed))
        await self.until(lambda: self.generation)

    def type(self, text: str) -> None:
        """As a person or an agent does."""
        self.terminal.write(text.encode())

    def records(self, word: str) -> list[list[str]]:
        """The fields of what the shell told on its control pipe."""
        with suppress(BlockingIOError):
            self._unread += os.read(self.control, 1 << 20)
        *whole, self._unread = self._unread.split(b"\0")
        self._records += [each.decode().split(" ") for each in whole]
        return [fields for first, *fields in self._records if first == word]

    @property
    def generation(self) -> int:
        """Of the newest prompt; 0 before the first."""
        return int([["0"], *self.records("PROMPT")][-1][0])

    async def reply(self, op: str) -> str:
        """The shell's word on a request."""
        await self.until(lambda: any(each[0] == op for each in self.records("REPLY")))
        return next(each[1] for each in self.records("REPLY") if each[0] == op)

    def request(self, source: str, generation: int | None = None) -> str:
        """Write a request; returns its id. It is read when the key is pressed.

        ``generation`` None is that of the newest prompt.
        """
        generation = self.generation if generation is None else generation
        self._ops += 1
        op = f"op-{self._ops}"
        directory = Path(self.link.facts.directory)
        text = as_one_command(self.link.facts.kind, source)
        write_request(directory, Request(op, generation, "# test", text))
        return op

    def press(self, op: str) -> str:
        """Have the key pressed; the word that Term answers in that step, or ''."""
        before = len(self.told.of("pressed"))
        self.link.take({"type": "press", "op": op})
        words = self.told.of("pressed")[before:]
        assert all(each["op"] == op for each in words)
        return "".join(each["word"] for each in words)

    async def output(self, op: str) -> Mapping[str, Any]:
        """What was told of an operation's output."""
        await self.until(lambda: any(each["op"] == op for each in self.told.of("output")))
        (found,) = (each for each in self.told.of("output") if each["op"] == op)
        # The mark in the output may come before the record of the same prompt.
        await self.until(lambda: self.generation >= (found["generation"] or 0))
        return found


@asynccontextmanager
async def linked(lab: Lab, kind: str) -> AsyncIterator[LinkedShell]:
    """A shell on a terminal of 80 by 24, with a home of its own."""
    with TemporaryDirectory(prefix="tn-", ignore_cleanup_errors=True) as base:
        home = Path(base) / "home"
        furnish(home, kind)
        prepared = prepare((kind,), environment(home), Path(base) / "shells")
        assert prepared.integration is not None
        spawned = await lab.host.spawn(prepared.argv, "/", dict(prepared.environment), 80, 24)
        terminal = Terminal(spawned.master_fd, spawned.pid, engines.make()(80, 24))
        program = Program((kind,), "/")
        live = LivePane(1, program, spawned.pid, terminal, lab.host, trio.current_time())
        link = live.shell = ShellLink(live, prepared.integration)
        async with trio.open_nursery() as nursery:
            await nursery.start(terminal.run)
            nursery.start_soon(link.run)
            yield LinkedShell(live, link, prepared.integration, home)
            nursery.cancel_scope.cancel()
        await terminal.close()
        live.close_shell()


def with_shell(kind: str, test: Callable[[Lab, LinkedShell], Awaitable[None]]) -> None:
    """Run an async test with a shell at its first prompt."""

    async def run(lab: Lab) -> None:
        async with linked(lab, kind) as shell:
            await shell.at_prompt()
            await test(lab, shell)

    in_lab(run)
