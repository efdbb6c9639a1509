"""Whom a sidecar is to prove to be, out of its launch descriptor."""

from __future__ import annotations

from dataclasses import dataclass, field

from brokerd.client import GrantView, MalformedReply, RecordView, SessionKey
from termnode.paneshell.descriptor import BadDescriptor, read
from termnode.paneshell.launch import Launch


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom the sidecar is to prove to be: its key, and what that was granted."""

    key: SessionKey = field(repr=False)
    grant: GrantView
    record: RecordView


def identity_of(launch: Launch, descriptor_fd: int | None) -> Identity:
    """What it was launched with. Raises BadDescriptor that says why not, in one line."""
    if descriptor_fd is None:
        raise BadDescriptor("it was started without a launch descriptor")
    bundle = read(descriptor_fd)
    try:
        grant = GrantView.from_json(bundle.grant)
        record = RecordView.from_json(bundle.record)
    except MalformedReply:
        raise BadDescriptor("the launch descriptor has a malformed grant or record") from None
    if record.pane_id != launch.pane:
        raise BadDescriptor("the launch descriptor is for another pane")
    return Identity(SessionKey.from_seed(bundle.seed), grant, record)
