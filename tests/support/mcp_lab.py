"""MCP servers of their own directory for tests, and the SDK's client at them."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import trio
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, TextContent

from tests.support.termnode_process import COMMAND, Service, plain_service

WITHIN = 60.0

T = TypeVar("T")

NVIM = ("-u", "NONE", "-i", "NONE", "-n")
"""nvim with nothing of anybody's configuration, and no swap files."""


@dataclass
class Lab:
    """A directory with a service (or none), and servers in it."""

    term: Service
    work: Path

    def environment(self) -> dict[str, str]:
        """Of a server."""
        return {**self.term.environment(), "TERM": "dumb"}

    def parameters(self, *options: str) -> StdioServerParameters:
        """How a client starts a server."""
        command, *arguments = (*COMMAND, "mcp", *options)
        return StdioServerParameters(
            command=command, args=arguments, env=self.environment(), cwd=self.work
        )

    def start(self, *options: str, **given: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401
        """A server with nothing between."""
        streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(
            [*COMMAND, "mcp", *options],
            env=self.environment(),
            cwd=self.work,
            **(streams | given),
        )


@contextmanager
def lab(*, up: bool = True) -> Iterator[Lab]:
    """A service that is ended in the end (none unless ``up``), and a directory to work in."""
    base = Path(tempfile.mkdtemp(prefix="tn-", dir="/tmp"))
    (base / "work").mkdir()
    try:
        with plain_service(directory=base) if up else nullcontext(Service(base)) as term:
            yield Lab(term, base / "work")
    finally:
        shutil.rmtree(base, ignore_errors=True)


class Asking:
    """The SDK's client, with less to write."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def raw(self, tool: str, /, **arguments: Any) -> CallToolResult:  # noqa: ANN401
        """The result of a call, refusals included."""
        with trio.fail_after(WITHIN):
            return await self.client.call_tool(tool, arguments)

    async def __call__(self, tool: str, /, **arguments: Any) -> Told:  # noqa: ANN401
        """A good result."""
        result = await self.raw(tool, **arguments)
        assert not result.is_error, text_of(result)
        return Told(text_of(result), result.structured_content)

    async def refused(self, tool: str, /, **arguments: Any) -> str:  # noqa: ANN401
        """The words of a refusal."""
        result = await self.raw(tool, **arguments)
        assert result.is_error, text_of(result)
        assert result.structured_content is None
        return text_of(result)

    async def until(self, pattern: str, **about: Any) -> Told:  # noqa: ANN401
        """Wait until a row matches."""
        tool = "wait" if "pane" in about else "term_wait"
        told = await self(tool, until=pattern, seconds=40.0, **about)
        assert told.facts["outcome"] == "matched", told.text
        return told


@dataclass
class Told:
    """A result: the text, and the typed facts."""

    text: str
    facts: dict[str, Any]

    @property
    def rows(self) -> list[str]:
        """Of a screen: what stands behind the numbers."""
        return [line.partition("|")[2] for line in self.text.split("\n") if _is_row(line)]


def _is_row(line: str) -> bool:
    return line.partition("|")[0].strip().isdigit()


def text_of(result: CallToolResult) -> str:
    """The one text of a result."""
    (only,) = result.content
    assert isinstance(only, TextContent)
    return only.text


@asynccontextmanager
async def asking(
    lab: Lab,
    *options: str,
    **client: Any,  # noqa: ANN401
) -> AsyncIterator[Asking]:
    """A client with a server of its own."""
    with trio.fail_after(3 * WITHIN):
        async with Client(lab.parameters(*options), **client) as made:
            yield Asking(made)


def run(work: Callable[[], Awaitable[T]]) -> T:
    """Under Trio; of an error in groups the first."""
    try:
        return trio.run(work)
    except BaseExceptionGroup as group:
        raise first(group) from None


def first(error: BaseException) -> BaseException:
    """The first error of a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


TERMINAL = ("--experimental-terminal", "--yolo")
