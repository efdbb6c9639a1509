"""Asking a pane's own shell what it is at: where it is reached, and what it says. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from brokerd.client import PANE_SHELL, RecordView, Reply
from termnode.client.calls import body_of
from termnode.client.decode import decode
from termnode.client.errors import BadReply, ServiceUnavailable
from termnode.client.native_exec_replies import ShellPrompt
from termnode.control.native.targets import Target

STATUS: Final = "shell.status"
VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class ShellAddress:
    """Where the shell of a pane is reached, and the attachment that a request names."""

    name: str
    attachment: dict[str, object]

    @property
    def body(self) -> dict[str, object]:
        """Of a request for its status."""
        return {"version": VERSION, "target": self.attachment}


def address_of(target: Target, records: Sequence[RecordView]) -> ShellAddress:
    """The shell of that very pane among all records of the caller's user.

    Raises ServiceUnavailable when it has no session now.
    """
    for record in records:
        if record.role == PANE_SHELL and record.attached and _pane_of(record) == target:
            return ShellAddress(record.name, _attachment(record))
    raise ServiceUnavailable(
        "the pane's shell has no verified session now: try again, or 'termnode panes' says why",
        {"reason": "no_shell_session"},
    )


def prompt_in(reply: Reply) -> ShellPrompt:
    """What a shell says of itself. Raises TermnodeError: its refusal, or BadReply."""
    status: Any = body_of(reply).get("status")
    snapshot = status.get("snapshot") if isinstance(status, dict) else None
    if not isinstance(snapshot, dict):
        raise BadReply("the reply has no field snapshot")
    return decode(ShellPrompt, snapshot)


def _pane_of(record: RecordView) -> Target:
    return Target(
        str(record.parent_instance),
        str(record.parent_incarnation),
        record.pane_id or 0,
        record.pane_generation or 0,
    )


def _attachment(record: RecordView) -> dict[str, object]:
    return {
        "broker_epoch": record.broker_epoch,
        "record": record.ref.to_json(),
        "instance_id": record.instance_id,
        "pane_id": str(record.pane_id),
        "pane_generation": str(record.pane_generation),
    }
