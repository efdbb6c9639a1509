"""Requests to the native lane, ready to be sent: a verb, its target, its fields. No I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from brokerd.client import MAX_REQUEST_BODY, Reply
from termnode.client.calls import REPLY_S, body_of, fields_of
from termnode.client.decode import decode
from termnode.client.errors import InvalidArgument
from termnode.client.native_replies import NativeSession
from termnode.control.native.fields import (
    AFFECTED,
    FOREGROUND,
    REQUEST_EPOCH,
    REQUEST_ID,
    TARGET,
)
from termnode.control.native.table import NATIVE
from termnode.control.native.targets import Target
from termnode.control.spec import Kind

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class NativeCall(Generic[R]):
    """One verb for one pane; ``result`` is the dataclass of its good reply, ``body`` all but the
    request id and epoch, which it gets when it is sent. ``timeout`` is in seconds."""

    verb: str
    result: type[R]
    body: Mapping[str, object]
    timeout: float = REPLY_S

    @property
    def kind(self) -> Kind:
        """What is not known here may do something."""
        spec = NATIVE.get(self.verb)
        return Kind.MUTATION if spec is None else spec.kind

    @property
    def mutates(self) -> bool:
        """Whether it has a request id, and never runs twice under it."""
        return self.kind is Kind.MUTATION

    @property
    def target(self) -> Any:  # noqa: ANN401  # as it is on the wire
        """The pane that it is bound to."""
        return self.body.get(TARGET)

    def with_fields(self, **fields: object) -> NativeCall[R]:
        """The same with other values for some fields."""
        return replace(self, body={**self.body, **fields})

    def reads(self) -> bytes:
        """The body of what is no mutation. Raises InvalidArgument."""
        return _encoded(self.body)

    def mutation(self, request_id: int, epoch: str) -> bytes:
        """The body under a request id of the connection ``epoch``; what ``body`` says itself goes
        before. Raises InvalidArgument."""
        return _encoded({REQUEST_ID: str(request_id), REQUEST_EPOCH: epoch, **self.body})

    def answer(self, reply: Reply) -> R:
        """What the reply says. Raises TermnodeError: the refusal, or BadReply."""
        return decode(self.result, _placed(body_of(reply)))


def native_call(
    verb: str,
    result: type[R],
    target: Target,
    fields: Mapping[str, object] | None = None,
    *,
    affected: tuple[Target, ...] = (),
    foreground: int | None = None,
    timeout: float = REPLY_S,
) -> NativeCall[R]:
    """A call with those own fields of the verb that are not None."""
    around: dict[str, object] = {TARGET: target.to_json()}
    if affected:
        around[AFFECTED] = [each.to_json() for each in affected]
    if foreground is not None:
        around[FOREGROUND] = str(foreground)
    return NativeCall(verb, result, {**around, **fields_of(fields or {})}, timeout)


def look(target: Target) -> NativeCall[NativeSession]:
    """term.session, asked through one pane."""
    return native_call("term.session", NativeSession, target)


def affected_by(
    session: NativeSession, target: Target, other: int | None = None
) -> tuple[Target, ...]:
    """All other panes that a layout verb about ``target`` (and the pane ``other``) may touch.

    Those of its tab, of the other's, of the active one, and of the tabs beside its own, one of
    which takes its place when it closes. The gate takes more than it needs, and refuses when the
    layout has changed since. A pane that was never control-ready cannot be named.
    """
    tabs = _tabs_touched(session, {target.pane_id, other})
    return tuple(
        pane.target
        for pane in session.panes
        if pane.tab_id in tabs and pane.target.pane_generation and pane.target != target
    )


def _tabs_touched(session: NativeSession, panes: set[int | None]) -> set[int]:
    touched = {int(each.tab_id) for each in session.panes if each.target.pane_id in panes}
    order = [int(tab.id) for tab in session.tabs]
    for place in [order.index(tab) for tab in touched if tab in order]:
        touched.update(order[max(0, place - 1) : place + 2])
    return touched | {int(tab.id) for tab in session.tabs if tab.active}


def _placed(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """With ``pane`` and ``generation``, which the target stands for, where it has only that."""
    target = body.get(TARGET)
    if not isinstance(target, dict):
        return body
    numbers = [str(target.get(name, "")) for name in ("pane_id", "pane_generation")]
    if not all(each.isascii() and each.isdigit() for each in numbers):
        return body
    return {"pane": int(numbers[0]), "generation": int(numbers[1]), **body}


def _encoded(body: Mapping[str, object]) -> bytes:
    try:
        raw = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError):  # half of a surrogate pair, NaN, or no JSON at all
        raise InvalidArgument("an argument cannot be said in UTF-8 and JSON") from None
    if len(raw) > MAX_REQUEST_BODY:
        raise InvalidArgument(
            f"the request is over {MAX_REQUEST_BODY} bytes: send less at a time",
            {"field": "body", "limit": MAX_REQUEST_BODY},
        )
    return raw
