"""term.paste: a text at once or in parts, cleaned, and written as one piece."""

from __future__ import annotations

import time
from typing import Final

import trio

from brokerd.client import ErrorCode, Refusal, invalid
from termnode.service.input.paste_table import OpenPaste
from termnode.service.input.writing import Target, send, target_of, within_of, written
from termnode.service.state import Args, Later, Result, State
from termnode.terminal.input.paste import PASTE_END, Cleaned, clean_paste, paste_bytes

INLINE_CHARS: Final = 16_384
"""Longer texts are cleaned in a thread: the worst take half a microsecond per character."""


async def paste(state: State, args: Args) -> Result | Later:
    """term.paste"""
    now = time.monotonic()
    begun = None
    if "operation" in args:
        begun = state.inputs.pastes.find(args["operation"], now)
    if args["more"]:
        return _take_part(state, args, begun, now)
    asked = _target(state, args, begun)
    text = args["text"] if begun is None else _whole(state, args, begun)
    cleaned = await _clean(text)
    # All that decides is asked after the wait for the cleaning, and the write is in the same step;
    # a person who has typed meanwhile goes first.
    later = _write(state, _target(state, args, begun).since(asked), cleaned, args)
    if begun is not None:
        state.inputs.pastes.forget(begun)
    return later


def _take_part(state: State, args: Args, begun: OpenPaste | None, now: float) -> Result:
    """Keep a part that is not the last one; nothing is written."""
    target = _target(state, args, begun)
    about = target.about
    pastes = state.inputs.pastes
    if begun is None:
        begun = pastes.begin(target.pane, target.generation, args["text"], now)
        received = begun.received
    else:
        received = pastes.add(begun, args["offset"], args["text"], now)
    return {**about, "outcome": "received", "operation": begun.operation, "received": received}


def _whole(state: State, args: Args, begun: OpenPaste) -> str:
    return state.inputs.pastes.whole(begun, args["offset"], args["text"])


def _target(state: State, args: Args, begun: OpenPaste | None) -> Target:
    """The program to paste to: that of the first part, as long as it is still there."""
    if begun is None:
        return target_of(state, args.get("pane"))
    if args.get("pane", begun.pane) != begun.pane:
        raise invalid("pane", "pane is another one than that of the first part: leave it out")
    if state.workspace.pane(begun.pane).generation != begun.generation:
        state.inputs.pastes.forget(begun)
        raise Refusal(
            ErrorCode.STALE_GENERATION,
            "the pane's program was started anew since the first part: nothing was written",
            reason="pane_restarted",
        )
    return target_of(state, begun.pane)


async def _clean(text: str) -> Cleaned:
    if len(text) <= INLINE_CHARS:
        return clean_paste(text)
    return await trio.to_thread.run_sync(clean_paste, text)


def _write(state: State, target: Target, cleaned: Cleaned, args: Args) -> Later:
    """Write it as the program wants it at this moment. Raises Refusal: nothing was written."""
    bracketed = target.live.terminal.engine.modes.bracketed_paste and not args.get("plain")
    data = paste_bytes(cleaned.text, bracketed)
    about = target.about
    closing = PASTE_END if bracketed else b""
    within = within_of(args)
    ticket = send(state, target, data, closing=closing, patience=True, within=within)

    async def later() -> Result:
        return {
            **about,
            "outcome": "written",
            "bytes": await written(target, ticket),
            "removed": cleaned.removed,
            "bracketed": bracketed,
        }

    return later
