"""The key of an integrated shell is pressed at a free prompt only, and its output is told apart."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
import trio

from termnode.paneshell.integration import TRIGGER
from termnode.service.input.authors import NOBODY, Outstanding
from termnode.service.shells import link, pressing
from termnode.service.shells.human import Typing
from termnode.service.shells.slicer import KEPT
from tests.support import pty_lab
from tests.support.linked_shell import LinkedShell, Told, with_shell
from tests.support.pty_lab import Lab, in_front

SHELLS = ("bash", "zsh", "fish")

Obstacle = Callable[[Lab, LinkedShell], Awaitable[object]]


def told(text: str) -> bytes:
    """As a terminal gives it."""
    return text.replace("\n", "\r\n").encode()


@pytest.mark.parametrize("kind", SHELLS)
def test_a_command_is_run_and_its_output_is_told(kind: str) -> None:
    async def test(_: Lab, shell: LinkedShell) -> None:
        for source, text in (
            ("echo one", "one\n"),
            ("printf abc", "abc"),
            ("true", ""),
            ("echo one\necho two", "one\ntwo\n"),
            ("printf '\\e]133;D;0\\a'; echo x", "\x1b]133;D;0\x07x\n"),
        ):
            await shell.at_prompt()
            op = shell.request(source)
            generation = shell.generation
            assert shell.press(op) == "pressed"
            found = await shell.output(op)
            assert (found["head"], found["tail"]) == (told(text), b""), source
            assert found["bytes"] == len(told(text))
            assert (found["status"], found["generation"]) == (0, generation + 1)
            assert await shell.reply(op) == "ADMITTED"
        assert not shell.told.of("mark")

    with_shell(kind, test)


def test_of_much_output_both_ends_are_told_and_some_of_it_while_it_runs() -> None:
    async def test(_: Lab, shell: LinkedShell) -> None:
        op = shell.request("seq 100000; (exit 7)")
        heard = bytearray()
        over: list[str] = []
        shell.link.on_over = over.append
        shell.link.on_chunk = lambda of, data: heard.extend(data if of == op else b"?")
        assert shell.press(op) == "pressed"
        found = await shell.output(op)
        data = b"".join(b"%d\r\n" % n for n in range(1, 100_001))
        assert (found["head"], found["tail"]) == (data[:KEPT], data[-KEPT:])
        assert (found["bytes"], found["status"]) == (len(data), 7)
        assert (bytes(heard), over) == (data, [op])

    with_shell("bash", test)


def test_what_a_person_runs_is_told_to_nobody() -> None:
    async def test(_: Lab, shell: LinkedShell) -> None:
        shell.type("echo secret\r")
        await shell.until(lambda: shell.generation == 2)
        await shell.at_prompt()
        op = shell.request("true", 1)
        assert shell.press(op) == "pressed"
        assert await shell.reply(op) == "STALE_GENERATION"
        shell.type("echo secret\r")
        await shell.until(lambda: shell.generation == 3)
        await shell.at_prompt()
        assert not shell.told.of("output")

    with_shell("bash", test)


def no_room(patch: pytest.MonkeyPatch, shell: LinkedShell) -> None:
    """The terminal takes nothing, as when nobody reads it."""
    patch.setattr(shell.terminal._master, "write", lambda _: None)


async def other_program(_: Lab, shell: LinkedShell) -> None:
    shell.type("sleep 600\r")
    await in_front(shell.terminal, "sleep")


async def cooked(_: Lab, shell: LinkedShell) -> None:
    shell.type("read x\r")
    await shell.until(
        lambda: (found := shell.terminal.line_discipline()) is not None and found.canonical
    )
    await shell.until(lambda: not shell.link.typing.shown)


async def typed(_: Lab, shell: LinkedShell) -> None:
    shell.type("e")


async def typed_and_taken_back(_: Lab, shell: LinkedShell) -> None:
    """Whether the line is empty again only the shell can say, and half a key it does not."""
    shell.type("e\x7f")


def note_marks(shell: LinkedShell, marks: list[str]) -> None:
    """Have the letters of the marks that are read from now on put there."""
    mark = shell.link.typing.mark

    def note(letter: str, count: int) -> None:
        marks.append(letter)
        mark(letter, count)

    shell.link.typing.mark = note  # type: ignore[method-assign]  # listens, and passes it on


async def redrawn(_: Lab, shell: LinkedShell) -> None:
    """The second prompt of the same line: what was typed before it stays typed."""
    marks = list[str]()
    note_marks(shell, marks)
    op = shell.request("true", 999)
    assert shell.press(op) == "pressed"
    shell.type("\x16")  # quotes the next key
    await shell.until(lambda: "B" in marks)
    assert await shell.reply(op) == "STALE_GENERATION"


async def unread(_: Lab, shell: LinkedShell) -> None:
    no_room(pytest.MonkeyPatch(), shell)
    shell.type("x")
    assert not shell.terminal.input_idle


async def confirming(_: Lab, shell: LinkedShell) -> None:
    shell.live.outstanding = [Outstanding(NOBODY, lambda: True, lambda: None)]


async def ended(lab: Lab, shell: LinkedShell) -> None:
    shell.type("exit 3\r")
    await lab.exit(shell.terminal)


OBSTACLES: dict[Obstacle, str] = {
    other_program: "foreground_program",
    cooked: "canonical",
    typed: "busy",
    typed_and_taken_back: "busy",
    redrawn: "busy",
    unread: "queued",
    confirming: "queued",
    ended: "gone",
}


def check_obstacle(obstacle: Obstacle, word: str) -> None:
    async def test(lab: Lab, shell: LinkedShell) -> None:
        await obstacle(lab, shell)
        written, raised = shell.terminal.bytes_in, shell.live.foreground.generation
        assert shell.press(shell.request("echo never")) == word
        assert shell.terminal.bytes_in == written
        assert shell.live.foreground.generation == raised
        assert shell.terminal.commands.nonce == shell.link.facts.nonce

    with_shell("bash", test)


@pytest.mark.parametrize(("obstacle", "word"), OBSTACLES.items())
def test_nothing_is_pressed_unless_the_prompt_is_free(obstacle: Obstacle, word: str) -> None:
    check_obstacle(obstacle, word)


@pytest.mark.parametrize(("obstacle", "word"), OBSTACLES.items())
def test_the_check_fails_without_the_look(
    obstacle: Obstacle, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pressing, "obstacle", lambda *_: None)
    if obstacle in (ended, unread):  # the terminal takes nothing anyhow
        check_obstacle(obstacle, word)
        return
    with pytest.raises((AssertionError, ExceptionGroup)):
        check_obstacle(obstacle, word)


def test_the_check_fails_when_any_prompt_resets_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = Typing.mark

    def reset(self: Typing, letter: str, count: int) -> None:
        mark(self, "D" if letter == "B" else letter, count)
        mark(self, letter, count)

    monkeypatch.setattr(Typing, "mark", reset)
    with pytest.raises((AssertionError, ExceptionGroup)):
        check_obstacle(redrawn, "busy")


def test_a_key_that_the_terminal_does_not_take_is_taken_back() -> None:
    assert len(TRIGGER) == 1, "the key has halves: take care of them"

    async def test(_: Lab, shell: LinkedShell) -> None:
        with pytest.MonkeyPatch.context() as patch:
            no_room(patch, shell)
            assert shell.press(shell.request("echo never")) == "queued"
        assert shell.terminal.input_idle
        assert shell.terminal.bytes_in == 0
        assert shell.press(op := shell.request("echo now")) == "pressed"
        assert (await shell.output(op))["head"] == b"now\r\n"

    with_shell("bash", test)


def test_the_end_of_the_shell_is_told_with_what_it_wrote() -> None:
    async def test(lab: Lab, shell: LinkedShell) -> None:
        op = shell.request("echo last; exit 3")
        assert shell.press(op) == "pressed"
        await lab.exit(shell.terminal)
        (found,) = shell.told.of("output")
        assert found["op"] == op
        assert found["head"].startswith(b"last\r\n")
        assert (found["status"], found["generation"]) == (None, None)
        assert shell.told[-1] == {"type": "program", "ended": {"code": 3}}
        await shell.terminal.close()
        assert len(shell.told.of("program")) == 1

    with_shell("bash", test)


def test_a_prompt_without_its_hook_is_told() -> None:
    async def test(_: Lab, shell: LinkedShell) -> None:
        op = shell.request("unset PROMPT_COMMAND; echo lost")
        assert shell.press(op) == "pressed"
        found = await shell.output(op)
        assert (found["head"], found["status"]) == (b"lost\r\n", None)
        assert shell.told.of("mark") == [{"type": "mark", "kind": "prompt"}]
        await shell.at_prompt()
        again = shell.request("echo healed")
        assert shell.press(again) == "pressed"
        assert await shell.reply(again) == "HOOKS_LOST"

    with_shell("bash", test)


class Marked:
    """A shell that shows its prompt when it is told to: the marks are the test's."""

    def __init__(self, shell: LinkedShell) -> None:
        self._shell = shell
        self._nonce = shell.link.facts.nonce

    def put(self, *letters: str) -> None:
        """These marks are read now."""
        for letter in letters:
            self._shell.link._tap(f"\x1b]133;{letter};n={self._nonce}\x07".encode())


