"""One call through the SDK's in-memory client, with terminals that only remember what they got."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import cast

import pytest
import trio
from trio.testing import MockClock

pytest.importorskip("mcp")

from mcp import Client
from mcp_types import CallToolResult, Implementation, TextContent

from termnode.mcp import limits
from termnode.mcp.house import Household
from termnode.mcp.presenting import FACTS
from termnode.mcp.settings import Options
from termnode.modelterm import Settings, Shown, TermError, Terminals


class Fake:
    """Terminals of one client."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[object, ...]]] = []
        self.how = "deadline"
        self.fails: Exception | None = None
        self.text = "[t1 x] running\nuntrusted\n1|row"
        self.waiting = trio.Event()
        self.cancelled = 0
        self.closed = False

    def shown(self) -> Shown:
        return Shown(self.text, "t1", "running", 100, 30, (1, 1), False, 7)

    async def open(self, *given: object) -> Shown:
        return await self.note("open", *given)

    async def keys(self, *given: object, since: int | None = None) -> Shown:
        return await self.note("keys", *given)

    async def note(self, name: str, *given: object) -> Shown:
        self.calls.append((name, given))
        if self.fails is not None:
            raise self.fails
        return self.shown()

    async def wait(
        self,
        _id: str,
        seconds: float,
        _until: str | None,
        *,
        since: int | None = None,
        most: float,
    ) -> tuple[str, Shown]:
        self.waiting.set()
        try:
            await trio.sleep(min(seconds, most))
        except trio.Cancelled:
            self.cancelled += 1
            raise
        return self.how, self.shown()


Work = Callable[[Client, Fake], Awaitable[None]]


def with_client(
    work: Work,
    runtime_dir: Path | None = None,
    *,
    name: str = "mcp",
    mode: str = "auto",
    text_only: bool = False,
) -> None:
    fake_box: list[Fake] = []

    @asynccontextmanager
    async def opener(_settings: Settings) -> AsyncIterator[Terminals]:
        try:
            yield cast("Terminals", fake_box[0])
        finally:
            fake_box[0].closed = True

    async def main() -> None:
        fake_box.append(Fake())
        options = Options(
            Path("/"),
            {},
            terminal=True,
            unasked=True,
            name="nobody",
            runtime_dir=runtime_dir,
            text_only=text_only,
        )
        async with trio.open_nursery() as nursery:
            household = Household(options, nursery, opener)
            server, who = (
                household.server(lambda _context: "me"),
                Implementation(name=name, version="1"),
            )
            async with Client(server, client_info=who, mode=mode) as client:
                await work(client, fake_box[0])
            await household.client_gone("me")
            nursery.cancel_scope.cancel()

    try:
        trio.run(main, clock=MockClock(autojump_threshold=0))
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None


def text(result: CallToolResult) -> str:
    (only,) = result.content
    assert isinstance(only, TextContent)
    return only.text


def test_a_long_wait_comes_back_within_its_time_and_says_how_to_go_on() -> None:
    async def work(client: Client, _fake: Fake) -> None:
        await client.call_tool("term_open", {"cmd": "x"})
        began = trio.current_time()
        result = await client.call_tool("term_wait", {"id": "t1", "seconds": 60.0})
        assert trio.current_time() - began <= 45.0
        assert result.structured_content["outcome"] == "still waiting"
        assert result.structured_content["since"] == 7
        assert text(result).startswith("still waiting: wait again with since=7\n")
        again = await client.call_tool("term_wait", {"id": "t1", "seconds": 60.0, "since": 3})
        assert again.structured_content["since"] == 3, "what was newer then still counts"
        short = await client.call_tool("term_wait", {"id": "t1", "seconds": 30.0})
        assert short.structured_content["outcome"] == "deadline"

    with_client(work)


def test_progress_is_reported_each_second_to_who_asked() -> None:
    async def work(client: Client, _fake: Fake) -> None:
        await client.call_tool("term_open", {"cmd": "x"})
        told: list[float] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            told.append(round(progress))

        wait = {"id": "t1", "seconds": 5.5}
        await client.call_tool("term_wait", wait, progress_callback=note)
        assert told == [1, 2, 3, 4, 5]

    with_client(work)


def test_a_cancelled_call_cancels_the_wait_alone() -> None:
    async def work(client: Client, fake: Fake) -> None:
        await client.call_tool("term_open", {"cmd": "x"})
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.call_tool, "term_wait", {"id": "t1", "seconds": 60.0})
            await fake.waiting.wait()
            nursery.cancel_scope.cancel()
        assert fake.cancelled == 1
        assert not fake.closed
        assert not (await client.call_tool("term_keys", {"id": "t1", "keys": ["Up"]})).is_error

    with_client(work)


