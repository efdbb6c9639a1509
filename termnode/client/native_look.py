"""Looks at one pane and waits for it, through the gate. What it shows is data, never orders."""

from __future__ import annotations

import re

from termnode.client import native_link
from termnode.client.errors import WaitTimeout
from termnode.client.native_calls import native_call
from termnode.client.native_input import NativeInput
from termnode.client.program import pattern_of
from termnode.client.seen import Screen, Waited


class NativeLook(NativeInput):
    """What a pane shows. In results, ``generation`` is that of the pane's session."""

    async def snapshot(
        self,
        *,
        format: str = "text",  # noqa: A002  # the name of the verb's field
        since: int | None = None,
        line: int | None = None,
        lines: int | None = None,
        offset: int | None = None,
        command: bool = False,
    ) -> Screen:
        """What it shows, as `termnode.client.Pane.screen`. Raises Forbidden, InvalidArgument,
        ResourceLimit where one reply does not hold it."""
        asked = {
            "contents": True,
            "format": format,
            "since": since,
            "line": line,
            "lines": lines,
            "offset": offset,
            "command": command or None,
        }
        call = native_call("term.snapshot", Screen, self.info.target, asked)
        return await self._runner.run(native_link.ask, self._term, call)

    async def wait(
        self,
        *,
        until: str | re.Pattern[str] | None = None,
        quiet: float | None = None,
        prompt: bool = False,
        changed: bool = False,
        exit: bool = False,  # noqa: A002  # the name of the verb's field
        alternate: bool = False,
        after: int | None = None,
        timeout: float | None = 30.0,
    ) -> Waited:
        """Wait until one of the conditions holds; ``quiet`` and ``timeout`` are in seconds.

        ``after`` is the revision from which it counts; without one, what stands there counts too.
        ``outcome`` says which condition it was, or that the program ended or the pane went. Raises
        WaitTimeout, Forbidden.
        """
        asked: dict[str, object] = {
            "until": None if until is None else pattern_of(until),
            "quiet_ms": None if quiet is None else round(1000 * quiet),
            "after": after,
        }
        flags = {"prompt": prompt, "changed": changed, "exit": exit, "alternate": alternate}
        asked.update({name: True for name, is_set in flags.items() if is_set})
        call = native_call("term.wait", Waited, self.info.target, asked)
        ended = await self._runner.run(native_link.wait, self._term, call, timeout)
        if ended.outcome == "deadline":
            raise WaitTimeout("what was waited for did not come: snapshot() shows what is there")
        return ended