def test_a_press_waits_for_the_prompt_that_is_being_drawn() -> None:
    async def test(_: Lab, shell: LinkedShell) -> None:
        marked = Marked(shell)
        marked.put("C", "D;0")
        op = shell.request("echo now")
        assert shell.press(op) == ""
        marked.put("A")
        assert not shell.told.of("pressed")
        marked.put("B")
        assert shell.told.of("pressed") == [{"type": "pressed", "op": op, "word": "pressed"}]
        assert (await shell.output(op))["head"] == b"now\r\n"

    with_shell("bash", test)


@pytest.mark.parametrize("typed_first", [False, True])
def test_a_press_waits_no_longer_than_it_may(
    typed_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "PROMPT_WITHIN_S", 0.0)

    async def test(_: Lab, shell: LinkedShell) -> None:
        marked = Marked(shell)
        marked.put("C", "D;0")
        op = shell.request("echo never")
        if typed_first:
            shell.type("x")
            assert shell.press(op) == "busy"
            return
        assert shell.press(op) == ""
        await shell.until(lambda: shell.told.of("pressed"))
        assert shell.told.of("pressed") == [{"type": "pressed", "op": op, "word": "busy"}]

    with_shell("bash", test)


def test_a_pane_that_is_closed_meanwhile_is_not_pressed() -> None:
    """Its program is still being hung up, and would read the key."""

    async def test(_: Lab, shell: LinkedShell) -> None:
        marked = Marked(shell)
        marked.put("C", "D;0")
        op = shell.request("echo never")
        assert shell.press(op) == ""
        shell.live.gone.set()
        written = shell.terminal.bytes_in
        marked.put("A", "B")
        assert shell.told.of("pressed") == [{"type": "pressed", "op": op, "word": "gone"}]
        assert shell.terminal.bytes_in == written

    with_shell("bash", test)


