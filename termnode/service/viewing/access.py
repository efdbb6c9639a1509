"""Who may open a view: tickets, and one-time tokens for the socket (specs/view.md). No I/O."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from brokerd.client import ErrorCode, Principal, Refusal, forbidden
from termnode.lanes.calls import Caller

TOKEN_BYTES: Final = 32
TOKEN_S: Final = 10.0
"""A token must be used within so many seconds."""

MAX_TOKENS: Final = 64
"""Unused tokens; beyond, the oldest is void."""

MAX_TICKETS: Final = 64
"""Tickets; beyond, the oldest but the first (that of the start) is void."""


@dataclass(frozen=True, slots=True)
class Permission:
    """A view may be opened. ``trusted``: with a ticket, so that it may stay in strict posture."""

    trusted: bool


@dataclass(frozen=True, slots=True)
class _Token:
    pid: int
    until: float
    trusted: bool


class Access:
    """The tickets and tokens of one service; they end with it. ``clock`` is monotonic, in seconds.

    ``is_open`` says whether the posture is open; it is asked at each request. ``path`` is the
    socket's, None while there is none.
    """

    def __init__(self, is_open: Callable[[], bool], clock: Callable[[], float]) -> None:
        self.path: Path | None = None
        self._is_open = is_open
        self._clock = clock
        self._tokens: dict[str, _Token] = {}
        self._tickets: list[str] = []
        self.first_ticket: Final = self.ticket()

    def ticket(self) -> str:
        """A new ticket: it opens views in strict posture, as often as wanted."""
        made = secrets.token_hex(TOKEN_BYTES)
        if len(self._tickets) >= MAX_TICKETS:
            del self._tickets[1]
        self._tickets.append(made)
        return made

    def open(self, caller: Caller | None, ticket: str | None) -> dict[str, object]:
        """A token for the process that asks, and the socket's path: fields of the reply.

        Raises Refusal: FORBIDDEN, the same for whatever is wrong; UNAVAILABLE without a socket.
        """
        if not isinstance(caller, Principal) or not self._may(caller, ticket):
            raise forbidden()
        if self.path is None:
            raise _no_socket()
        trusted = ticket is not None and self._knows(ticket)
        return {"token": self._token(caller.peer_pid, trusted), "path": str(self.path)}

    def take(self, token: str, uid: int, pid: int) -> Permission | None:
        """Use a token up; what that process may have, None when it may have nothing."""
        self._expire()
        found = next((each for each in self._tokens if _equal(each, token)), None)
        if found is None:
            return None
        used = self._tokens.pop(found)
        return Permission(used.trusted) if used.pid == pid and uid == os.geteuid() else None

    def holds(self, permission: Permission) -> bool:
        """Whether a view may go on: in strict posture only one that came with a ticket may."""
        return permission.trusted or self._is_open()

    def _may(self, caller: Principal, ticket: str | None) -> bool:
        # A person's view is nobody's who acts for a pane: its keys would go past the gate.
        if caller.unix_uid != os.geteuid() or caller.session is not None:
            return False
        return self._is_open() or (ticket is not None and self._knows(ticket))

    def _knows(self, ticket: str) -> bool:
        return any(_equal(each, ticket) for each in self._tickets)

    def _token(self, pid: int, trusted: bool) -> str:
        self._expire()
        if len(self._tokens) >= MAX_TOKENS:
            del self._tokens[next(iter(self._tokens))]
        token = secrets.token_hex(TOKEN_BYTES)
        self._tokens[token] = _Token(pid, self._clock() + TOKEN_S, trusted)
        return token

    def _expire(self) -> None:
        now = self._clock()
        self._tokens = {key: each for key, each in self._tokens.items() if now < each.until}


def _equal(mine: str, theirs: str) -> bool:
    return hmac.compare_digest(mine.encode(), theirs.encode("utf-8", "replace"))


def _no_socket() -> Refusal:
    return Refusal(
        ErrorCode.UNAVAILABLE,
        "the service could not make its view socket (its log says why): correct that and start "
        "it again",
        reason="no_view_socket",
    )
