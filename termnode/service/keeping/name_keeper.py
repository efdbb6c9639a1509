"""Keeps the service's name: registers it, and again when it was lost with a broker."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final, NoReturn

import trio

from brokerd.client import BrokerLost, Bus, BusError, NotConnected, Request, RequestTimeout

NAME_RETRY_S: Final = 1.0
FIRST_RETRY_S: Final = 0.1

Take = Callable[[Request], None]

log = logging.getLogger("termnode.service")


async def serve_name(
    bus: Bus,
    name: str,
    take: Take,
    *,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> NoReturn:
    """Give ``take`` the requests to ``name``, for ever; ``started`` once it is registered.

    Raises NameTaken when another connection holds the name from the start, and Refused when the
    broker will not have it. A broker that dies meanwhile ends nothing: it comes back.
    """
    await _first_listen(bus, name, take, task_status.started)
    while True:
        await trio.sleep(NAME_RETRY_S)
        try:
            await _listen(bus, name, take, _nobody)
        except BusError as error:
            log.warning("the name %s is not served now: %s", name, error)


async def _first_listen(bus: Bus, name: str, take: Take, when_served: Callable[[], None]) -> None:
    """As `_listen`; begins again while the broker goes away before it has answered."""
    while True:
        try:
            await _listen(bus, name, take, when_served)
        except (BrokerLost, NotConnected, RequestTimeout):
            log.warning("the broker went away while the name was being registered")
            await trio.sleep(FIRST_RETRY_S)
        else:
            return


async def _listen(bus: Bus, name: str, take: Take, when_served: Callable[[], None]) -> None:
    """Take requests until the name is lost for good, or to somebody else, under a new broker.

    Raises only before ``when_served`` is called: NameTaken, Refused, or the bus's own errors.
    """
    async with bus.attend(name, take) as attendance:
        when_served()
        try:
            await attendance.wait_lost()
        except BusError as error:
            log.error("the name %s was lost; trying to get it back: %s", name, error)


def _nobody() -> None:
    """Nobody waits for the name to be served again."""
