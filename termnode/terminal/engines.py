"""Which terminal emulator runs a pane.

The native one is the default where it is installed and answers a few known cases as expected; the
pure Python one everywhere else. Emulators are imported only when asked for.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec
from typing import Final, NamedTuple

from termnode.terminal.engine import Engine, EngineFactory

ENVIRONMENT: Final = "TERMNODE_EMULATOR"
"""Variable that names the emulator for every pane."""


def _ghostty() -> EngineFactory:
    from termnode.terminal.ghostty_engine.engine import GhosttyEngine  # loads a C library

    return GhosttyEngine


def _pyte() -> EngineFactory:
    from termnode.terminal.pyte_engine.engine import PyteEngine  # loads width tables

    return PyteEngine


class _Choice(NamedTuple):
    module: str
    """What must be installed."""
    load: Callable[[], EngineFactory]


_CHOICES: Final[Mapping[str, _Choice]] = {
    "ghostty": _Choice("pyghostty", _ghostty),
    "pyte": _Choice("pyte", _pyte),
}
"""Best first. The last is always installed."""


def available() -> list[str]:
    """Names of the installed emulators, best first; nothing is loaded."""
    return [name for name, choice in _CHOICES.items() if find_spec(choice.module) is not None]


class _Check(NamedTuple):
    fed: bytes
    text: str
    """The first row that must come out."""
    replies: bytes = b""


_CHECKS: Final = (
    _Check(b"plain\r\n", "plain"),
    _Check(b"main\x1b[?1049halt\x1b[?1049l", "main"),
    _Check(b"a\x1b[3bX\x1b[1;3H\x1b[1P", "aaaX"),
    _Check("\x1b[31m中\x1b[0me\u0301|".encode(), "中e\u0301|"),
    _Check(b"\x1b]0;title\x07\x1bPq~~\x1b\\\x1b[2;3H\x1b[6n", "", b"\x1b[2;3R"),
)


def problem(name: str) -> str | None:
    """Why the emulator ``name`` cannot be used, or None when it can. ValueError when unknown."""
    _known(name)
    return _problem(name)


@cache
def _problem(name: str) -> str | None:
    try:
        factory = _CHOICES[name].load()
    except (ImportError, OSError) as error:
        return f"{name} cannot be loaded: {error}"
    for number, case in enumerate(_CHECKS, 1):
        if not _passes(factory, case):
            return f"{name} fails self-check {number} of {len(_CHECKS)}"
    return None


def _passes(factory: EngineFactory, case: _Check) -> bool:
    engine = factory(20, 3, 10)
    try:
        engine.feed(case.fed)
        return engine.text()[0] == case.text and engine.take_replies() == case.replies
    finally:
        engine.close()


def make(name: str | None = None) -> EngineFactory:
    """The factory for emulator ``name``, or for the best usable one.

    Without a name, TERMNODE_EMULATOR decides; without that, the first that is installed and passes
    its self-check. Raises ValueError for an unknown name, and ImportError when a named emulator
    cannot be loaded.
    """
    return _known(name or chosen()).load()


def _best() -> str:
    *preferred, fallback = _CHOICES
    usable = (name for name in preferred if name in available() and _problem(name) is None)
    return next(usable, fallback)


def _known(name: str) -> _Choice:
    try:
        return _CHOICES[name]
    except KeyError:
        choices = " or ".join(_CHOICES)
        raise ValueError(f"there is no emulator of that name; choose {choices}") from None


_SAMPLE: Final = (
    b"\x1b[1;34mdrwxr-xr-x\x1b[0m 2 user group 4096 May  1 12:00 \x1b[32mname-of-a-file\x1b[0m\r\n"
    b"plain text of a log line that says what happened and when it did\r\n"
) * 30
_PROBE_SECONDS: Final = 0.05


def probe_speed(name: str) -> float:
    """Megabytes of common output that the emulator takes per second of CPU; runs for 50 ms."""
    engine = make(name)(100, 30)
    try:
        return _measure(engine) / 1e6
    finally:
        engine.close()


def _measure(engine: Engine) -> float:
    engine.feed(_SAMPLE)  # the first feed pays for tables and pages
    start = now = time.process_time()
    fed = 0
    while now - start < _PROBE_SECONDS:
        engine.feed(_SAMPLE)
        fed += len(_SAMPLE)
        now = time.process_time()
    return fed / (now - start)


def chosen() -> str:
    """The name of the emulator that `make` takes without a name. Raises ValueError as it does."""
    wanted = os.environ.get(ENVIRONMENT) or _best()
    _known(wanted)
    return wanted


def fallback() -> EngineFactory | None:
    """What takes over a pane whose emulator died: the last of the choices, unless it is chosen."""
    *_, last = _CHOICES
    return None if chosen() == last else _CHOICES[last].load()
