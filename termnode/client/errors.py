"""What can go wrong, as exceptions: one class per error code of the service."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from brokerd.client import MEANINGS, ErrorCode, ReplyError
from termnode.client.replies import Exit

_METHODS: Final = {
    "term.panes": "session.panes",
    "term.tabs": "session.tabs",
    "term.tab.new": "session.new_tab()",
    "term.tab.select": "tab.select()",
    "term.tab.close": "tab.close()",
    "term.pane.close": "pane.close()",
    "term.pane.restart": "pane.restart()",
    "term.pane.zoom": "pane.zoom()",
    "term.snapshot": "pane.screen()",
    "term.type": "pane.type()",
    "term.keys": "pane.press()",
    "term.paste": "pane.paste()",
    "term.wait": "pane.wait_for()",
    "term.events": "session.events()",
    "term.execute": "pane.execute()",
    "term.exec.result": "execution.result()",
    "term.exec.cancel": "execution.cancel()",
    "term.task.submit": "pane.task()",
    "term.task.result": "task.report()",
    "term.task.cancel": "task.cancel()",
}
"""What a remedy that names a verb means here."""

_VERB: Final = re.compile(rf"\b(?:{'|'.join(map(re.escape, _METHODS))})\b(?!\.)")

_REMEDIES: Final = {str(code): meaning for code, meaning in MEANINGS.items()}


class TermnodeError(Exception):
    """Base of everything that this package raises for reasons outside the caller's code.

    ``code`` is the error code, ``message`` what the service said, ``details`` its details, and
    ``remedy`` what to do about it.
    """

    code: str = ""

    def __init__(self, message: str, details: Mapping[str, Any] | None = None) -> None:
        # Not super(): of a class that is an OSError too, that would take them for an errno.
        Exception.__init__(self, message)
        self.message = message
        self.details: dict[str, Any] = dict(details or {})

    @property
    def remedy(self) -> str:
        """What the code means and what to do; empty for a code that is not known here."""
        return _REMEDIES.get(self.code, "")

    def __str__(self) -> str:
        words = self.message
        if "written_bytes" in self.details:
            written, size = self.details["written_bytes"], self.details.get("bytes")
            words = f"{words} ({written} of {size} bytes were written)"
        words = _VERB.sub(lambda found: _METHODS[found[0]], words)
        return f"{words} [{self.code}]" if self.code else words


class Refused(TermnodeError):
    """The service said no. Its subclasses are the codes; by itself it is a code unknown here."""

    by_code: ClassVar[dict[str, type[Refused]]] = {}

    def __init_subclass__(cls, *, code: ErrorCode | None = None) -> None:
        super().__init_subclass__()
        if code is not None:
            cls.code = str(code)
            cls.by_code[cls.code] = cls


class InvalidArgument(Refused, code=ErrorCode.INVALID_ARGUMENT):
    """The request is malformed; ``details["field"]`` names what to correct."""


class NotFound(Refused, code=ErrorCode.NOT_FOUND):
    """There is no such pane, tab or line."""


class StaleGeneration(Refused, code=ErrorCode.STALE_GENERATION):
    """The pane's program was started anew meanwhile."""


class Conflict(Refused, code=ErrorCode.CONFLICT):
    """The id or name is in use for something else."""


class Busy(Refused, code=ErrorCode.BUSY):
    """Not now: something else is under way there. Nothing was done."""


class Forbidden(Refused, code=ErrorCode.FORBIDDEN):
    """Not allowed; ``termnode posture`` may say strict."""


class Unsupported(Refused, code=ErrorCode.UNSUPPORTED):
    """No such verb or feature there, or the program did not ask for it."""


class ResourceLimit(Refused, code=ErrorCode.RESOURCE_LIMIT):
    """A limit was reached; ``details["limit"]`` is its value."""


class Disconnected(Refused, code=ErrorCode.DISCONNECTED):
    """The program went away."""


class Expired(Refused, code=ErrorCode.EXPIRED):
    """A deadline passed before it was done; of input, the details say how much was written."""


class Cancelled(Refused, code=ErrorCode.CANCELLED):
    """It was given up before it was done."""


class UnknownOutcome(Refused, code=ErrorCode.UNKNOWN_OUTCOME):
    """It may or may not have happened: look before you repeat it."""


class ServiceUnavailable(Refused, code=ErrorCode.UNAVAILABLE):
    """There is no broker, or nobody serves the name."""


class ConnectionLost(ServiceUnavailable):
    """The answer to a look or a wait was lost, and again when it was asked anew."""


class ServiceRestarted(ServiceUnavailable):
    """Another service has the name by now: its tabs and panes are other ones. Connect again."""


class SessionClosed(ServiceUnavailable):
    """The session was closed: connect again."""


class BadReply(TermnodeError):
    """The reply is not what the verb table promises: the service may be of another version."""


class WaitTimeout(Expired, TimeoutError):
    """What was waited for did not come in time. ``revision``: go on from there."""

    def __init__(self, message: str, revision: int | None = None) -> None:
        super().__init__(message)
        self.revision = revision


class PaneGone(NotFound):
    """The pane was closed."""


class ProgramEnded(Disconnected):
    """The pane's program ended before what was waited for came. ``exit`` says how."""

    def __init__(self, message: str, ended: Exit | None = None) -> None:
        super().__init__(message)
        self.exit = ended


UNREACHABLE: Final = "not_registered"
"""The broker's reason for UNAVAILABLE when nobody got the request."""

LEFT: Final = frozenset({"peer_gone", "deregistered", "pending_expired"})
"""Its reasons when somebody may have got it, and has not answered."""


def refusal(error: ReplyError) -> TermnodeError:
    """The exception for a refusal."""
    kind = Refused.by_code.get(error.code)
    if kind is not None:
        return kind(error.message or "no reason was given", error.details)
    unknown = Refused(error.message or "no reason was given", error.details)
    unknown.code = error.code
    return unknown


def nobody(name: str) -> ServiceUnavailable:
    """No service has that name."""
    return ServiceUnavailable(
        f"no service named '{name}' answers; start it with 'termnode up --name {name}'",
        {"reason": "not_registered"},
    )


def closed() -> SessionClosed:
    """The session, or the stream of events, is over."""
    return SessionClosed("it was closed: connect again", {"reason": "closed"})


def forked() -> SessionClosed:
    """The session is another process's, of which this one is a fork."""
    return SessionClosed("it belongs to the process that connected: connect again in this one")
