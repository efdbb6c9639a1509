"""Charges: every slot that somebody takes is counted to its owner and given back with it.

A ``Meter`` counts one kind of thing per owner. Callers ``require`` room on every meter that applies
before they ``add`` to any, so that a refusal leaves no trace. When the last thing is given back the
owner's entry goes too: an idle broker's meters are empty, and the audit checks that they are.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from brokerd.errors import limit_reached


class Meter:
    """A count per owner with one cap. ``name`` is the reason in refusals and in the audit."""

    __slots__ = ("_counts", "_remedy", "cap", "name")

    def __init__(self, name: str, cap: int, remedy: str) -> None:
        self.name = name
        self.cap = cap
        self._remedy = remedy
        self._counts: dict[Hashable, int] = {}

    def require(self, owner: Hashable, amount: int = 1) -> None:
        """Raise Refusal (RESOURCE_LIMIT) unless ``owner`` may have ``amount`` more."""
        if self._counts.get(owner, 0) + amount > self.cap:
            raise limit_reached(
                self.name, self.cap, f"at most {self.cap} {self._words()}; {self._remedy}"
            )

    def add(self, owner: Hashable, amount: int = 1) -> None:
        """Charge ``amount`` (may be negative); the count must not fall under zero."""
        count = self._counts.get(owner, 0) + amount
        if count < 0:
            raise AssertionError(f"{self.name}: given back more than was taken")
        if count:
            self._counts[owner] = count
        else:
            self._counts.pop(owner, None)

    def remove(self, owner: Hashable, amount: int = 1) -> None:
        """Give ``amount`` back."""
        self.add(owner, -amount)

    def counts(self) -> Mapping[Hashable, int]:
        """What each owner holds now; owners of nothing are not in it."""
        return self._counts

    def _words(self) -> str:
        return self.name.replace("_", " ")
