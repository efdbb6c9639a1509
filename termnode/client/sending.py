"""One sending of a request, and what became of it."""

from __future__ import annotations

from brokerd.client import BrokerLost, Bus, NotConnected, Reply, RequestTimeout
from termnode.client.errors import UNREACHABLE
from termnode.client.fates import Fate, reason_of


async def send_once(bus: Bus, name: str, verb: str, body: bytes, timeout: float) -> Reply | Fate:
    """The reply of who serves ``name``, or what became of the request without one.

    Raises BusError for what this end of the connection refuses: nothing was sent.
    """
    try:
        reply = await bus.request_raw(name, verb, body, timeout=timeout)
    except NotConnected:
        return Fate.UNSENT
    except (BrokerLost, RequestTimeout):
        return Fate.LOST
    reason = reason_of(reply)
    if not reason:
        return reply
    return Fate.NOBODY if reason == UNREACHABLE else Fate.LOST
