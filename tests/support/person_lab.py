"""A service's panes and workspace without a bus: what a person does there, called directly."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import trio

from brokerd.client import Json, Refusal, Request
from termnode.control import posture
from termnode.service.config import Config
from termnode.service.input.authors import Author
from termnode.service.keeping.instance import InstanceFiles
from termnode.service.live_pane import LivePane
from termnode.service.main import _Service
from termnode.service.mutations import MUTATIONS, tab_new
from termnode.service.state import State
from tests.support.broker_process import short_directory
from tests.support.byte_programs import READER
from tests.support.lane import Local

WITHIN = 40.0
AGENT = Author("uid 1 pid 2", "term.test")


@dataclass
class Asked:
    """An agent's mutation under way: ``result`` or ``refusal`` once it has ended."""

    result: dict[str, Any] | None = None
    refusal: Refusal | None = None
    ended: trio.Event = field(default_factory=trio.Event)


class PersonLab:
    """One service's state, and agents at it."""

    def __init__(self, service: _Service, directory: Path, nursery: trio.Nursery) -> None:
        self.service = service
        self.state: State = service.state
        self.directory = directory
        self._nursery = nursery

    async def program(self, *argv: str) -> LivePane:
        """A program in a tab of its own."""
        opened = await tab_new(self.state, {"argv": list(argv), "remain": 60})
        return self.state.live(int(str(opened["pane"])))

    async def reader(self, setup: str = "", *, stopped: bool = False) -> tuple[LivePane, Path]:
        """A program that keeps what it reads in a file; while ``stopped`` it reads nothing."""
        path = self.directory / f"read-{len(self.state.workspace.panes)}"
        if stopped:
            stop_file(path).touch()
        live = await self.program(
            sys.executable, "-S", "-c", READER, str(path), setup, "65536", "0"
        )
        await shows(live, "READY")
        return live, path

    async def agent(self, verb: str, author: Author = AGENT, **args: object) -> Asked:
        """An agent's mutation, begun; the rest of it goes on by itself."""
        asked = Asked()
        self.state.inputs.author = author
        try:
            begun = await MUTATIONS[verb](self.state, args)
        except Refusal as refusal:
            asked.refusal = refusal
            asked.ended.set()
            return asked
        assert callable(begun)
        self._nursery.start_soon(_finish, asked, begun)
        return asked

    def request(self, nursery: trio.Nursery, verb: str, body: dict[str, Json]) -> None:
        """A request of an agent as it comes from the bus; ``nursery`` has what is left of it."""
        asked = SimpleNamespace(principal=Local(), command=verb, raw=json.dumps(body).encode())
        self.service.dispatcher._take(cast("Request", asked), nursery)


async def _finish(asked: Asked, later: Callable[[], Awaitable[dict[str, object]]]) -> None:
    try:
        asked.result = await later()
    except Refusal as refusal:
        asked.refusal = refusal
    asked.ended.set()


def stop_file(path: Path) -> Path:
    """While it is there, the reader of ``path`` reads nothing."""
    return path.with_name(path.name + ".stop")


async def shows(live: LivePane, text: str) -> None:
    """Wait until the pane shows a text."""
    while not any(text in row for row in live.terminal.engine.text()):
        await live.terminal.changed(live.terminal.revision)


async def until(true: Callable[[], object]) -> None:
    """Look again and again, letting everybody else run; the lab's deadline ends it."""
    while not true():
        with trio.move_on_after(0.002):
            await trio.sleep_forever()


async def has_read(path: Path, end: bytes) -> bytes:
    """All that a reader has read, once it ends so."""
    await until(lambda: path.exists() and path.read_bytes().endswith(end))
    return await trio.Path(path).read_bytes()


@asynccontextmanager
async def person_lab() -> AsyncIterator[PersonLab]:
    """Panes, the mutation queue and nothing else; all of it ends with the block."""
    with short_directory() as directory, trio.fail_after(WITHIN):
        config = Config(
            name="term",
            directory=directory,
            cwd="/",
            environment={"PATH": os.environ["PATH"]},
            shell="/bin/sh",
        )
        files = InstanceFiles(directory, "term")
        posture.write(files.posture, posture.Posture.OPEN)
        service = _Service(config, files)
        async with trio.open_nursery() as nursery:
            await nursery.start(service.host.run)
            await nursery.start(service.panes.run)
            nursery.start_soon(service.dispatcher._run_mutations, nursery)
            yield PersonLab(service, directory, nursery)
            nursery.cancel_scope.cancel()


def in_person_lab(test: Callable[[PersonLab], Awaitable[None]]) -> None:
    """Run an async test with a lab of its own."""

    async def run() -> None:
        async with person_lab() as lab:
            await test(lab)

    trio.run(run)
