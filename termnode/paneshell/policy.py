"""Who may ask a pane shell for what: one decision, from the broker's stamp alone. No I/O."""

from __future__ import annotations

from typing import Final

from brokerd.client import DEFAULT_OPEN, PANE_SHELL, TERM, Principal, RecordView

READ_STATE: Final = "read_state"
EXECUTE: Final = "execute"


def may(caller: object, own: RecordView, capability: str) -> bool:
    """Whether ``caller`` (a stamp's principal, or anything else) may use ``capability`` of ``own``.

    Always of the same broker epoch, machine and user. A connection that holds no record may under
    the policy default-open. One that does must have the capability in its record, and be the Term
    that this pane is of, or this very pane shell as it is attached now.
    """
    if not isinstance(caller, Principal) or not _near(caller, own):
        return False
    if capability not in own.capabilities:
        return False
    if caller.session is None:
        return own.policy == DEFAULT_OPEN
    if capability not in caller.session.capabilities:
        return False
    return is_owning_term(caller, own) or _is_itself(caller, own)


def is_owning_term(caller: object, own: RecordView) -> bool:
    """Whether the caller holds the record of the Term that this pane is of."""
    if not isinstance(caller, Principal) or caller.session is None:
        return False
    session = caller.session
    return (
        session.role == TERM
        and session.instance_id == own.parent_instance
        and session.incarnation == own.parent_incarnation
    )


def _near(caller: Principal, own: RecordView) -> bool:
    return (
        caller.broker_epoch == own.broker_epoch
        and caller.owner_node == own.owner_node
        and caller.unix_uid == own.owner_uid
    )


def _is_itself(caller: Principal, own: RecordView) -> bool:
    session = caller.session
    return session is not None and (
        session.role == PANE_SHELL
        and session.record_id == own.record_id
        and session.instance_id == own.instance_id
        and session.incarnation == own.incarnation
        and session.binding_generation == own.binding_generation
        and session.pane_id == own.pane_id
        and session.pane_generation == own.pane_generation
    )
