"""What became of accepted input, as its caller is told: by `term.operation`, and by an event.

Both are made of the same settled input, so that they never disagree.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from termnode.control.native.decisions import Go
from termnode.control.native.targets import Target
from termnode.service.native.revoked import Notice
from termnode.service.native.writers import Sent
from termnode.service.state import Result

BOUNDARY: Final = "pty_write"
"""What was completed: that a command has run nobody knows."""


class Asked(NamedTuple):
    """What is kept of a request while its outcome is not known: nothing of its text."""

    number: str
    target: Target
    epoch: str
    connection: str


def asked(go: Go) -> Asked:
    """The part that is kept."""
    principal = go.principal
    number = str(go.request.request_id)
    return Asked(number, go.target, principal.broker_epoch, principal.connection_id)


def accepted(said: Asked) -> Result:
    """The first reply: it is in the pane's queue, and no more is known."""
    return {"status": "accepted", "outcome": "unknown", "request_id": said.number}


def operation(said: Asked, sent: Sent) -> Result:
    """What `term.operation` says once the input is settled."""
    ended = {} if sent.all_written else {"reason": "input_lease_ended"}
    return {
        "operation_id": said.number,
        "status": "completed" if sent.all_written else "unknown",
        "boundary": BOUNDARY,
        **ended,
        "delivered_bytes_lower_bound": sent.written,
    }


def notice(said: Asked, sent: Sent) -> Notice:
    """The event for the connection that asked: its right to write has ended."""
    return Notice(
        said.epoch,
        said.connection,
        {
            "target": said.target.to_json(),
            "request_id": said.number,
            "status": "revoked",
            "outcome": "complete" if sent.all_written else "partial_or_unknown",
            "delivered_bytes_lower_bound": sent.written,
        },
    )
