"""Who may talk to the HTTP server: judged from the headers, before anything is read. No I/O."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from typing import Final, NamedTuple

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from termnode.mcp.address import Address

PATH: Final = "/mcp"

Headers = Iterable[tuple[bytes, bytes]]


class Answer(NamedTuple):
    """A request that is turned away: the HTTP status, and why."""

    status: int
    words: str


class Doorkeeper:
    """Of a server at ``address`` whose clients know ``token``."""

    def __init__(self, address: Address, token: str) -> None:
        self._address = address
        self._expected = f"Bearer {token}".encode()

    def turn_away(self, path: str, headers: Headers) -> Answer | None:
        """Why the request is not taken; None when it is.

        A page of another site that had its name lead here has another Host, and says its Origin.
        """
        found = _by_name(headers)
        if found.get(b"host") != [self._address.authority.encode()]:
            return Answer(403, f"the Host must be {self._address.authority}")
        if found.get(b"origin", [self._origin]) != [self._origin]:
            return Answer(403, "requests of web pages of other origins are not taken")
        if not self._knows(found.get(b"authorization", [])):
            return Answer(
                401,
                "Authorization: Bearer TOKEN is needed; the token is in the "
                f"runtime directory, in mcp-{self._address.port}.token",
            )
        if path != PATH:
            return Answer(404, f"the server is at {PATH}")
        return None

    @property
    def _origin(self) -> bytes:
        return self._address.origin.encode()

    def _knows(self, given: list[bytes]) -> bool:
        return len(given) == 1 and hmac.compare_digest(given[0], self._expected)


def asks_without_session(headers: Headers) -> bytes | None:
    """The protocol version of a request that belongs to no session; None for one that does.

    Terminals are a session's own, so only versions with sessions are spoken here.
    """
    given = _by_name(headers).get(b"mcp-protocol-version", [])
    known = {version.encode() for version in HANDSHAKE_PROTOCOL_VERSIONS}
    return next((each for each in given if each not in known), None)


def session_of(headers: Headers) -> str | None:
    """The session that a request names."""
    given = _by_name(headers).get(b"mcp-session-id", [])
    return given[0].decode("latin-1") if len(given) == 1 else None


def _by_name(headers: Headers) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        found.setdefault(name.lower(), []).append(value)
    return found
