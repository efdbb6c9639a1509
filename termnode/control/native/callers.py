"""Who asks, and what a caller may do to a target. Decided by the broker's stamp alone."""

from __future__ import annotations

from brokerd.client import DEFAULT_OPEN, TERM, Principal, Ref, SessionBinding
from termnode.control.native.actors import Actor
from termnode.control.native.targets import Target
from termnode.control.native.world import Own
from termnode.control.posture import Posture
from termnode.control.spec import Capability

__all__ = [
    "Actor",
    "actor_of",
    "admitted",
    "allows",
    "caller_ref",
    "is_own",
    "is_pane_shell",
    "lease_of",
]


def actor_of(principal: Principal) -> Actor:
    """Whose request ids these are: the record's, else the connection's."""
    session = principal.session
    if session is not None:
        return "bound", principal.unix_uid, session.record_id, session.incarnation
    return "ambient", principal.unix_uid, principal.broker_epoch, principal.connection_id


def caller_ref(session: SessionBinding) -> Ref:
    """The caller's attachment, to ask the broker about."""
    return Ref(session.record_id, session.incarnation, session.binding_generation)


def lease_of(principal: Principal, own: Own, posture: Posture) -> Ref | None:
    """The attachment whose lease must be live too; None where nothing depends on any but ``own``.

    Nothing does in open posture, without a record, and for the Term itself.
    """
    session = principal.session
    if session is None or posture is Posture.OPEN or is_own(session, own):
        return None
    return caller_ref(session)


def is_pane_shell(principal: Principal) -> bool:
    """Whether it is the shell of some pane."""
    return principal.session is not None and principal.session.role != TERM


def admitted(principal: Principal, own: Own, posture: Posture) -> bool:
    """Whether the caller is one that may be listened to at all (step 3 of specs/control.md)."""
    if posture is Posture.OPEN:
        return True
    record = own.record
    if (principal.unix_uid, principal.owner_node, principal.broker_epoch) != (
        record.owner_uid,
        record.owner_node,
        own.broker_epoch,
    ):
        return False
    session = principal.session
    if session is None:
        return record.policy == DEFAULT_OPEN
    return is_own(session, own) or _is_child(session, own)


def allows(
    principal: Principal, own: Own, posture: Posture, capability: Capability, target: Target
) -> bool:
    """Whether an admitted caller has the capability on the target (step 7, and 13 for others)."""
    record = own.record
    if target[:2] != (record.instance_id, record.incarnation) or not target.pane_generation:
        return False
    if posture is Posture.OPEN:
        return True
    session = principal.session
    if session is None:
        return record.policy == DEFAULT_OPEN
    return capability in session.capabilities and (
        is_own(session, own)
        or (_is_child(session, own) and (session.pane_id, session.pane_generation) == target[2:])
    )


def is_own(session: SessionBinding, own: Own) -> bool:
    """Whether the caller is the Term itself."""
    return session.role == TERM and (session.record_id, session.incarnation) == (
        own.record.record_id,
        own.record.incarnation,
    )


def _is_child(session: SessionBinding, own: Own) -> bool:
    return session.role != TERM and (session.parent_instance, session.parent_incarnation) == (
        own.record.instance_id,
        own.record.incarnation,
    )
