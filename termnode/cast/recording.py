"""Records what comes over a connection into a file, until the program or the person ends it."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Callable
from typing import Final

import trio

from termnode.cast.file import CastFile
from termnode.cast.link import Told
from termnode.cast.writing import CastWriter
from termnode.view.messages import Ended, Keyframe

FLUSH_S: Final = 1.0
_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


async def record(
    first: Keyframe,
    messages: AsyncIterator[Told],
    file: CastFile,
    writer: CastWriter,
    missed: Callable[[int], None],
) -> bool:
    """Write ``first`` and ``messages`` down until `Ended` (True), or SIGINT, SIGTERM or SIGHUP
    (False).

    The file is written every second and closed at the end, however that comes: what is in it can be
    played at any time. ``missed`` is told how many bytes did not come. Raises what ``messages``
    does.
    """
    ended = False
    try:
        writer.take(first)
        async with trio.open_nursery() as nursery:
            await nursery.start(_stop_on_signal, nursery.cancel_scope)
            nursery.start_soon(_flush, file)
            ended = await _write_down(messages, writer, missed)
            nursery.cancel_scope.cancel()
    finally:
        file.close()
    return ended


async def _write_down(
    messages: AsyncIterator[Told], writer: CastWriter, missed: Callable[[int], None]
) -> bool:
    async for message in messages:
        if isinstance(message, Keyframe) and message.missed:
            missed(message.missed)
        writer.take(message)
        if isinstance(message, Ended):
            return True
    return False


async def _flush(file: CastFile) -> None:
    while True:
        await trio.sleep(FLUSH_S)
        file.flush()


async def _stop_on_signal(
    scope: trio.CancelScope, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    with trio.open_signal_receiver(*_ENDING) as signals:
        task_status.started()
        async for _number in signals:
            scope.cancel()
            return
