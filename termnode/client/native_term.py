"""Finding the Term behind a service, and its panes: what the broker says, made into targets.

A name proves nothing: instance and incarnation are the broker's own words (`session.list`), and
the service only says which of the caller's records is its own. No I/O.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brokerd.client import TERM, RecordView
from termnode.client.errors import Forbidden, ServiceUnavailable
from termnode.client.replies import Identity
from termnode.control.native.targets import Target


@dataclass(frozen=True, slots=True)
class Term:
    """One Term as of one broker epoch. ``panes`` are those whose shells hold their sessions."""

    name: str
    instance_id: str
    incarnation: str
    broker_epoch: str
    panes: tuple[Target, ...] = ()


def name_of(identity: Identity | None) -> str:
    """The allocated name of a service that is ready. Raises ServiceUnavailable."""
    if identity is None or identity.state == "off":
        raise ServiceUnavailable(
            "this service has no verified session, so it has no native control",
            {"reason": "no_identity"},
        )
    if identity.state != "ready" or not identity.name:
        raise ServiceUnavailable(
            "the service has no verified session now: try again, 'termnode doctor' says why",
            {"reason": "identity_" + identity.state},
        )
    return identity.name


def term_of(name: str, records: Sequence[RecordView]) -> Term:
    """The Term of that name, among all records of the caller's user.

    Raises Forbidden when it is none of them: then its panes cannot be named from here.
    """
    own = next((each for each in records if each.name == name and each.role == TERM), None)
    if own is None:
        raise Forbidden(
            "the terminal is another user's: its targets must be told by its owner",
            {"reason": "foreign_term"},
        )
    held = [each for each in records if each.attached and _is_child(each, own)]
    newest = {target.pane_id: target for target in sorted(map(_target, held))}
    return Term(name, own.instance_id, own.incarnation, own.broker_epoch, tuple(newest.values()))


def _is_child(record: RecordView, own: RecordView) -> bool:
    parent = (record.parent_instance, record.parent_incarnation)
    return parent == (own.instance_id, own.incarnation) and record.pane_id is not None


def _target(record: RecordView) -> Target:
    """The pane of a pane shell."""
    return Target(
        str(record.parent_instance),
        str(record.parent_incarnation),
        record.pane_id or 0,
        record.pane_generation or 0,
    )
