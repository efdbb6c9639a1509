"""What can go wrong between a peer and the broker, as the client reports it.

These are errors of the transport, raised. A refusal of the other side is no error of the
transport: it arrives as a ``Reply`` with return code 10 or 20.
"""

from __future__ import annotations

from collections.abc import Mapping


class BusError(Exception):
    """Base of everything this package raises for reasons outside the caller's code."""


class NotConnected(BusError):
    """There is no broker to talk to now. Nothing was sent."""

    def __init__(self, why: str = "the broker is away") -> None:
        super().__init__(f"{why}; start it with `termnode up` or `brokerd`")


class BrokerLost(BusError):
    """The broker ended while the request was under way: it may or may not have happened.

    ``epoch`` is the epoch that ended; nothing of it will be delivered any more.
    """

    def __init__(self, epoch: str) -> None:
        super().__init__(
            "the broker ended before the answer came; it may have happened:"
            " look before you repeat it"
        )
        self.epoch = epoch


class RequestTimeout(BusError):
    """No answer in time: it may or may not have happened, and may still happen."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"no answer within {seconds:g} s; it may have happened: look before you repeat it"
        )
        self.seconds = seconds


class Overloaded(BusError):
    """One of this client's own bounds is full. Nothing was sent; wait for answers, then retry."""

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(f"{what} is full ({limit}); wait for answers, then try again")
        self.what = what
        self.limit = limit


class MessageTooLarge(BusError):
    """A message over the bus's limit, in bytes. Nothing was sent; send less at a time."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"the message has {size} bytes of at most {limit}; send less at a time")
        self.size = size
        self.limit = limit


class NameTaken(BusError):
    """Another connection holds the service name; end that service or choose another name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the name {name} is held by another connection; end that service first")
        self.name = name


class Refused(BusError):
    """The broker refused what this client asked of it (a name, a subscription, a publication).

    ``code``, ``details`` are those of the refusal.
    """

    def __init__(self, code: str, message: str, details: Mapping[str, object]) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.details = details


class ForeignBroker(BusError):
    """The process behind the socket belongs to another user (not root). Nothing more is sent."""

    def __init__(self, uid: int | None) -> None:
        owner = "an unknown user" if uid is None else f"uid {uid}"
        super().__init__(
            f"the broker belongs to {owner}; set COSMIX_RUNTIME_DIR to a directory of your own"
        )
        self.uid = uid


class MalformedReply(BusError):
    """The broker's answer is not what was agreed; nothing in it was used. ``what`` was expected."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the broker's answer has no {what} as agreed; look whether both are of one version"
        )
        self.what = what


class ChallengeMismatch(BusError):
    """The broker asked to sign something else than what is known; nothing was signed.

    ``field`` is the first one that differs.
    """

    def __init__(self, field: str) -> None:
        super().__init__(f"the broker's challenge has another {field} than is known: not signed")
        self.field = field
