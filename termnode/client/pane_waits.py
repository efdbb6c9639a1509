"""Waiting for what a pane's program does.

A wait counts from the session's last input into the pane, so that the naive script is right: what
stood there before is no answer to it. The echo of what was typed is newer text too, though: a
pattern that is also in the typed line matches there. Write patterns that it does not have, such as
``^passed`` for a line that begins so.
"""

from __future__ import annotations

import re

from termnode.client import watching
from termnode.client.anchors import LAST_INPUT, After
from termnode.client.calls import Call
from termnode.client.errors import NotFound, PaneGone, ProgramEnded, WaitTimeout
from termnode.client.pane_look import PaneLook
from termnode.client.program import pattern_of
from termnode.client.replies import Exit
from termnode.client.seen import Match, Waited

EXITED = "exited"


class PaneWaits(PaneLook):
    """Waits in one pane. ``timeout`` is in seconds; None waits for as long as it takes.

    ``after`` is the revision from which a wait counts; None lets count what stands there already.
    All of them raise WaitTimeout, PaneGone, ProgramEnded, and ServiceUnavailable when the service
    goes away. A wait that is cancelled or interrupted leaves one behind in the service: it ends by
    itself after 2 s, or about as long again as it was waited for (45 s at most), and at once with
    this process.
    """

    async def wait_for(
        self,
        pattern: str | re.Pattern[str],
        *,
        timeout: float | None = 30.0,
        after: After = LAST_INPUT,
    ) -> Match:
        """Wait until a row matches ``pattern`` (RE2 syntax, searched for within each row)::

            await pane.send_keys("make test")
            match = await pane.wait_for("^(passed|failed)", timeout=600)

        The line that was typed counts too, since its echo is newer text: begin a pattern with ``^``
        or choose words that it does not have. The anchor stays where it is: pass
        ``after=match.revision`` to wait for the next match.
        """
        call = watching.wait(until=pattern_of(pattern), after=self._after(after), pane=self._id)
        answer = await self._wait(call, timeout)
        return Match(
            text=answer.text or "",
            line=answer.line or 0,
            row=answer.row,
            revision=answer.revision,
            stale=answer.stale or False,
            lines_missed=answer.lines_missed,
            elapsed_ms=answer.elapsed_ms,
        )

    async def wait_quiet(
        self, seconds: float = 1.0, *, timeout: float | None = 30.0, after: After = LAST_INPUT
    ) -> Waited:
        """Wait until the program has written nothing for ``seconds`` (0.05 to 45)."""
        call = watching.wait(
            quiet_ms=round(1000 * seconds), after=self._after(after), pane=self._id
        )
        return await self._wait(call, timeout)

    async def wait_prompt(
        self, *, timeout: float | None = 30.0, after: After = LAST_INPUT
    ) -> Waited:
        """Wait until the shell waits for a command: another one than before the last input."""
        call = watching.wait(prompt=True, after=self._after(after), pane=self._id)
        return await self._wait(call, timeout)

    async def wait_change(
        self, *, timeout: float | None = 30.0, after: After = LAST_INPUT
    ) -> Waited:
        """Wait until anything on the screen changes; the next call goes on from there."""
        anchor = self._asking.anchors.change(self._id, after)
        call = watching.wait(changed=True, after=anchor, pane=self._id)
        answer = await self._wait(call, timeout)
        self._asking.anchors.changed(self._id, answer.revision)
        return answer

    async def wait_alternate(
        self, *, timeout: float | None = 30.0, after: After = LAST_INPUT
    ) -> Waited:
        """Wait until a full-screen program has taken the screen, or given it back."""
        call = watching.wait(alternate=True, after=self._after(after), pane=self._id)
        return await self._wait(call, timeout)

    async def wait_exit(self, *, timeout: float | None = 30.0) -> Exit:
        """Wait until the program has ended, and say how it did."""
        answer = await self._outcome(watching.wait(exit_=True, pane=self._id), timeout)
        if answer.outcome != EXITED:
            raise self._failed(answer)
        return await self._exit(answer)

    def _after(self, after: After) -> int | None:
        return self._asking.anchors.of(self._id, after)

    async def _wait(self, call: Call[Waited], timeout: float | None) -> Waited:
        """How it ended, when it ended well."""
        answer = await self._outcome(call, timeout)
        if answer.outcome == EXITED:
            ended = await self._exit(answer)
            raise ProgramEnded(f"the program in pane {self._id} ended with {ended}", ended)
        if answer.outcome in {"gone", "deadline"}:
            raise self._failed(answer)
        return answer

    async def _outcome(self, call: Call[Waited], timeout: float | None) -> Waited:
        try:
            return await self._asking.wait(call, timeout)
        except NotFound:
            raise PaneGone(f"pane {self._id} was closed") from None

    def _failed(self, answer: Waited) -> Exception:
        if answer.outcome == "gone":
            return PaneGone(f"pane {self._id} was closed")
        return WaitTimeout(
            f"what was waited for did not come in pane {self._id}: capture() shows what is there",
            answer.revision,
        )

    async def _exit(self, answer: Waited) -> Exit:
        """How the program ended that the wait was about."""
        try:
            screen = await self.screen(lines=1)
        except NotFound:
            raise PaneGone(f"pane {self._id} was closed") from None
        if screen.exit is None or screen.generation != answer.generation:
            return Exit()  # another program has been started in its place since
        known = screen.exit
        return Exit(known.code, known.signal, known.core, screen.duration_ms)
