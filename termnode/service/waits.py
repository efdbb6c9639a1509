"""term.wait: until a row of a pane's screen matches, its program ends, or the time is up."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import trio
from wcwidth import wcswidth

from termnode.control.patterns import compile_pattern
from termnode.service.live_pane import LivePane
from termnode.service.state import Result, State

CHECK_EVERY_S: Final = 0.01
"""A flood changes the screen all the time; looking more often would only take time from others."""

INLINE_S: Final = 0.001
INLINE_CHARS: Final = 512
"""A look that takes longer, or has longer lines, goes on in a thread: the worst patterns take tens
of microseconds per character."""

_SEARCHES: Final = trio.CapacityLimiter(1)
"""One such thread: costly looks wait for each other."""


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
        found = await _match(live, pattern)
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


async def _match(live: LivePane, pattern: Any) -> Result | None:  # noqa: ANN401
    """The first row that matches, as it stands or joined with the rows it is wrapped into.

    What takes longer than a moment goes to a thread (the engine lets others run while it searches)
    on the text as it is now: a costly pattern of one caller delays nobody but itself.
    """
    lines = _lines(live)
    found, done = _search(pattern, lines, INLINE_S, INLINE_CHARS)
    if found is None and done < len(lines):
        found, _ = await trio.to_thread.run_sync(
            _search, pattern, lines[done:], abandon_on_cancel=True, limiter=_SEARCHES
        )
    return found


def _lines(live: LivePane) -> list[tuple[int, str]]:
    """What is searched: each row, then each line of several rows, with the number of its first.

    Rows come without trailing blanks. The cursor's row is searched as far as the cursor too: the
    blank of a prompt that waits for input is part of it.
    """
    engine = live.terminal.engine
    rows, cursor = engine.text(), engine.cursor
    waiting = padded(rows[cursor.y], cursor.x)
    here = [] if waiting == rows[cursor.y] else [(cursor.y, waiting)]
    return [*enumerate(rows), *here, *joined(rows, engine.wrapped())]


def padded(text: str, cells: int) -> str:
    """``text`` with blanks behind it up to ``cells`` columns."""
    width = len(text) if text.isascii() else wcswidth(text)
    return text + " " * max(0, cells - width)


def _search(
    pattern: Any,  # noqa: ANN401
    lines: Sequence[tuple[int, str]],
    seconds: float = math.inf,
    chars: float = math.inf,
) -> tuple[Result | None, int]:
    """The first match, and how many lines were searched in ``seconds``, none over ``chars``."""
    end = time.perf_counter() + seconds
    for done, (number, text) in enumerate(lines):
        if len(text) > chars or time.perf_counter() > end:
            return None, done
        if pattern.search(text):
            return {"outcome": "matched", "row": number, "text": text}, done
    return None, len(lines)


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
