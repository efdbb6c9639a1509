"""What a session asks of the native lane, done on its link in its Trio run."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, TypeVar

import trio

from termnode.client import requests
from termnode.client.calls import body_of
from termnode.client.errors import (
    Forbidden,
    ProgramEnded,
    ServiceRestarted,
    ServiceUnavailable,
    WaitTimeout,
)
from termnode.client.link import Link
from termnode.client.native_calls import NativeCall, native_call
from termnode.client.native_replies import Done, NativePaneInfo, NativeSession, Operation
from termnode.client.native_term import Term, name_of
from termnode.client.replies import Details
from termnode.client.seen import Waited
from termnode.client.wait_plan import WaitPlan
from termnode.control.native.targets import Target

R = TypeVar("R")

_PAUSE_S: Final = 0.1
"""Between two looks whether something is there by now."""

_NOT_YET: Final = (Forbidden, ServiceUnavailable)
"""What is answered for a pane, or by a Term, that is not ready for a moment."""


async def find(link: Link, timeout: float) -> Term:
    """The Term behind the session's service, waited for as long as it has no verified session.

    Raises ServiceUnavailable, Forbidden for another user's, ServiceRestarted.
    """
    end = trio.current_time() + timeout
    while True:
        identity = (await link.ask(requests.info())).identity
        try:
            return await link.native.find(name_of(identity))
        except ServiceUnavailable:
            if trio.current_time() >= end or identity is None or identity.state == "off":
                raise
        await trio.sleep(_PAUSE_S)


async def see(link: Link, term: Term) -> NativeSession | None:
    """As `NativeCaller.look`, through the panes that there are now. Raises ServiceRestarted."""
    link.check_open()
    link.native.check_epoch(term)
    try:
        now = await link.native.find(term.name)
    except Forbidden:
        raise ServiceRestarted(
            "that terminal is no more: connect again", {"reason": "service_restarted"}
        ) from None
    return await link.native.look(now)


async def ask(link: Link, term: Term, call: NativeCall[R]) -> R:
    """As `NativeCaller.ask`."""
    link.check_open()
    return await link.native.ask(term, call)


async def ask_anything(link: Link, term: Term, call: NativeCall[Done]) -> Details:
    """The body of the good reply, as it is. Raises TermnodeError."""
    link.check_open()
    return body_of(await link.native.ask_raw(term, call))


async def wait(link: Link, term: Term, call: NativeCall[Waited], timeout: float | None) -> Waited:
    """One wait of any length, as many of the Term's as it takes. Raises TermnodeError."""
    plan = WaitPlan(call, timeout, trio.current_time())
    while (part := plan.part(trio.current_time())) is not None:
        plan.answered(await ask(link, term, part), trio.current_time())
    if plan.result is None:
        raise WaitTimeout("the time ran out before the wait began")
    return plan.result


async def appear(
    link: Link, term: Term, pane: int | None, tab: int | None, timeout: float
) -> NativePaneInfo:
    """The pane of that number, or the one of a new tab, once it is control-ready.

    Raises WaitTimeout, ProgramEnded.
    """
    end = trio.current_time() + timeout
    while (found := await _ready(link, term, pane, tab)) is None:
        if trio.current_time() >= end:
            raise WaitTimeout(
                "the pane is open and not control-ready yet, or its program has ended: wait_pane()"
                " waits on"
            )
        await trio.sleep(_PAUSE_S)
    return found


async def _ready(
    link: Link, term: Term, pane: int | None, tab: int | None
) -> NativePaneInfo | None:
    """What is known of it through itself; None while it is not ready."""
    try:
        session = await see(link, term)
    except ServiceRestarted:
        raise
    except _NOT_YET:
        return None
    for info in () if session is None else session.panes:
        if info.target.pane_id == pane or (pane is None and info.tab_id == tab):
            if info.state == "exited":
                raise ProgramEnded("the pane's program ended before the pane was control-ready")
            return info if info.ready else None
    return None


async def settled(link: Link, term: Term, target: Target, number: int, timeout: float) -> Operation:
    """What became of an operation, once nothing more is to come. Raises WaitTimeout."""
    end = trio.current_time() + timeout
    while True:
        found = await operation(link, term, target, number)
        if not found.under_way:
            return found
        if trio.current_time() >= end:
            raise WaitTimeout("it is not at its end yet: ask operation() again")
        await trio.sleep(_PAUSE_S)


async def operation(link: Link, term: Term, target: Target, number: int) -> Operation:
    """What is known now of an operation. Raises TermnodeError."""
    link.check_open()
    call = native_call("term.operation", Operation, target, {"operation_id": str(number)})
    reply = await link.native.ask_raw(term, call)
    return replace(call.answer(reply), reply=body_of(reply))
