"""The standard streams for the protocol alone: nobody else has them, and what is printed by mistake
goes to standard error. Reading and writing wait in Trio, so that both can be cancelled."""

from __future__ import annotations

import fcntl
import os
import select
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import trio

READ_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class Streams:
    """Descriptors of the protocol's input and output."""

    input: int
    output: int


@contextmanager
def claimed() -> Iterator[Streams]:
    """Take them over: descriptor 0 is then on nothing, and 1 is standard error.

    The copies are closed on exec, so that no child has them.
    """
    streams = Streams(_copy(0), _copy(1))
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        yield streams
    finally:
        os.dup2(streams.input, 0)
        os.dup2(streams.output, 1)
        for each in (nothing, streams.input, streams.output):
            os.close(each)


def _copy(descriptor: int) -> int:
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)


async def read_some(descriptor: int) -> bytes:
    """What is there, once something is; b"" at the end. Raises OSError.

    The descriptor stays as it is: others may share the file behind it, and would find it changed.
    """
    try:
        await trio.lowlevel.wait_readable(descriptor)
    except PermissionError:  # a file or /dev/null: always readable, and unknown to epoll
        await trio.lowlevel.checkpoint()
    return os.read(descriptor, READ_BYTES)


async def write_all(descriptor: int, data: bytes) -> None:
    """Write it whole. Raises OSError when nobody reads any more.

    A pipe that is ready takes so many bytes without blocking, and so does a file.
    """
    view = memoryview(data)
    while view:
        try:
            await trio.lowlevel.wait_writable(descriptor)
        except PermissionError:
            await trio.lowlevel.checkpoint()
        view = view[os.write(descriptor, view[: select.PIPE_BUF]) :]
