"""Carries one call out: is it allowed, are its arguments right, what did it come to."""

from __future__ import annotations

import logging

from mcp_types import CallToolRequestParams, CallToolResult, InputRequiredResult

from brokerd.client import ErrorCode, where
from termnode.mcp.call import Call
from termnode.mcp.limits import CALLS
from termnode.mcp.outcome import Outcome, ToolError, refusal, refused
from termnode.mcp.presenting import typed
from termnode.mcp.row import Row
from termnode.mcp.settings import Options, Tier
from termnode.mcp.table import BY_NAME

log = logging.getLogger("termnode.mcp")


class Calls:
    """The calls of one server, at most `CALLS` at a time."""

    def __init__(self) -> None:
        self._under_way = 0

    async def carry_out(self, call: Call) -> CallToolResult | InputRequiredResult:
        """What the call came to. A refusal is a result too; it never raises one."""
        if self._under_way >= CALLS:
            return refused(
                str(ErrorCode.RESOURCE_LIMIT),
                f"{CALLS} calls are under way already: wait for one to end",
            )
        self._under_way += 1
        try:
            return await _noted(call)
        finally:
            self._under_way -= 1


async def _noted(call: Call) -> CallToolResult | InputRequiredResult:
    """The result, with a note below when the client goes in circles."""
    came: Outcome | InputRequiredResult | tuple[str, str]
    try:
        came = await _run(call)
    except Exception as error:  # noqa: BLE001  # one call's failure is not the server's
        came = refusal(error) or _unforeseen(call, error)
    if isinstance(came, InputRequiredResult):
        return came
    note = await _note(call, ok=isinstance(came, Outcome))
    if isinstance(came, Outcome):
        return came.result(note, typed=typed(call.house.options, call.context))
    return refused(*came, note)


async def _run(call: Call) -> Outcome | InputRequiredResult:
    row = _row(call.params, call.house.options)
    arguments = row.arguments.model_validate(call.params.arguments or {})
    return await row.handler(call, arguments)


def _row(params: CallToolRequestParams, options: Options) -> Row:
    row = BY_NAME.get(params.name)
    if row is None:
        raise ToolError(
            ErrorCode.NOT_FOUND, "there is no such tool: tools/list has those there are"
        )
    if not options.allows(row.tier):
        raise ToolError(ErrorCode.FORBIDDEN, _how_to_allow(row.tier))
    return row


def _how_to_allow(tier: Tier) -> str:
    if tier is Tier.TERMINAL:
        return (
            "the experimental terminal is off: the person turns it on, in config.toml or with "
            "--experimental-terminal"
        )
    return f"this server was not started with --allow {tier}: the person decides that"


async def _note(call: Call, *, ok: bool) -> str | None:
    """What the guard says of a client that goes in circles: a server cannot end its turn."""
    desk = call.house.desks.known(call.client)
    if desk is None:
        return None
    said = desk.guard.call(call.params.name, call.params.arguments or {}, ok)
    if said is None:
        return None
    desk.guard.new_turn()
    return f"note: {said}"


def _unforeseen(call: Call, error: Exception) -> tuple[str, str]:
    log.error("%s failed: %s", _known(call.params.name), where(error))
    return str(ErrorCode.UNKNOWN_OUTCOME), "the server failed; it may have happened: look first"


def _known(name: str) -> str:
    return name if name in BY_NAME else "a call"
