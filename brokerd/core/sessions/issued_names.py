"""The names that records get: told apart from all others by their form, and never given twice."""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Callable
from typing import Final

from brokerd.core.sessions.refusals import SharedQuota, because
from brokerd.encodings import TERM
from brokerd.limits import SessionLimits

_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_RANDOM_BYTES: Final = 14
_RANDOM_LETTERS: Final = 22


class IssuedNames:
    """Every name given since the broker started."""

    def __init__(
        self,
        limits: SessionLimits,
        new_bytes: Callable[[int], bytes],
        own_uid: int | None = None,
    ) -> None:
        self._candidates = limits.name_candidates
        self._new_bytes = new_bytes
        self._issued: set[str] = set()
        self._quota = SharedQuota("issued_name_limit", limits.issued_names, own_uid)

    def issue(self, role: str, uid: int) -> str:
        """A name that nobody had. Raises Refusal: issued_name_limit, name_collision."""
        self._quota.require_one(uid)
        start = f"{'t' if role == TERM else 'c'}{base36(uid)}-"
        for _ in range(self._candidates):
            name = start + self._letters()
            if name not in self._issued:
                self._issued.add(name)
                self._quota.add(uid)
                return name
        raise because("name_collision", limit=self._candidates)

    def __contains__(self, name: object) -> bool:
        return name in self._issued

    def __len__(self) -> int:
        return len(self._issued)

    def _letters(self) -> str:
        raw = self._new_bytes(_RANDOM_BYTES)
        return b32encode(raw).decode().lower()[:_RANDOM_LETTERS]


def base36(number: int) -> str:
    """A number that is not negative, without leading zeros."""
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
        if not number:
            return digits
