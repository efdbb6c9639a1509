"""When a turn goes in circles, and what it was given to see that."""

from __future__ import annotations

import pytest

from termnode.modelterm.guard import ProgressGuard, is_terminal
from termnode.modelterm.limits import Limits


def calls(
    guard: ProgressGuard, times: int, tool: str, ok: bool = True, **arguments: object
) -> list[bool]:
    return [guard.call(tool, arguments, ok) is not None for _ in range(times)]


def test_the_same_call_four_times_in_a_row_ends_the_turn() -> None:
    guard = ProgressGuard()
    assert calls(guard, 4, "fs_read", path="a") == [False, False, False, True]
    guard.new_turn()
    assert calls(guard, 3, "fs_read", path="a") == [False] * 3
    assert guard.call("fs_read", {"path": "b"}, True) is None
    assert calls(guard, 4, "fs_read", path="a") == [False, False, False, True]


def test_arguments_in_another_order_are_the_same_and_another_tool_is_not() -> None:
    guard = ProgressGuard()
    for _ in range(3):
        assert guard.call("x", {"a": 1, "b": 2}, True) is None
    assert guard.call("y", {"a": 1, "b": 2}, True) is None
    for _ in range(3):
        assert guard.call("x", {"b": 2, "a": 1}, True) is None
    assert "loop" in (guard.call("x", {"a": 1, "b": 2}, True) or "")


def test_a_successful_terminal_call_is_no_repeat_and_a_failed_one_is() -> None:
    guard = ProgressGuard()
    assert not any(calls(guard, 20, "term_keys", id="t1", keys=["Down"]))
    assert calls(guard, 4, "term_keys", ok=False, id="t1") == [False, False, False, True]
    guard.new_turn()
    assert calls(guard, 3, "term_keys", ok=False, id="t1") == [False] * 3
    assert guard.call("term_keys", {"id": "t1"}, True) is None  # it got somewhere
    assert calls(guard, 4, "term_keys", ok=False, id="t1") == [False, False, False, True]


def test_so_many_screens_with_no_other_tool_between_end_it() -> None:
    guard = ProgressGuard()
    found = [guard.call("term_keys", {"n": n}, True) for n in range(150)]
    assert found[:149] == [None] * 149
    assert "150 terminal calls" in (found[149] or "")
    guard.new_turn()
    assert not any(guard.call("term-type", {"n": n}, True) for n in range(149))
    assert guard.call("fs_edit", {}, True) is None
    assert not any(guard.call("term_wait", {"n": n}, True) for n in range(149))
    assert guard.call("term_wait", {}, True) is not None


def test_failed_terminal_calls_are_not_counted_among_the_screens() -> None:
    guard = ProgressGuard(Limits(terminal_calls=3))
    assert guard.call("term_keys", {"n": 1}, True) is None
    assert guard.call("term_keys", {"n": 2}, False) is None
    assert guard.call("term_keys", {"n": 3}, True) is None
    assert guard.call("term_keys", {"n": 4}, True) is not None


@pytest.mark.parametrize(
    ("tool", "terminal"),
    [("term_open", True), ("term-open", True), ("term_click", True), ("terminal", False),
     ("term_", False), ("term_opened", False), ("exec", False)],
)  # fmt: skip
def test_which_tools_are_the_terminals(tool: str, terminal: bool) -> None:
    assert is_terminal(tool) is terminal


def test_nothing_of_the_arguments_is_kept_or_told() -> None:
    guard = ProgressGuard()
    for _ in range(4):
        said = guard.call("login\x1b[2J", {"password": "hunter2"}, True)
    assert said is not None
    assert "hunter2" not in said
    assert "\x1b" not in said
    assert "hunter2" not in repr(vars(guard))
