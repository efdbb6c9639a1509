"""The guards of native control, each with how to take it off a service before it starts."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from typing import Any, Final

import termnode.service.main  # noqa: F401 - all of it is there before anything is replaced
from brokerd.client import Bus, Principal, Request, forbidden
from termnode.control.native import answers, gate, request
from termnode.control.native.gate import Gate
from termnode.control.native.histories import Histories
from termnode.control.native.history import History
from termnode.control.native.leases import LeaseCache
from termnode.control.native.ledger import Ledger
from termnode.control.native.request import Ask
from termnode.control.native.targets import Target, parse_target
from termnode.control.posture import Posture
from termnode.lanes.global_lane import GlobalLane
from termnode.service.identity.children import Children
from termnode.service.native.foreground import Foreground
from termnode.service.native.permit import Permit
from termnode.service.native.writers import Writer
from tests.support.s4 import guards_who as who
from tests.support.s4.replacing import Call, around, everywhere


def _affected() -> None:
    """What else a change touches is not asked."""
    around(Gate, "_check_affected", lambda _: lambda *_: None)


def _generation() -> None:
    """Any generation of a pane will do."""

    def exists(self: Gate[Any], case: Any, spec: Any) -> None:  # noqa: ANN401
        facts = self._world.pane(case.request.target.pane_id)
        if facts is None or not (facts.ready or (spec.of_ended and facts.ended)):
            raise forbidden()

    def named(self: Gate[Any], target: Target | None) -> None:
        if target is None or self._world.pane(target.pane_id) is None:
            raise forbidden()

    around(Gate, "_check_pane", lambda _: exists)
    around(Gate, "_check_live", lambda _: named)


def _ready() -> None:
    """Every pane that there is may be controlled."""

    def exists(self: Gate[Any], case: Any, spec: Any) -> None:  # noqa: ANN401
        if self._world.pane(case.request.target.pane_id) is None:
            raise forbidden()

    around(Gate, "_check_pane", lambda _: exists)


def _proof() -> None:
    """A pane is ready once its pane shell was started, whatever the broker says."""

    def started(self: Children, pane: int) -> bool:
        return self._roster.get(pane) is not None

    around(Children, "control_ready", lambda _: started)
    _generation()


def _room() -> None:
    """No history gives way to another."""

    def full(histories: Histories[Any]) -> History[Any]:
        raise answers.too_many_actors(histories.max_actors)

    around(Histories, "_coldest", lambda _: full)


def _marks() -> None:
    """A history that goes leaves no mark."""
    around(Histories, "_leave_mark", lambda _: lambda *_: None)


def _retries() -> None:
    """A retry is never known for one."""
    everywhere(request._digest, lambda *_: os.urandom(32))


def _ageing() -> None:
    """Replies are kept for ever."""

    def kept(made: Call) -> Call:
        def called(self: Ledger[Any], **given: Any) -> None:  # noqa: ANN401
            made(self, **{**given, "retention": 1e9})

        return called

    around(Ledger, "__init__", kept)


def _lease() -> None:
    """A lease is checked once, and never again."""

    def once(put: Call) -> Call:
        known: set[object] = set()

        def called(self: LeaseCache, check: Any, remaining_ms: int) -> Any:  # noqa: ANN401
            if check.ref in known:
                self.failed(check)
                return False
            known.add(check.ref)
            return put(self, check, remaining_ms)

        return called

    around(LeaseCache, "put", once)


def _successor() -> None:
    """What a replaced attachment held goes on being its own."""
    around(Permit, "_has_lease", lambda _: lambda *_: True)


def _writer() -> None:
    """Nobody's input keeps others out."""
    around(Writer, "is_busy", lambda _: lambda *_: False)


def _person() -> None:
    """A person's key takes nothing from an agent."""

    def heedless(raise_: Call) -> Call:
        def called(self: Foreground, why: str) -> None:
            if why == "layout":
                raise_(self, why)

        return called

    around(Foreground, "raise_", heedless)


def _deadline() -> None:
    """A right to write lasts as long as the leases behind it, and as long as it takes."""
    vars(gate)["PERMIT_MS"] = 10**9


def _private() -> None:
    """What is for one connection is sent to every one that ever asked."""
    asked: dict[str, None] = {}
    send = Bus.send_event

    def noted(init: Call) -> Call:
        def called(self: Ask, principal: Any, *given: Any) -> None:  # noqa: ANN401
            if isinstance(principal, Principal):
                asked[principal.connection_id] = None
            init(self, principal, *given)

        return called

    def to_all(self: Bus, recipient: str, *given: Any, **named: Any) -> bool:  # noqa: ANN401
        sent = [send(self, each, *given, **named) for each in {recipient: None, **asked}]
        return sent[0]

    around(Ask, "__init__", noted)
    around(Bus, "send_event", lambda _: to_all)


def _logs() -> None:
    """The log has what was sent."""

    def logged(respond: Call) -> Call:
        def called(self: Request, *given: Any) -> Any:  # noqa: ANN401
            logging.getLogger("termnode").warning("%r", self.raw)
            return respond(self, *given)

        return called

    around(Request, "respond", logged)


def _posture() -> None:
    """The global lane does not ask for the posture."""

    def opened(init: Call) -> Call:
        def called(self: GlobalLane, **given: Any) -> None:  # noqa: ANN401
            init(self, **{**given, "read_posture": lambda: Posture.OPEN})

        return called

    around(GlobalLane, "__init__", opened)


def _target() -> None:
    """Without a sound target the active pane is meant, as on the global lane."""
    parse = parse_target

    def lenient(value: Any, field: str = "target") -> Target:  # noqa: ANN401
        try:
            return parse(value, field)
        except Exception:  # noqa: BLE001 - whatever is wrong with it
            return Target("0" * 32, "0" * 32, 1, 1)

    everywhere(parse, lenient)


GUARDS: Final[Mapping[str, Callable[[], None]]] = {
    "users": who.users,
    "policy": who.policy,
    "scope": who.scope,
    "capability": who.capability,
    "incarnation": who.incarnation,
    "node": who.node,
    "affected": _affected,
    "generation": _generation,
    "ready": _ready,
    "proof": _proof,
    "room": _room,
    "marks": _marks,
    "retries": _retries,
    "ageing": _ageing,
    "lease": _lease,
    "successor": _successor,
    "writer": _writer,
    "person": _person,
    "deadline": _deadline,
    "private": _private,
    "logs": _logs,
    "posture": _posture,
    "target": _target,
}
"""By name; the text of each says what holds without it."""
