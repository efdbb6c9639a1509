"""The closed error vocabulary that travels on the bus, in one table.

Every refusal is a reply whose return code is 10 (the request was refused) or 20 (the other side
is not there) and whose body is ``{"error_code", "message", "details"}``. Messages name fields,
limits and remedies; they never contain a value that a caller sent.

Source of the vocabulary: the seed's "Retries and errors", with UNAVAILABLE added for peers that
are gone.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

RC_OK: Final = 0
RC_WARNING: Final = 5
RC_REFUSED: Final = 10
RC_SEVERE: Final = 20
RETURN_CODES: Final = frozenset({RC_OK, RC_WARNING, RC_REFUSED, RC_SEVERE})


class ErrorCode(StrEnum):
    """All error codes; nothing else may appear as ``error_code``."""

    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    NOT_FOUND = "NOT_FOUND"
    STALE_GENERATION = "STALE_GENERATION"
    CONFLICT = "CONFLICT"
    BUSY = "BUSY"
    FORBIDDEN = "FORBIDDEN"
    UNSUPPORTED = "UNSUPPORTED"
    RESOURCE_LIMIT = "RESOURCE_LIMIT"
    DISCONNECTED = "DISCONNECTED"
    EXPIRED = "EXPIRED"
    CANCELLED = "CANCELLED"
    UNKNOWN_OUTCOME = "UNKNOWN_OUTCOME"
    UNAVAILABLE = "UNAVAILABLE"


MEANINGS: Final[dict[ErrorCode, str]] = {
    ErrorCode.INVALID_ARGUMENT: "the request is malformed; details.field names what to correct",
    ErrorCode.NOT_FOUND: "what the request names is not there; list what is, and name that",
    ErrorCode.STALE_GENERATION: "the target has moved on; read its generation again",
    ErrorCode.CONFLICT: "the id or name is in use for something else; choose a fresh one",
    ErrorCode.BUSY: "someone else is using it now and nothing was discarded; try again later",
    ErrorCode.FORBIDDEN: "not allowed; the answer is the same whether the target exists or not",
    ErrorCode.UNSUPPORTED: "no such verb or feature here; ask HELP for those there are",
    ErrorCode.RESOURCE_LIMIT: "a limit was reached; details.limit is its value",
    ErrorCode.DISCONNECTED: "the other end went away while the request was under way",
    ErrorCode.EXPIRED: "a deadline passed before the work was done",
    ErrorCode.CANCELLED: "the work was cancelled before it finished",
    ErrorCode.UNKNOWN_OUTCOME: "it may or may not have happened; look before you repeat it",
    ErrorCode.UNAVAILABLE: "nobody serves that name now; start the service or try again",
}


class Refusal(Exception):
    """A typed refusal: how code says no, and what the caller gets as the reply body.

    ``details`` must be small, JSON-encodable and free of anything the caller sent.
    """

    def __init__(self, code: ErrorCode, message: str, **details: object) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.details = details

    @property
    def rc(self) -> int:
        """The return code that goes with this refusal: 20 for UNAVAILABLE, else 10."""
        return RC_SEVERE if self.code is ErrorCode.UNAVAILABLE else RC_REFUSED

    def body(self) -> dict[str, object]:
        """The reply body: exactly error_code, message and details."""
        return {"error_code": str(self.code), "message": self.message, "details": self.details}


def forbidden() -> Refusal:
    """The uniform denial: the same bytes for every reason, so that it tells nothing."""
    return Refusal(ErrorCode.FORBIDDEN, "forbidden")


def invalid(field: str, message: str, **details: object) -> Refusal:
    """INVALID_ARGUMENT that names the field at fault, never its value."""
    return Refusal(ErrorCode.INVALID_ARGUMENT, message, field=field, **details)


def limit_reached(what: str, limit: int, message: str, **details: object) -> Refusal:
    """RESOURCE_LIMIT that names the limit and its value."""
    return Refusal(ErrorCode.RESOURCE_LIMIT, message, reason=what, limit=limit, **details)
