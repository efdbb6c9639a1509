"""Guards that are about who asks, and how to take them off a service."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from brokerd.client import CAPABILITIES, DEFAULT_OPEN, Principal
from termnode.control.native import callers, request
from termnode.control.native.gate import Gate
from termnode.control.native.request import Ask
from termnode.control.native.targets import Target
from termnode.control.native.world import Own
from termnode.control.posture import Posture
from termnode.control.spec import Capability
from tests.support.s4.replacing import Call, around, everywhere


def _judged(change: Callable[[Principal, Own, Target | None], tuple[Principal, Own]]) -> None:
    """Have callers judged as if they, or the Term's record, were otherwise."""
    admitted, allows = callers.admitted, callers.allows

    def as_admitted(principal: Principal, own: Own, posture: Posture) -> bool:
        return admitted(*change(principal, own, None), posture)

    def as_allowed(
        principal: Principal,
        own: Own,
        posture: Posture,
        capability: Capability,
        target: Target,
    ) -> bool:
        return allows(*change(principal, own, target), posture, capability, target)

    everywhere(admitted, as_admitted)
    everywhere(allows, as_allowed)


def users() -> None:
    """Every user is the service's own."""
    _judged(lambda who, own, _: (replace(who, unix_uid=own.record.owner_uid), own))


def policy() -> None:
    """The policy is default-open, whatever was allocated."""
    _judged(
        lambda who, own, _: (who, replace(own, record=replace(own.record, policy=DEFAULT_OPEN)))
    )


def scope() -> None:
    """A pane shell is that of every pane."""

    def of_target(who: Principal, own: Own, target: Target | None) -> tuple[Principal, Own]:
        if who.session is None or target is None:
            return who, own
        return replace(
            who,
            session=replace(
                who.session, pane_id=target.pane_id, pane_generation=target.pane_generation
            ),
        ), own

    _judged(of_target)


def capability() -> None:
    """A pane shell may do everything to its pane."""

    def capable(who: Principal, own: Own, _: Target | None) -> tuple[Principal, Own]:
        if who.session is None:
            return who, own
        return replace(who, session=replace(who.session, capabilities=CAPABILITIES)), own

    _judged(capable)


def incarnation() -> None:
    """Targets of a Term that is no more are taken for those of this one."""
    parse = request.parse_request

    def parsed(command: str, raw: bytes) -> request.NativeRequest:
        found = parse(command, raw)
        own = _seen[-1].record if _seen else None
        if own is None:
            return found
        return found._replace(target=Target(own.instance_id, own.incarnation, *found.target[2:]))

    _seen: list[Own] = []

    def noted(admit: Call) -> Call:
        def called(self: Gate[Any], principal: Principal) -> Any:  # noqa: ANN401
            admitted = admit(self, principal)
            _seen[:] = [admitted[0]]
            return admitted

        return called

    around(Gate, "_admit", noted)
    everywhere(parse, parsed)


def node() -> None:
    """Another machine is taken for a process of this user."""

    def local(self: Gate[Any], ask: Ask) -> Principal:
        who = ask.principal
        if isinstance(who, Principal):
            return who
        assert who is not None
        return Principal(
            owner_node=who.owner_node,
            unix_uid=os.getuid(),
            unix_gid=os.getgid(),
            peer_pid=os.getpid(),
            broker_epoch=who.broker_epoch,
            connection_id=who.connection_id,
        )

    around(Gate, "_principal", lambda _: local)
