"""What becomes of a request to the zygote: what it returns and what it raises."""

from __future__ import annotations

from dataclasses import dataclass


class ZygoteLost(Exception):
    """The zygote has ended; sidecars that it started live on."""


class ForkFailed(Exception):
    """The sidecar was not started. ``code`` is INVALID_ARGUMENT or RESOURCE_LIMIT."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Forked:
    """A sidecar that runs. ``pidfd`` is close-on-exec and belongs to the receiver."""

    pid: int
    pidfd: int
