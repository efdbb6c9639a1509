"""term.wait: until a row of a pane's screen matches, its program ends, or the time is up."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

import trio

from termnode.control.patterns import compile_pattern
from termnode.service.panes import LivePane
from termnode.service.state import State

CHECK_EVERY_S: Final = 0.01
"""A flood changes the screen all the time; looking more often would only take time from others."""

Result = dict[str, object]


async def wait(state: State, args: Mapping[str, Any]) -> Result:
    """Look at once and after changes. Raises Refusal NOT_FOUND, INVALID_ARGUMENT (until)."""
    pane = state.workspace.pane(args.get("pane"))
    live = state.live(pane.id)
    pattern = compile_pattern(args["until"])
    about: Result = {"pane": pane.id, "generation": pane.generation}
    start = time.monotonic()
    found: Result = {"outcome": "deadline"}
    with trio.move_on_after(args["timeout_ms"] / 1000):
        found = await _until(live, pattern)
    return {**about, **found, "elapsed_ms": round((time.monotonic() - start) * 1000)}


async def _until(live: LivePane, pattern: Any) -> Result:  # noqa: ANN401  # re2 ships no types
    while True:
        revision = live.terminal.revision
        # Whether it ended is read before the screen: what it wrote last is on the screen by then.
        ended = live.ended is not None
        if live.gone.is_set():
            return {"outcome": "gone"}
        found = _match(live, pattern)
        if found is not None:
            return found
        if ended:
            return {"outcome": "exited"}
        await trio.sleep(CHECK_EVERY_S)
        await _news(live, revision)


async def _news(live: LivePane, revision: int) -> None:
    """Wait until the screen is newer than ``revision``, the program ended, or the pane is gone."""
    async with trio.open_nursery() as nursery:

        async def gone() -> None:
            await live.gone.wait()
            nursery.cancel_scope.cancel()

        nursery.start_soon(gone)
        await live.terminal.changed(revision)
        nursery.cancel_scope.cancel()


def _match(live: LivePane, pattern: Any) -> Result | None:  # noqa: ANN401
    """The first row that matches, as it stands or joined with the rows it is wrapped into."""
    engine = live.terminal.engine
    rows = engine.text()
    for number, text in enumerate(rows):
        if pattern.search(text):
            return {"outcome": "matched", "row": number, "text": text}
    for number, text in joined(rows, engine.wrapped()):
        if pattern.search(text):
            return {"outcome": "matched", "row": number, "text": text}
    return None


def joined(rows: list[str], wrapped: list[bool]) -> list[tuple[int, str]]:
    """The lines that take more than one row: the number of the first, and the whole text."""
    lines: list[tuple[int, str]] = []
    first = 0
    for number, goes_on in enumerate(wrapped):
        if goes_on and number + 1 < len(rows):
            continue
        if number > first:
            lines.append((first, "".join(rows[first : number + 1])))
        first = number + 1
    return lines
