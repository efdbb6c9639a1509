"""Waits through the MCP server: beside others, cancelled, with progress, and in parts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import trio

pytest.importorskip("mcp")

from tests.support.mcp_lab import TERMINAL, Lab, asking, lab, run

MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])


@pytest.fixture(name="place", scope="module")
def _place() -> Iterator[Lab]:
    with lab() as made:
        yield made


@MODES
def test_a_cancelled_wait_ends_and_the_program_goes_on(place: Lab, mode: str) -> None:
    async def work() -> None:
        async with asking(place, *TERMINAL, mode=mode) as ask:
            name = (await ask("term_open", cmd="cat")).facts["id"]
            waiting = trio.Event()

            async def note(progress: float, total: float | None, message: str | None) -> None:
                waiting.set()

            async with trio.open_nursery() as nursery:
                nursery.start_soon(
                    lambda: ask.client.call_tool(
                        "term_wait",
                        {"id": name, "seconds": 60.0, "until": "never shown"},
                        progress_callback=note,
                    )
                )
                await waiting.wait()
                nursery.cancel_scope.cancel()
            told = await ask("term_type", id=name, text="still here\n")
            assert told.facts["state"] == "running"
            assert told.rows[:2] == ["still here", "still here"]

    run(work)


def test_a_wait_stops_nobody_else(place: Lab) -> None:
    async def work() -> None:
        async with asking(place, *TERMINAL) as ask:
            one = (await ask("term_open", cmd="cat")).facts["id"]
            two = (await ask("term_open", cmd="cat")).facts["id"]
            ends: list[str] = []

            async def waits() -> None:
                told = await ask("term_wait", id=one, seconds=40.0, until="^go$")
                assert told.facts["outcome"] == "matched"
                ends.append("wait")

            async with trio.open_nursery() as nursery:
                nursery.start_soon(waits)
                nursery.start_soon(waits)
                assert (await ask("term_type", id=two, text="x\n")).rows[:2] == ["x", "x"]
                assert not ends
                await ask("term_type", id=one, text="go\n")
            assert ends == ["wait", "wait"]

    run(work)


def test_waits_say_why_they_ended(place: Lab) -> None:
    async def work() -> None:
        async with asking(place, *TERMINAL) as ask:
            name = (await ask("term_open", cmd="sh", args=["-c", "cat; exit 3"])).facts["id"]
            quiet = await ask("term_wait", id=name)
            assert quiet.facts["outcome"] == "quiet"
            deadline = await ask("term_wait", id=name, seconds=0.2, until="never shown")
            assert deadline.facts["outcome"] == "deadline"
            assert "since" not in deadline.facts
            there = await ask("term_type", id=name, text="there\n")
            matched = await ask("term_wait", id=name, until="^there$", seconds=20.0)
            assert matched.facts["outcome"] == "matched"
            newer = await ask(
                "term_wait", id=name, until="^there$", seconds=0.2, since=there.facts["revision"]
            )
            assert newer.facts["outcome"] == "deadline"
            await ask("term_keys", id=name, keys=["C-d"])
            exited = await ask("term_wait", id=name, seconds=20.0, until="never shown")
            assert exited.facts["outcome"] == "exited"
            assert exited.facts["state"] == "exited 3"
            gone = await ask.refused("term_type", id=name, text="x")
            assert "exited 3" in gone

    run(work)


def test_a_wait_in_a_pane_ends_when_the_pane_is_closed(place: Lab) -> None:
    opened = place.term.good("term.tab.new", {"argv": ["cat"], "background": True})

    async def work() -> None:
        async with asking(place) as ask, trio.open_nursery() as nursery:

            async def waits() -> None:
                refused = await ask.refused(
                    "wait", pane=opened["pane"], seconds=60.0, until="never shown"
                )
                assert refused.startswith("NOT_FOUND: ") or "closed" in refused

            nursery.start_soon(waits)
            await ask("panes")
            await trio.to_thread.run_sync(
                lambda: place.term.good("term.tab.close", {"id": opened["id"]})
            )

    run(work)
