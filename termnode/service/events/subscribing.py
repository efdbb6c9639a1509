"""term.events: tell a connection what happens from now on."""

from __future__ import annotations

import os

from brokerd.client import ErrorCode, Principal, Refusal
from termnode.lanes.calls import Caller
from termnode.service.events.subscriptions import Subscriber
from termnode.service.state import Args, Result, State


def subscribe(caller: Caller | None, state: State, args: Args) -> Result:
    """Begin, change or stop the subscription of the connection that asks.

    Raises Refusal NOT_FOUND (no such pane), RESOURCE_LIMIT (too many), UNSUPPORTED (another user or
    machine: the broker would not deliver to it).
    """
    who = _subscriber(caller)
    if "pane" in args and not args["stop"]:
        state.workspace.pane(args["pane"])
    return state.events.subscribe(who, args)


def _subscriber(caller: Caller | None) -> Subscriber:
    if not isinstance(caller, Principal) or caller.unix_uid != os.geteuid():
        raise Refusal(
            ErrorCode.UNSUPPORTED,
            "events are told only to the user whose service this is, on the same machine: ask with "
            "term.wait",
            reason="other_user",
        )
    return Subscriber(caller.connection_id, caller.broker_epoch, caller.peer_pid)