@pytest.mark.parametrize("successor", [False, True])
def test_a_press_does_not_outlive_the_sidecar_that_asked_for_it(successor: bool) -> None:
    async def test(_: Lab, shell: LinkedShell) -> None:
        marked = Marked(shell)
        marked.put("C", "D;0")
        assert shell.press(shell.request("echo never")) == ""
        shell.link.detach(shell.told)
        told = Told()
        if successor:
            shell.link.attach(told)
        written = shell.terminal.bytes_in
        marked.put("A", "B")
        assert (shell.told.of("pressed"), told.of("pressed")) == ([], [])
        assert shell.terminal.bytes_in == written

    with_shell("bash", test)


@pytest.mark.parametrize(
    "record",
    [
        {"type": "press"},
        {"type": "press", "op": ""},
        {"type": "press", "op": 3},
        {"type": "press", "op": "x" * 65},
        {"type": "other", "op": "x"},
        {},
    ],
)
def test_what_is_no_request_to_press_is_passed_over(record: dict[str, Any]) -> None:
    async def test(_: Lab, shell: LinkedShell) -> None:
        written = shell.terminal.bytes_in
        shell.link.take(record)
        await trio.lowlevel.checkpoint()
        assert not shell.told
        assert shell.terminal.bytes_in == written

    with_shell("bash", test)


def fill(control: int) -> int:
    """Fill a shell's control pipe; how many bytes it took."""
    count = 0
    with suppress(BlockingIOError):
        while True:
            count += os.write(control, b"OLD\0" * 1_000)
    return count


def test_a_pipe_that_nobody_reads_never_stops_the_prompt() -> None:
    async def test(_: Lab, shell: LinkedShell) -> None:
        shell.type("e")  # the shell shows it, and Term looks
        await shell.until(lambda: shell.terminal.bytes_out)
        assert fill(shell.control) > 1_000
        shell.type("cho still here\r")
        marks = list[str]()
        note_marks(shell, marks)
        await shell.until(lambda: "B" in marks and shell.generation == 2)
        assert len(shell.records("OLD")) == 0

    with_shell("bash", test)


def test_the_check_fails_when_nobody_empties_the_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "relieve", lambda _: False)
    monkeypatch.setattr(pty_lab, "WITHIN", 3.0)
    with pytest.raises((trio.TooSlowError, ExceptionGroup)):
        test_a_pipe_that_nobody_reads_never_stops_the_prompt()
