"""Steps of a submission at which the process that comes to one can be made to stand still.

Whoever killed it there killed it between that step and the next. It does so once: a process that
goes on from there goes on for good.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from typing import Any, Final

from termnode.paneshell.prompt import control_dir
from termnode.paneshell.prompt import desk as desks
from termnode.service.shells.pressing import press
from tests.support.stage_d.guards import Call, around, everywhere

_stood: Final[set[int]] = set()
"""Processes that have stood still already."""


def _stand_still() -> None:
    me = os.getpid()
    if me not in _stood:
        _stood.add(me)
        os.kill(me, signal.SIGSTOP)


def _after(call: Call) -> Call:
    def called(*given: Any, **named: Any) -> Any:  # noqa: ANN401
        found = call(*given, **named)
        _stand_still()
        return found

    return called


def _before(call: Call) -> Call:
    def called(*given: Any, **named: Any) -> Any:  # noqa: ANN401
        _stand_still()
        return call(*given, **named)

    return called


def _written() -> None:
    """The pane shell has written the request; nobody was asked to press."""

    def of_a_command(put: Call) -> Call:
        def called(self: control_dir.ControlDir, request: Any) -> None:  # noqa: ANN401
            put(self, request)
            if request.source:
                _stand_still()

        return called

    around(control_dir.ControlDir, "put", of_a_command)


def _admitted() -> None:
    """The shell has said that it runs it; nobody else was told."""

    def stopping(submit: Call) -> Call:
        async def called(*given: Any, **named: Any) -> None:  # noqa: ANN401
            await submit(*given, **named)
            _stand_still()

        return called

    around(desks.Desk, "submit", stopping)


def _asked_to_press() -> None:
    """Term was asked to press, and has not."""
    everywhere(press, _before(press))


def _pressed() -> None:
    """Term has pressed, and told nobody."""
    everywhere(press, _after(press))


STEPS: Final[Mapping[str, Callable[[], None]]] = {
    "written": _written,
    "admitted": _admitted,
    "asked_to_press": _asked_to_press,
    "pressed": _pressed,
}
"""By name; the text of each says what was done when the process stands still."""


def stop_at(step: str) -> None:
    """Have every process that comes to this step stand still."""
    STEPS[step]()