def test_calls_under_way_are_bounded_and_one_more_is_refused_at_once() -> None:
    async def work(client: Client, fake: Fake) -> None:
        await client.call_tool("term_open", {"cmd": "x"})
        refused: list[str] = []

        async def wait() -> None:
            result = await client.call_tool("term_wait", {"id": "t1", "seconds": 10.0})
            if result.is_error:
                refused.append(text(result))

        async with trio.open_nursery() as nursery:
            for _ in range(limits.CALLS + 3):
                nursery.start_soon(wait)
        assert len(refused) == 3
        assert all(each.startswith("RESOURCE_LIMIT: ") for each in refused)
        await wait()
        assert len(refused) == 3, "and there is room again"

    with_client(work)


def test_keys_that_are_pressed_again_and_again_are_no_loop_but_refusals_are() -> None:
    async def work(client: Client, fake: Fake) -> None:
        await client.call_tool("term_open", {"cmd": "x"})
        press = partial(client.call_tool, "term_keys", {"id": "t1", "keys": ["Down"]})
        for _ in range(10):
            assert "note: " not in text(await press())
        fake.fails = TermError("DISCONNECTED", "it ended: open another")
        said = [text(await press()) for _ in range(4)]
        assert ["note: " in each for each in said] == [False, False, False, True]
        assert "loop" in said[3]
        assert said[0] == "DISCONNECTED: it ended: open another"

    with_client(work)


def test_a_failure_that_nobody_foresaw_is_one_calls_and_says_nothing_of_its_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def work(client: Client, fake: Fake) -> None:
        await client.call_tool("term_open", {"cmd": "x"})
        fake.fails = RuntimeError("hunter2")
        result = await client.call_tool("term_keys", {"id": "t1", "keys": ["Up"]})
        assert result.is_error
        assert text(result).startswith("UNKNOWN_OUTCOME: ")
        assert "hunter2" not in text(result)
        fake.fails = None
        assert not (await client.call_tool("term_keys", {"id": "t1", "keys": ["Up"]})).is_error

    with caplog.at_level(logging.DEBUG, "termnode"):
        with_client(work)
    assert "hunter2" not in caplog.text
    assert "term_keys failed: RuntimeError" in caplog.text


def test_a_text_is_given_once_and_the_facts_do_not_repeat_it() -> None:
    async def work(client: Client, fake: Fake) -> None:
        fake.text = "[t1 x] running\nuntrusted\n1|a-row-of-the-screen"
        result = await client.call_tool("term_open", {"cmd": "x"})
        assert "a-row-of-the-screen" in text(result)
        assert "a-row-of-the-screen" not in str(result.structured_content)
        assert result.structured_content["untrusted"] is True

    with_client(work)


CLIENTS = [
    ("mcp", True),
    ("", True),
    ("claude-code", False),
    ("Claude Code", False),
    ("codex-mcp-client", False),
    ("opencode", False),
    ("Visual Studio Code - Insiders", False),
]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(("name", "typed"), CLIENTS)
def test_a_client_that_would_hide_the_screen_gets_text_alone(
    name: str, typed: bool, mode: str
) -> None:
    async def work(client: Client, _fake: Fake) -> None:
        result = await client.call_tool("term_open", {"cmd": "x"})
        assert "1|row" in text(result)
        listed = (await client.list_tools()).tools
        assert all((tool.output_schema is not None) == typed for tool in listed)
        if typed:
            assert result.structured_content["revision"] == 7
        else:
            assert result.structured_content is None
            assert result.meta is not None
            assert result.meta[FACTS]["revision"] == 7

    with_client(work, name=name, mode=mode)


def test_nobody_gets_structured_content_when_it_was_turned_off() -> None:
    async def work(client: Client, _fake: Fake) -> None:
        assert (await client.call_tool("term_open", {"cmd": "x"})).structured_content is None

    with_client(work, text_only=True)


def test_a_result_has_a_bounded_size_and_says_how_the_rest_is_had() -> None:
    async def work(client: Client, fake: Fake) -> None:
        rows = "\n".join(f"{at:>3}|{'é' * 500}" for at in range(1, 301))
        fake.text = f"[t1 x] running\nuntrusted\n{rows}"
        result = await client.call_tool("term_open", {"cmd": "x"})
        assert len(text(result).encode()) <= limits.RESULT_BYTES
        assert "term_screen id=t1 from_line=" in result.structured_content["next"]

    with_client(work)


def test_without_a_service_looking_says_how_to_start_one(tmp_path: Path) -> None:
    async def work(client: Client, _fake: Fake) -> None:
        result = await client.call_tool("panes", {})
        assert text(result).startswith("UNAVAILABLE: ")
        assert (await client.list_resources()).resources == []

    with_client(work, runtime_dir=tmp_path)
