"""Keeps a zygote running, which starts pane shells; without one no pane is lost or made to wait."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

import trio

from termnode.paneshell.client import Zygote, ZygoteLost
from termnode.service.keeping.pausing import Pauses

FIRST_PAUSE_S: Final = 0.1
LONGEST_PAUSE_S: Final = 30.0

log = logging.getLogger("termnode.identity")


class ZygoteKeeper:
    """The present zygote. ``on_change`` is called when there is one, and when there is none."""

    def __init__(self, on_change: Callable[[], object]) -> None:
        self._zygote: Zygote | None = None
        self._on_change = on_change

    @property
    def zygote(self) -> Zygote | None:
        """The live zygote, if there is one now."""
        return None if self._zygote is None or self._zygote.lost else self._zygote

    async def run(self) -> None:
        """Start a zygote, and another whenever it ends; ends by cancellation only."""
        pauses = Pauses(FIRST_PAUSE_S, LONGEST_PAUSE_S)
        while True:
            began = trio.current_time()
            await self._one()
            await trio.sleep(pauses.after(trio.current_time() - began))

    async def _one(self) -> None:
        try:
            async with Zygote.start() as zygote:
                self._zygote = zygote
                self._on_change()
                await zygote.process.wait()
            log.error("the zygote of the pane shells has ended; another one starts")
        except ZygoteLost as error:
            log.error("%s", error)
        except OSError as error:  # no descriptor, process or memory is left at this moment
            log.error("the zygote of the pane shells cannot be started now (%s)", error.strerror)
        finally:
            self._zygote = None
            self._on_change()
