"""The process that holds one operation: it submits it, answers about it, and keeps its result.

It is forked from the command that wants it, before that has loaded anything, and has a session of
its own: a Ctrl-C, or the end of the command, is nothing to it.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn

from termnode.cli.exec_files import OperationFiles, line

if TYPE_CHECKING:
    from termnode.client import Execution, NativePane, Session, Task

READY_S: Final = 10.0
"""For a pane that was just opened to become control-ready."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be run: a command's ``source``; or a task's ``argv`` or ``source``, ``cwd``,
    ``env`` and ``timeout`` in seconds. ``pane`` None is the active one."""

    kind: str
    pane: int | None
    source: str | None = None
    argv: tuple[str, ...] | None = None
    cwd: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    timeout: float = 60.0


def start(files: OperationFiles, wanted: Wanted) -> socket.socket:
    """Fork it. What comes is one line: ``operation`` and ``pane``, or ``error``; the end without
    one is its death. Raises OSError. Only for a process with one thread."""
    mine, theirs = socket.socketpair()
    if os.fork() == 0:
        mine.close()
        _hold(files, wanted, theirs)
    theirs.close()
    return mine


def _hold(files: OperationFiles, wanted: Wanted, front: socket.socket) -> NoReturn:
    """Be that process, to its end."""
    code = 1
    try:
        os.setsid()
        _quiet()
        import trio  # the command that waits for this one never needs it

        trio.run(_whole, files, wanted, front)
        code = 0
    finally:
        os._exit(code)


def _quiet() -> None:
    """Whoever reads the command's output must not wait for this process as well."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    os.close(nowhere)


async def _whole(files: OperationFiles, wanted: Wanted, front: socket.socket) -> None:
    from termnode.cli.exec_serving import hold, problem
    from termnode.cli.explaining import first_error
    from termnode.client import connect

    try:
        async with connect(files.runtime_dir, name=files.name) as session:
            pane = await _pane(session, wanted.pane)
            running = await _submitted(pane, wanted)
            with files.listen(running.id) as listener:
                _tell(front, {"operation": running.id, "pane": pane.id})
                await hold(files, running, pane.id, listener)
    except Exception as error:  # noqa: BLE001  # whatever it is, somebody waits to be told
        _tell(front, {"error": problem(first_error(error))})


async def _pane(session: Session, wanted: int | None) -> NativePane:
    """The pane by number, once it may be controlled. Raises TermnodeError."""
    from termnode.client import Busy, Forbidden, ProgramEnded, WaitTimeout

    number = await _active(session) if wanted is None else wanted
    with suppress(Forbidden):  # strict posture does not list panes
        if (await session.pane(number)).info.exit is not None:
            raise ProgramEnded("the pane's program has ended: term.pane.restart starts it again")
    try:
        return await (await session.native()).wait_pane(number, timeout=READY_S)
    except WaitTimeout:
        raise Busy(
            "the pane's shell has no verified session yet: try again, 'termnode panes' says why"
        ) from None


async def _active(session: Session) -> int:
    from termnode.client import Forbidden

    try:
        return (await session.active_pane).id
    except Forbidden:
        raise Forbidden("which pane is active is not told here: name one with --pane") from None


async def _submitted(pane: NativePane, wanted: Wanted) -> Execution | Task:
    if wanted.kind == "exec":
        return await pane.submit(wanted.source or "")
    return await pane.submit_task(
        wanted.argv,
        source=wanted.source,
        cwd=wanted.cwd,
        env=dict(wanted.env),
        timeout=wanted.timeout,
    )


def _tell(front: socket.socket, message: Mapping[str, Any]) -> None:
    """Once; whoever wanted it may be gone."""
    with front, suppress(OSError):
        front.sendall(line(message))
