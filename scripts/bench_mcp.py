"""mcp: what does an edit in neovim cost a model, and how long does a look take?

A fixed edit is made twice through ``termnode mcp``: once with whole screens, once with what changed
since the last one. Then looks at the screen take turns with calls of a tool that only echoes, of a
bare server of the same SDK.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import trio

from scripts.bench_common import TERMNODE, milliseconds, percentile, service

MIN_SAVING: Final = 3.0
"""Times that the conversation with whole screens is longer, at least."""

MAX_LOOK: Final = 3.0
"""Times that a look takes longer than an echo, at most (p50)."""

NVIM: Final = ("-u", "NONE", "-i", "NONE", "-n")

SOURCE: Final = "".join(
    f"def step_{number:03}(value: int, factor: int = {number}, *, log: Log | None = None) -> int:\n"
    f'    """Multiply the value of step {number}, and add what is left of it."""\n'
    f"    # What is left of it counts once more, as the steps before this one leave it.\n"
    f"    if value < 0 or factor < 1:\n"
    f'        raise ValueError(f"step {number} takes a positive value and factor: {{value}}")\n'
    f"    result = value * factor + value % {number + 7}  # step {number} of the pipeline\n"
    f"    if log is not None:\n"
    f'        log.debug("step {number:03}: %s times %s is %s", value, factor, result)\n'
    f"    return result if result < LIMIT else wrapped(result, LIMIT, by=step_{number:03})\n\n\n"
    for number in range(1, 41)
)
"""The text that is edited: ordinary lines that fill a screen."""

Step = tuple[str, Mapping[str, object]]


def _keys(*keys: str) -> Step:
    return "term_keys", {"keys": list(keys)}


def _type(text: str) -> Step:
    return "term_type", {"text": text}


EDIT: Final[Sequence[Step]] = (
    _keys("j", "j"),
    _keys("o"),
    _type("    result += 1\nif result > 100:\n    result = 100"),
    _keys("Escape"),
    _keys("j", "j"),
    _keys("A"),
    _type("  # as before"),
    _keys("Escape"),
    _keys("Down", "Down", "Down", "Down"),
    _keys("0", "w"),
    _keys("c", "w"),
    _type("stage_002"),
    _keys("Escape"),
    _keys("j"),
    _keys("A"),
    _type("  # checked"),
    _keys("Escape"),
    _keys("u"),
    _keys("C-r"),
    _type("/step 25\n"),
    _keys("0"),
    _keys("f", "#"),
    _keys("D"),
    _keys("k"),
    _keys("o"),
    _type("factor = max(factor, 1)\nvalue = abs(value)"),
    _keys("Escape"),
    _keys("Down", "Down"),
    _keys("A"),
    _type("  # and its rest"),
    _keys("Escape"),
    _keys("0"),
    _keys("w"),
    _keys("x"),
    _keys("i"),
    _type("r"),
    _keys("Escape"),
    _keys("Up", "Up", "Up"),
    _keys("A"),
    _type("  # positive"),
    _keys("Escape"),
    _type(":w\n"),
)
"""The edit: what a model does between two looks."""

ECHO: Final = """
import trio
from mcp.server import MCPServer
app = MCPServer("echo")
@app.tool()
async def echo(text: str) -> str:
    return text
trio.run(app.run_stdio_async)
"""


def mcp(calls: int) -> dict[str, Any]:
    """Run it; ``passed`` says whether both bars are met."""
    with (
        tempfile.TemporaryDirectory(prefix="tb-") as directory,
        service(directory, COSMIX_TERM_POLICY="none"),
    ):
        return trio.run(_run, Path(directory), calls)


async def _run(directory: Path, calls: int) -> dict[str, Any]:
    server = [*TERMNODE, "mcp", "--experimental-terminal", "--yolo"]
    async with _client(directory, server) as terminal:
        whole, first = await _edit(terminal, directory / "whole.py", changed=False)
        changed, second = await _edit(terminal, directory / "changed.py", changed=True)
        assert first == second, "both made the same edit"
        async with _client(directory, [sys.executable, "-c", ECHO]) as echo:
            looks, echoes = await _in_turns(terminal, echo, calls)
    saving = whole / changed
    ratio = percentile(looks, 0.5) / percentile(echoes, 0.5)
    return {
        "benchmark": "mcp",
        "steps": len(EDIT),
        "whole_chars": whole,
        "changed_chars": changed,
        "saving": round(saving, 2),
        "look_ms": milliseconds(looks),
        "echo_ms": milliseconds(echoes),
        "ratio": round(ratio, 2),
        "passed": saving >= MIN_SAVING and ratio <= MAX_LOOK,
    }


@asynccontextmanager
async def _client(directory: Path, argv: Sequence[str]) -> AsyncIterator[Any]:
    # Only here: the extra is not there for the other benchmarks.
    from mcp import Client, StdioServerParameters

    environment = {
        **os.environ,
        "COSMIX_RUNTIME_DIR": str(directory),
        "PYTHONPATH": str(Path(__file__).parents[1]),
    }
    parameters = StdioServerParameters(
        command=argv[0], args=list(argv[1:]), env=environment, cwd=directory
    )
    async with Client(parameters) as client:
        yield client


class _Conversation:
    """Counts the characters of the calls and of what comes back."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401  # the SDK's, which is imported late
        self._client = client
        self.chars = 0

    async def say(self, tool: str, arguments: Mapping[str, object]) -> Mapping[str, Any]:
        """One call; the facts of its result."""
        result = await self._client.call_tool(tool, dict(arguments))
        assert not result.is_error, result.content[0].text
        facts: Mapping[str, Any] = result.structured_content
        text = result.content[0].text
        self.chars += len(_encoded([tool, arguments])) + len(text) + len(_encoded(facts))
        return facts


def _encoded(value: object) -> str:
    """As it goes over the wire."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


async def _edit(client: Any, path: Path, *, changed: bool) -> tuple[int, str]:  # noqa: ANN401
    """Make the edit; the characters it took, and the text that came of it."""
    await trio.Path(path).write_text(SOURCE)
    talk = _Conversation(client)
    facts = await talk.say("term_open", {"cmd": "nvim", "args": [*NVIM, path.name]})
    about = {"id": facts["id"]}
    for tool, arguments in EDIT:
        since = {"since": facts["revision"]} if changed else {}
        facts = await talk.say(tool, {**about, **arguments, **since})
    await talk.say("term_close", about)
    return talk.chars, await trio.Path(path).read_text()


async def _in_turns(terminal: Any, echo: Any, calls: int) -> tuple[list[float], list[float]]:  # noqa: ANN401
    """Seconds of looks and of echoes, taken in turns."""
    opened = await terminal.call_tool("term_open", {"cmd": "cat"})
    about = {"id": opened.structured_content["id"]}
    looks, echoes = [], []
    for _ in range(calls):
        looks.append(await _timed(terminal, "term_screen", about))
        echoes.append(await _timed(echo, "echo", {"text": "x"}))
    return looks, echoes


async def _timed(client: Any, tool: str, arguments: Mapping[str, object]) -> float:  # noqa: ANN401
    begin = time.perf_counter()
    result = await client.call_tool(tool, dict(arguments))
    assert not result.is_error
    return time.perf_counter() - begin
