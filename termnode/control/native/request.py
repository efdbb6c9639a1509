"""Requests of the native lane: from bytes to a checked shape (specs/control.md, steps 4 and 5)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final, NamedTuple

from brokerd.client import (
    ErrorCode,
    Json,
    NodePrincipal,
    Principal,
    Refusal,
    invalid,
)
from termnode.control.bodies import decode
from termnode.control.native.fields import (
    AFFECTED,
    ENVELOPE,
    FOREGROUND,
    OPERATION_ID,
    REQUEST_EPOCH,
    REQUEST_ID,
    TARGET,
)
from termnode.control.native.limits import AFFECTED_MOST
from termnode.control.native.spec import NativeSpec
from termnode.control.native.table import NATIVE
from termnode.control.native.targets import Target, parse_id, parse_number, parse_target
from termnode.control.schema import Args, checked, unknown_field

_ANY: Final = frozenset(ENVELOPE).union(*(spec.known for spec in NATIVE.values()))
"""What a verb that there is not may have."""


class NativeRequest(NamedTuple):
    """A request of sound shape; its own fields are not checked yet (`checked_args`).

    ``command`` is as it was sent, ``spec`` of the verb that it stands for, None when there is none.
    ``affected`` are the further targets, each pane once. ``digest`` is SHA-256 over the command,
    NUL and the body as sent; empty for what is never looked up.
    """

    command: str
    spec: NativeSpec | None
    target: Target
    affected: tuple[Target, ...]
    request_id: int | None
    operation_id: int | None
    epoch: str | None
    foreground: int | None
    other: int | None
    """The second pane that a verb is about."""
    own: Mapping[str, Json]
    digest: bytes

    def checked_args(self) -> Args:
        """Own fields, checked, with defaults. Raises Refusal INVALID_ARGUMENT."""
        assert self.spec is not None, "a verb that there is not has no fields"
        return checked(self.spec.fields, self.own, self.spec.check)


class Ask:
    """One request as it arrived, and its shape once it was looked at.

    ``reply_to`` is the I/O side's own. The same object is to be evaluated again after a wait.
    """

    __slots__ = ("_request", "command", "principal", "raw", "reply_to")

    def __init__(
        self,
        principal: Principal | NodePrincipal | None,
        command: str,
        raw: bytes,
        reply_to: object = None,
    ) -> None:
        self.principal = principal
        self.command = command
        self.raw = raw
        self.reply_to = reply_to
        self._request: NativeRequest | None = None

    def request(self) -> NativeRequest:
        """Its shape, which never changes. Raises Refusal as `parse_request`."""
        if self._request is None:
            self._request = parse_request(self.command, self.raw)
        return self._request


def parse_request(command: str, raw: bytes) -> NativeRequest:
    """The request in ``raw``, a property already turned into the verb that it stands for.

    Raises Refusal INVALID_ARGUMENT for what is no request, UNSUPPORTED for other properties.
    """
    body = decode(raw)
    spec = NATIVE.get(command)
    _check_names(spec, body)
    if spec is not None and spec.stands_for:
        spec, body = _resolved(spec, body)
    target = parse_target(body.pop(TARGET, None))
    return NativeRequest(
        command,
        spec,
        target,
        _affected(body.pop(AFFECTED), target) if AFFECTED in body else (),
        _number(body, REQUEST_ID),
        _number(body, OPERATION_ID),
        parse_id(body.pop(REQUEST_EPOCH), REQUEST_EPOCH) if REQUEST_EPOCH in body else None,
        _number(body, FOREGROUND),
        _other(spec, body),
        body,
        _digest(command, raw) if spec is not None and spec.mutates else b"",
    )


def _check_names(spec: NativeSpec | None, body: Mapping[str, Json]) -> None:
    known = _ANY if spec is None else spec.known
    if not body.keys() <= known:
        verb = "the verb" if spec is None else spec.name
        raise unknown_field(verb, sorted(known))


def _resolved(spec: NativeSpec, body: dict[str, Json]) -> tuple[NativeSpec, dict[str, Json]]:
    """The verb that a property stands for, and the body that it would have had."""
    name, value = body.pop("property", None), body.pop("value", None)
    if not isinstance(name, str):
        raise invalid("property", "property takes a name")
    own = _values(name, value) if name in spec.stands_for else None
    if own is None:
        words = ", ".join(spec.stands_for)
        raise Refusal(
            ErrorCode.UNSUPPORTED,
            f"there is no such property here, or not with such a value: {spec.name} knows {words}",
            reason="unknown_property",
        )
    verb = NATIVE[spec.stands_for[name]]
    _check_names(verb, body)
    return verb, {**body, **own}


def _values(name: str, value: Json) -> dict[str, Json] | None:
    """The own fields of the verb that the property stands for; None for a value it has not."""
    if name == "selected":
        return {} if value is True else None
    if name == "input":
        return {"text": value} if isinstance(value, str) else None
    return {"contents": True} if name == "contents" else {}


def _affected(value: Json, target: Target) -> tuple[Target, ...]:
    if not isinstance(value, list) or len(value) > AFFECTED_MOST:
        message = f"{AFFECTED} takes an array of at most {AFFECTED_MOST} targets"
        raise invalid(AFFECTED, message, limit=AFFECTED_MOST)
    named = {target.pane_id: target}
    for item in value:
        other = parse_target(item, AFFECTED)
        if named.setdefault(other.pane_id, other) != other:
            raise invalid(AFFECTED, f"{AFFECTED} names a pane twice, differently")
    del named[target.pane_id]
    return tuple(named.values())


def _number(body: dict[str, Json], name: str) -> int | None:
    return parse_number(body.pop(name), name) if name in body else None


def _other(spec: NativeSpec | None, body: Mapping[str, Json]) -> int | None:
    if spec is None or spec.other is None or spec.other not in body:
        return None
    return parse_number(body[spec.other], spec.other)


def _digest(command: str, raw: bytes) -> bytes:
    return hashlib.sha256(command.encode() + b"\0" + raw).digest()
