"""The refusals of sessions that have a reason: code and remedy of each, in one table."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final

from brokerd.core.charges import Meter
from brokerd.errors import ErrorCode, Refusal

_REASONS: Final[Mapping[str, tuple[ErrorCode, str]]] = {
    "already_bound": (
        ErrorCode.CONFLICT,
        "this connection is or was bound to a record; use another connection",
    ),
    "key_in_use": (ErrorCode.CONFLICT, "a record has this key; resume it or make another key"),
    "grant_consumed": (ErrorCode.CONFLICT, "this grant has been used; resume the record"),
    "binding_pending": (
        ErrorCode.CONFLICT,
        "the record was proved meanwhile; ask for another challenge",
    ),
    "challenge_outstanding": (
        ErrorCode.CONFLICT,
        "this connection has another challenge; prove it or wait until it ends",
    ),
    "challenge_consumed": (ErrorCode.CONFLICT, "this challenge was used; ask for another"),
    "term_limit": (ErrorCode.RESOURCE_LIMIT, "this user has too many Terms; end one first"),
    "issued_name_limit": (ErrorCode.RESOURCE_LIMIT, "no names are left; restart the broker"),
    "name_collision": (ErrorCode.RESOURCE_LIMIT, "no free name was found; try again"),
    "grant_limit": (
        ErrorCode.RESOURCE_LIMIT,
        "too many grants are pending; wait until some are used or end",
    ),
    "challenge_limit": (
        ErrorCode.RESOURCE_LIMIT,
        "this user has too many challenges; prove them or wait until they end",
    ),
    "generation_limit": (
        ErrorCode.RESOURCE_LIMIT,
        "this record cannot be proved again; revoke it and get another",
    ),
    "interest_limit": (
        ErrorCode.RESOURCE_LIMIT,
        "too many connections of this user wait for a key; ask again later",
    ),
    "recipient_dependency_limit": (
        ErrorCode.RESOURCE_LIMIT,
        "the recipient heard too many senders of late; try again later",
    ),
    "dependency_limit": (
        ErrorCode.RESOURCE_LIMIT,
        "the broker has too many deliveries to watch; try again later",
    ),
    "dependency_missing": (
        ErrorCode.NOT_FOUND,
        "nothing of that binding was delivered here of late, or it is not attached",
    ),
    "clock_unavailable": (
        ErrorCode.UNAVAILABLE,
        "the broker cannot read its clock; restart the broker",
    ),
}


def because(reason: str, **details: object) -> Refusal:
    """The refusal of that reason. ``details`` hold nothing that a caller sent."""
    code, message = _REASONS[reason]
    return Refusal(code, message, reason=reason, **details)


def expired() -> Refusal:
    """EXPIRED: what a proof was about has ended."""
    return Refusal(
        ErrorCode.EXPIRED,
        "the challenge, its record or its parent has ended; ask for another challenge",
    )


class Quota(Meter):
    """A count per owner with a cap, whose refusal has one of the reasons above."""

    __slots__ = ()

    def __init__(self, reason: str, cap: int) -> None:
        super().__init__(reason, cap, "")

    def full(self, owner: object) -> bool:
        """Whether ``owner`` may have no more."""
        return self.counts().get(owner, 0) >= self.cap

    def require_one(self, owner: object) -> None:
        """Raise Refusal (RESOURCE_LIMIT) unless ``owner`` may have one more."""
        if self.full(owner):
            raise because(self.name, limit=self.cap)


class SharedQuota:
    """A count of which half is kept for the broker's own user: all others share the other half.

    So nobody else can use up what the own user's records need. ``own`` None: nothing is kept.
    """

    __slots__ = ("_own", "all", "others")

    def __init__(self, reason: str, cap: int, own: int | None) -> None:
        self._own = own
        self.all = Quota(reason, cap)
        self.others = Quota(reason, max(1, cap // 2))

    def concerns(self, uid: int) -> bool:
        """Whether that user is one of the others."""
        return self._own is not None and uid != self._own

    def require_one(self, uid: int, owner: Hashable = None) -> None:
        """Raise Refusal (RESOURCE_LIMIT) unless that user may have one more at ``owner``."""
        self.all.require_one(owner)
        if self.concerns(uid):
            self.others.require_one(owner)

    def add(self, uid: int, owner: Hashable = None) -> None:
        """That user has one more."""
        self.all.add(owner)
        if self.concerns(uid):
            self.others.add(owner)

    def remove(self, uid: int, owner: Hashable = None) -> None:
        """That user has one less."""
        self.all.remove(owner)
        if self.concerns(uid):
            self.others.remove(owner)
