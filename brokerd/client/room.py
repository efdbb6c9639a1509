"""Whether there are file descriptors left for another connection."""

from __future__ import annotations

import os
from typing import Final

from brokerd.client.errors import BusError, NotConnected

DESCRIPTORS: Final = 16
"""More than one connection takes (10)."""


class NoDescriptors(NotConnected):
    """This process may open no more files; nothing is known of the broker."""

    def __init__(self, reason: str | None) -> None:
        BusError.__init__(
            self,
            f"a connection needs {DESCRIPTORS} free file descriptors ({reason}): close some, or "
            "raise the limit with 'ulimit -n'",
        )


def check_room() -> None:
    """Raise NoDescriptors unless so many are free: libzmq ends the process that runs out."""
    taken: list[int] = []
    try:
        while len(taken) < DESCRIPTORS:
            taken += os.pipe()
    except OSError as error:
        raise NoDescriptors(error.strerror) from None
    finally:
        for descriptor in taken:
            os.close(descriptor)
