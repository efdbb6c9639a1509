"""Something that one task waits for and another one brings."""

from __future__ import annotations

from typing import Any

import trio


class Slot:
    """Something that is waited for: set once, to a value or to an error."""

    def __init__(self) -> None:
        self.value: Any = None
        self._error: Exception | None = None
        self._done = trio.Event()

    def resolve(self, value: object) -> None:
        """Bring the value; an earlier outcome stays."""
        if not self._done.is_set():
            self.value = value
            self._done.set()

    def fail(self, error: Exception) -> None:
        """Bring an error instead; an earlier outcome stays."""
        if not self._done.is_set():
            self._error = error
            self._done.set()

    async def wait(self) -> Any:  # noqa: ANN401  # each message type has its own shape
        """Return the value or raise the error."""
        await self._done.wait()
        if self._error is not None:
            raise self._error
        return self.value
