"""Choosing an emulator."""

from __future__ import annotations

import subprocess
import sys

import pytest

from termnode.terminal import engines
from termnode.terminal.engine import MAX_EVENTS, Engine, EngineFactory, EventKind


def test_the_best_installed_one_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(engines.ENVIRONMENT, raising=False)
    assert engines.make()(10, 3).name == engines.available()[0]


@pytest.mark.parametrize("name", engines.available())
def test_a_name_or_the_environment_decides(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert engines.make(name)(10, 3).name == name
    monkeypatch.setenv(engines.ENVIRONMENT, name)
    assert engines.make()(10, 3).name == name


def test_an_unknown_name_is_refused_with_the_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="choose ghostty or pyte"):
        engines.make("vt52")
    monkeypatch.setenv(engines.ENVIRONMENT, "vt52")
    with pytest.raises(ValueError, match="choose ghostty or pyte"):
        engines.make()
    with pytest.raises(ValueError, match="choose ghostty or pyte"):
        engines.problem("vt52")


@pytest.mark.parametrize("name", engines.available())
def test_installed_emulators_pass_their_self_check(name: str) -> None:
    assert engines.problem(name) is None
    assert engines.probe_speed(name) > 0


def _deaf(cols: int, rows: int, scrollback: int = 10) -> Engine:
    engine = engines.make("pyte")(cols, rows, scrollback)
    engine.feed(b"\x1b]2;")  # swallows what follows
    return engine


def _unloadable() -> EngineFactory:
    raise ImportError("no such library")


@pytest.mark.parametrize(
    ("load", "reason"),
    [
        (lambda: _deaf, "fails self-check 1"),
        (_unloadable, "cannot be loaded: no such library"),
    ],
)
def test_an_emulator_that_fails_is_passed_over(
    load: object, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = engines._Choice("pyte", load)  # type: ignore[arg-type]
    choices = {"broken": broken, "pyte": engines._CHOICES["pyte"]}
    monkeypatch.setattr(engines, "_CHOICES", choices)
    monkeypatch.delenv(engines.ENVIRONMENT, raising=False)
    engines._problem.cache_clear()
    try:
        assert reason in (engines.problem("broken") or "")
        assert engines.make()(10, 3).name == "pyte"
    finally:
        engines._problem.cache_clear()


def test_importing_the_choice_loads_no_emulator() -> None:
    script = (
        "import sys, termnode.terminal.engines as e; e.available();"
        "print([m for m in ('pyghostty', 'pyte', 'cffi') if m in sys.modules])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True
    )
    assert shown.stdout.strip() == "[]"


@pytest.mark.parametrize("name", engines.available())
def test_a_flood_of_one_kind_crowds_out_no_other(name: str) -> None:
    """A command's end must be seen whatever the command writes."""
    engine = engines.make(name)(20, 5)
    try:
        engine.feed(b"\x1b]133;C\x07" + b"\x07" * (MAX_EVENTS + 10) + b"\x1b]133;D;1\x07")
        kinds = [event.kind for event in engine.take_events()]
        assert len(kinds) == MAX_EVENTS
        assert kinds[0] is EventKind.PROMPT_MARK
        assert kinds[-1] is EventKind.PROMPT_MARK
        engine.feed(b"\x07" * MAX_EVENTS + b"\x1b]133;D;1\x07")
        kinds = [event.kind for event in engine.take_events()]
        assert len(kinds) == MAX_EVENTS
        assert kinds[-1] is EventKind.PROMPT_MARK
    finally:
        engine.close()
