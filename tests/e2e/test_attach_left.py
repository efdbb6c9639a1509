"""However a view ends, the person's terminal is as it was found."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator

import pytest

from tests.support.attached import Attached, attach, stopping
from tests.support.termnode_process import Service, eventually, service

BEFORE = b"\x1b[31mmine\x1b[m \xe6\x97\xa5\xe6\x9c\xac\r\n$ termnode attach\r\n"
HELD = 2
"""Rows of BEFORE; what the view has to say when it ends comes after them."""


@pytest.fixture
def term() -> Iterator[Service]:
    with service() as running:
        yield running


def _detach(view: Attached, term: Service) -> None:
    view.type("\x02d")


def _signal(number: int) -> Callable[[Attached, Service], None]:
    def send(view: Attached, term: Service) -> None:
        view.kill(number)

    return send


def _kill_service(view: Attached, term: Service) -> None:
    os.kill(term.ready["pid"], signal.SIGKILL)


def _down(view: Attached, term: Service) -> None:
    term.run("down")


ENDS = {
    "detach": (_detach, 0, "detached"),
    "TERM": (_signal(signal.SIGTERM), -signal.SIGTERM, ""),
    "HUP": (_signal(signal.SIGHUP), -signal.SIGHUP, ""),
    "INT": (_signal(signal.SIGINT), -signal.SIGINT, ""),
    "service killed": (_kill_service, 3, "has ended"),
    "service ends": (_down, 3, "has ended"),
}


def left_as_found(view: Attached) -> list[str]:
    """What is not as it was: nothing, when all is well."""
    before, after = view.before, view.state()
    same = {
        "settings": before[0] == after[0],
        "what stood on the screen": before[1][:HELD] == after[1][:HELD],
        "column of the cursor": after[2].x == 0,
        "the cursor's looks": (before[2].visible, before[2].shape)
        == (after[2].visible, after[2].shape),
        "modes": before[3] == after[3],
    }
    return [name for name, is_so in same.items() if not is_so]


def is_left_as_found(view: Attached) -> None:
    """Wait until what was written at the end was read, and all is as it was."""
    try:
        eventually(lambda: not left_as_found(view), "the terminal is as it was found")
    except AssertionError:
        raise AssertionError((left_as_found(view), view.before, view.state())) from None


@pytest.mark.parametrize("end", ENDS)
def test_the_terminal_is_left_as_it_was_found(term: Service, end: str) -> None:
    way, code, words = ENDS[end]
    with attach(term, before=BEFORE) as view:
        assert left_as_found(view), "while it is there, much is not as it was"
        _use_everything(term, view)
        way(view, term)
        assert view.ended() == code
        view.until(words)
        is_left_as_found(view)


def _use_everything(term: Service, view: Attached) -> None:
    """A program that sets modes, a title and a cursor's shape, and a mode of the view."""
    term.at_prompt(1)
    view.type("printf '\\033[?1h\\033[?2004h\\033[?1000h\\033[?1006h\\033[4 q\\033]0;x\\007set'\r")
    view.until("set")
    view.type("\x02[")


CRASHING = """
import sys
from termnode.attach.compose import Composer
from termnode.cli.main import main
composed = Composer.compose
def compose(self, model, ui, cols, rows):
    if ui.boxes:
        raise RuntimeError("crashed")
    return composed(self, model, ui, cols, rows)
Composer.compose = compose
sys.exit(main())
"""


def test_the_terminal_is_left_as_it_was_found_after_a_crash(term: Service) -> None:
    crashing = (sys.executable, "-c", CRASHING)
    with attach(term, before=BEFORE, rows=200, program=crashing) as view:
        term.at_prompt(1)
        view.type("\x02?")
        assert view.ended() == 1
        view.until("crashed")
        is_left_as_found(view)


def test_a_stopped_service_does_not_keep_a_person(term: Service) -> None:
    with attach(term, before=BEFORE) as view, stopping(term.ready["pid"]):
        view.type("\x02d")
        assert view.ended() == 0
        is_left_as_found(view)
