"""What ends a service: signals, and the end of whoever it is for."""

from __future__ import annotations

import signal

import trio


async def stop_on_signal(
    stop: trio.Event, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Set ``stop`` at SIGTERM, SIGINT, or SIGHUP unless it is ignored; ``started`` from then on."""
    ending = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup(1) leaves it
        ending.append(signal.SIGHUP)
    # A service that Ctrl-Z stops would leave every caller waiting.
    signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    with trio.open_signal_receiver(*ending) as signals:
        task_status.started()
        async for _number in signals:
            stop.set()


async def stop_when_closed(descriptor: int, stop: trio.Event) -> None:
    """Set ``stop`` when the other end of a pipe is closed, to which nobody writes."""
    await trio.lowlevel.wait_readable(descriptor)
    stop.set()
