"""The input verbs: text, keys, pastes and the mouse, each admitted whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from brokerd.client import ErrorCode, Refusal, invalid
from termnode.control.keys import ENTER, encode_keys
from termnode.service.input.confirming import type_confirmed
from termnode.service.input.pasting import paste
from termnode.service.input.writing import Target, send, target_of, within_of, written
from termnode.service.state import Args, Later, Mutation, Result, State
from termnode.terminal.engine import Engine
from termnode.terminal.input.encode import encode_all
from termnode.terminal.input.mouse import NotRequested, OutOfRange, encode_mouse


async def type_text(state: State, args: Args) -> Later:
    """term.type"""
    target = target_of(state, args.get("pane"))
    text = encode_keys(args["text"])
    if args.get("confirm"):
        return type_confirmed(state, target, text, enter=args["enter"])
    return _sent(state, target, text + (ENTER if args["enter"] else b""))


async def press_keys(state: State, args: Args) -> Later:
    """term.keys"""
    target = target_of(state, args.get("pane"))
    modes = target.live.terminal.engine.modes
    return _sent(state, target, encode_all(args["keys"], modes), within_of(args))


async def use_mouse(state: State, args: Args) -> Later:
    """term.mouse"""
    target = target_of(state, args.get("pane"))
    return _sent(state, target, mouse_bytes(target.live.terminal.engine, args))


def mouse_bytes(engine: Engine, args: Args) -> bytes:
    """Raises Refusal: INVALID_ARGUMENT outside the pane, UNSUPPORTED when it cannot be told."""
    for axis, cells in (("x", engine.cols), ("y", engine.rows)):
        if args[axis] >= cells:
            raise invalid(axis, f"{axis} is outside the pane: 0 to {cells - 1}", limit=cells - 1)
    modifiers = args.get("modifiers", ())
    try:
        return encode_mouse(
            args["action"], args["button"], args["x"], args["y"], modifiers, engine.modes
        )
    except NotRequested:
        raise Refusal(
            ErrorCode.UNSUPPORTED,
            "the program has not asked to be told of that use of the mouse: press keys instead",
            reason="mouse_not_requested",
        ) from None
    except OutOfRange:
        raise Refusal(
            ErrorCode.UNSUPPORTED,
            "the way in which the program asked for the mouse ends at column and row 222: "
            "press keys, or make the pane smaller",
            reason="mouse_out_of_range",
        ) from None


def _sent(state: State, target: Target, data: bytes, within: float | None = None) -> Later:
    """Write it in this step; what is left is to wait until the terminal has it."""
    about = target.about
    ticket = send(state, target, data, within=within)

    async def later() -> Result:
        return {**about, "outcome": "written", "bytes": await written(target, ticket)}

    return later


INPUT: Final[Mapping[str, Mutation]] = {
    "term.type": type_text,
    "term.keys": press_keys,
    "term.paste": paste,
    "term.mouse": use_mouse,
}
