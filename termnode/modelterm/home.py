"""Where a model's terminals live: in the service that runs, or in a private one of this process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import trio

from brokerd.client import ErrorCode, RuntimeDirError, locate_runtime_dir
from termnode.client import ServiceUnavailable, Session, connect
from termnode.modelterm.environment import clean
from termnode.modelterm.private import make_private
from termnode.modelterm.results import Settings, TermError

_END_S: Final = 10.0
"""For a private service to end after it was told to; then it is killed."""

_EMULATOR: Final = "TERMNODE_EMULATOR"
_MAX_READY: Final = 65_536


@dataclass(frozen=True, slots=True)
class Home:
    """A session with the service. ``directory`` is its runtime directory."""

    session: Session
    directory: Path
    private: bool


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Home]:
    """The service that runs under the settings' name. Raises ServiceUnavailable when none does."""
    async with AsyncExitStack() as stack:
        yield await _running(stack, settings)


@asynccontextmanager
async def any_home(settings: Settings) -> AsyncIterator[Home]:
    """The service that runs, else a private one that ends with the block, and with this process.

    Raises TermError UNAVAILABLE when there can be neither.
    """
    async with AsyncExitStack() as stack:
        try:
            home = await _running(stack, settings)
        except ServiceUnavailable:
            home = await _private(stack, settings)
        yield home


async def _running(stack: AsyncExitStack, settings: Settings) -> Home:
    try:
        directory = locate_runtime_dir(settings.runtime_dir, settings.environment)
    except RuntimeDirError as error:
        raise ServiceUnavailable(str(error), {"reason": "no_broker"}) from None
    session = await stack.enter_async_context(
        connect(directory, name=settings.name, timeout=settings.limits.connect_s)
    )
    return Home(session, directory, private=False)


async def _private(stack: AsyncExitStack, settings: Settings) -> Home:
    try:
        directory = await stack.enter_async_context(_private_service(settings))
        session = await stack.enter_async_context(
            connect(directory, name=settings.name, timeout=settings.limits.connect_s)
        )
    except (ServiceUnavailable, OSError) as error:
        raise not_started(str(error)) from None
    return Home(session, directory, private=True)


def not_started(why: str) -> TermError:
    """No service could be had."""
    words = f"no terminal service could be started: {why}; start one with 'termnode up'"
    return TermError(ErrorCode.UNAVAILABLE, words)


@asynccontextmanager
async def _private_service(settings: Settings) -> AsyncIterator[Path]:
    """A service in a directory of its own (0700); yields its runtime directory.

    It holds one end of a pipe and ends when the other is closed: the kernel does that, however this
    process ends.
    """
    base = make_private(settings.place)
    directory = base.path / "rt"
    try:
        directory.mkdir(mode=0o700)
        leash, held = os.pipe()
        try:
            process = await _start(settings, directory, leash)
        except BaseException:
            os.close(held)
            raise
        finally:
            os.close(leash)
        try:
            yield directory
        finally:
            os.close(held)
            with trio.CancelScope(shield=True):
                await _ended(process)
    finally:
        base.remove()


async def _start(settings: Settings, directory: Path, leash: int) -> trio.Process:
    """The service's process, once it says that it is ready.

    Raises TermError UNAVAILABLE with what it had to say.
    """
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        reader, writer = os.pipe()
        try:
            process = await trio.lowlevel.open_process(
                _command(settings, directory, writer, leash),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                pass_fds=[writer, leash],
                start_new_session=True,
                cwd="/",
                env=_environment(settings),
            )
        except BaseException:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        ready = False
        try:
            ready = await _says_ready(reader, settings.limits.start_s)
        finally:
            if not ready:
                process.kill()
                with trio.CancelScope(shield=True):
                    await process.wait()
        if ready:
            return process
        said.seek(0)
        last = said.read(2_000).strip().splitlines()
        raise not_started(last[-1] if last else "it was not ready in time")


async def _says_ready(reader: int, within: float) -> bool:
    line = b""
    async with trio.lowlevel.FdStream(reader) as stream:
        with trio.move_on_after(within):
            while len(line) < _MAX_READY and (more := await stream.receive_some(4_096)):
                line += more
    try:
        return json.loads(line).get("ready") is True
    except ValueError:
        return False


def _command(settings: Settings, directory: Path, ready_fd: int, leash: int) -> list[str]:
    # -P: no module is ever taken from the directory that this was called in.
    limits = settings.limits
    return [
        sys.executable, "-P", "-m", "termnode.cli.main", "up",
        "--name", settings.name, "--runtime-dir", str(directory),
        "--ready-fd", str(ready_fd), "--while-fd", str(leash),
        "--size", f"{limits.cols}x{limits.rows}", "--shell", "/bin/sh",
    ]  # fmt: skip


def _environment(settings: Settings) -> dict[str, str]:
    """What the service itself gets: no more than its programs.

    A policy that is none lets it have no verified sessions, and so no pane shells: nobody else is
    there to use them.
    """
    own = {"COSMIX_TERM_POLICY": "none", "TERM_NOTIFY": "0"}
    if _EMULATOR in settings.environment:
        own[_EMULATOR] = settings.environment[_EMULATOR]
    return {**clean(settings.environment), **own}


async def _ended(process: trio.Process) -> None:
    """Wait for its end; end it when it does not."""
    with trio.move_on_after(_END_S):
        await process.wait()
        return
    process.kill()
    await process.wait()
