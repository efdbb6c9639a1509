"""Completion notices: a topic gets a few words when a pane's program ends by itself."""

from __future__ import annotations

import logging
from typing import Final

import trio

from brokerd.client import Bus, BusError
from termnode.service.config import Config
from termnode.service.live_pane import LivePane

TOPIC: Final = "interact.notify"
WAITING: Final = 64
"""Notices not yet published; more are dropped: the pane itself keeps the facts."""

PUBLISH_TIMEOUT_S: Final = 2.0

Body = dict[str, object]

log = logging.getLogger("termnode.notices")


class Notices:
    """A bounded queue of notices and the one task that publishes them."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._put, self._taken = trio.open_memory_channel[Body](WAITING)

    def ended(self, live: LivePane, title: str) -> None:
        """Say that a pane's program has ended. Never waits; nothing when notices are off."""
        if not self._config.notify:
            return
        try:
            self._put.send_nowait(notice(self._config.name, live, title))
        except trio.WouldBlock:
            log.warning("a completion notice was dropped: %d are waiting", WAITING)

    async def run(self, bus: Bus) -> None:
        """Publish for ever; a notice that cannot be published in time is dropped."""
        async for body in self._taken:
            try:
                with trio.move_on_after(PUBLISH_TIMEOUT_S):
                    await bus.publish(TOPIC, body)
            except BusError as error:
                log.warning("a completion notice was not published: %s", error)


def notice(service: str, live: LivePane, title: str) -> Body:
    """The body (specs/global-lane.md). Of the program's own text only its title is in it."""
    ending = live.exit_body() or {}
    how = f"signal {ending['signal']}" if "signal" in ending else f"code {ending.get('code', '?')}"
    return {
        "summary": f"pane {live.id}: the program ended with {how}",
        "body": title,
        "urgency": "normal",
        "category": "transfer.complete",
        "icon": "utilities-terminal",
        "dedupe_key": f"{service}-pane-{live.id}",
        "service": service,
        "pane": live.id,
        "exit": ending,
        "duration_ms": live.duration_ms,
    }
