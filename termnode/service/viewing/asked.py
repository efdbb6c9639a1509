"""term.ask: a question of a local program to the person at the views."""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import Final

from brokerd.client import ErrorCode, Principal, Refusal, forbidden, limit_reached
from termnode.lanes.calls import Caller
from termnode.lanes.who import summary
from termnode.service.state import Args, Result, State

PER_PROCESS: Final = 4
"""Questions of one process that are open; with more it could leave no room for anybody else's."""


async def ask(caller: Caller | None, state: State, args: Args, *, open_of: Counter[int]) -> Result:
    """Ask, and wait for the answer; cancelling withdraws the question.

    Who asks stands in the title, from the broker's stamp: the caller's own words come after it.
    ``open_of`` counts the open questions of each process. Raises Refusal: FORBIDDEN for anybody but
    the service's own user on this machine, UNAVAILABLE (`no_view`), RESOURCE_LIMIT.
    """
    if not isinstance(caller, Principal) or caller.unix_uid != os.geteuid():
        raise forbidden()
    if not state.asking.can_answer():
        raise Refusal(
            ErrorCode.UNAVAILABLE,
            "no view is attached that may answer: attach one (termnode attach) and ask again",
            reason="no_view",
        )
    if open_of[caller.peer_pid] >= PER_PROCESS:
        message = "this process has enough questions open: wait for an answer, then ask"
        raise limit_reached("questions_of_process", PER_PROCESS, message)
    open_of[caller.peer_pid] += 1
    try:
        return await _answer(caller, state, args)
    finally:
        open_of[caller.peer_pid] -= 1
        open_of += Counter()  # drops those that have none open any more


async def _answer(caller: Principal, state: State, args: Args) -> Result:
    start = time.monotonic()
    title = f"{summary(caller)} asks: {args['title']}"
    answer = await state.asking.ask(title, args["text"], args["timeout_ms"] / 1000)
    said = {True: "yes", False: "no", None: "none"}[answer]
    return {"answer": said, "elapsed_ms": round((time.monotonic() - start) * 1000)}
