"""A terminal on a real pseudo-terminal: output, input, ends, floods."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from termnode.terminal import engines
from termnode.terminal.commands import CommandEnded, PromptReady, Signal
from termnode.terminal.engine import Event, EventKind
from termnode.terminal.pty_terminal import Gone, QueueFull, Terminal, Ticket
from termnode.terminal.write_queue import MAX_QUEUED_BYTES
from tests.support.pty_lab import ENV, Lab, Watched, in_front, in_lab, recorded, run, shows, until
from tests.support.recording_engine import RecordingEngine

RAW = "stty raw -echo; echo READY; "


# Output and the end


@pytest.mark.parametrize("size", [0, 1, 4_096, 200_000])
def test_the_output_of_a_short_program_is_complete(size: int) -> None:
    async def test(made: Lab) -> None:
        text = await made.output(f"head -c {size} /dev/zero | tr '\\0' a; echo END")
        assert text == "a" * size + "END\n"

    in_lab(test)


def test_output_is_complete_when_it_is_read_only_after_the_end() -> None:
    """The exit is known first; ``report_exit`` reads the rest."""

    async def test(made: Lab) -> None:
        spawned = await made.host.spawn(
            ["sh", "-c", "printf %03000d 7"], "/", dict(os.environ), 80, 24
        )
        status = await made.host.wait_exit(spawned.pid)
        terminal = Terminal(spawned.master_fd, spawned.pid, RecordingEngine(80, 24))
        await terminal.report_exit(status)
        assert recorded(terminal) == b"7".rjust(3_000, b"0")
        assert terminal.exit is not None
        assert terminal.ended
        await terminal.close()

    in_lab(test)


def test_the_exit_is_reported_though_a_background_program_holds_the_terminal() -> None:
    async def test(made: Lab) -> None:
        terminal = await made.shell("trap '' HUP; sleep 600 & echo $!")
        report = await made.exit(terminal)
        holder = int(recorded(terminal))
        assert (report.code, report.holders) == (0, (holder,))
        assert terminal.holders() == [holder]
        assert not terminal.final
        process = Watched(holder)
        process.kill()
        await until_final(terminal)
        assert terminal.holders() == []

    in_lab(test)


def test_a_holder_in_another_session_is_named_too() -> None:
    async def test(made: Lab) -> None:
        script = "trap '' HUP; setsid sh -c 'echo $$; echo READY; exec sleep 600' & read x"
        terminal = await made.shell(script)
        await shows(terminal, b"READY")
        terminal.write(b"\n")
        report = await made.exit(terminal)
        holder = int(recorded(terminal).split()[0])
        assert holder in report.holders
        Watched(holder).kill()

    in_lab(test)


async def until_final(terminal: Terminal) -> None:
    revision = terminal.revision
    while not terminal.final:
        revision = await terminal.changed(revision)


def test_all_waiters_see_every_change_and_the_end() -> None:
    async def test(made: Lab) -> None:
        terminal = await made.start("cat")
        seen: list[int] = []

        async def follow() -> None:
            await until_final(terminal)
            seen.append(terminal.revision)

        async with trio.open_nursery() as nursery:
            for _ in range(50):
                nursery.start_soon(follow)
            for _ in range(20):
                before = terminal.revision
                terminal.write(b"x\n")
                assert await terminal.changed(before) > before
            terminal.write(b"\x04")
            await made.exit(terminal)
        assert seen == [terminal.revision] * 50
        assert await terminal.changed(10**9) == terminal.revision  # returns once it is final

    in_lab(test)


# Input


def test_input_is_written_in_the_callers_own_step() -> None:
    async def test(made: Lab) -> None:
        terminal = await made.start("cat")
        ticket = terminal.write(b"hello\n")
        assert (ticket.outcome, ticket.written, ticket.total) == ("written", 6, 6)
        await shows(terminal, b"hello\r\nhello\r\n")
        assert (terminal.bytes_in, terminal.bytes_out) == (6, len(recorded(terminal)))
        assert terminal.last_output is not None

    in_lab(test)


def test_64_kib_reach_a_program_that_reads() -> None:
    """Short writes: the kernel takes a few kilobytes at a time."""

    async def test(made: Lab) -> None:
        data = bytes(range(33, 127)) * (MAX_QUEUED_BYTES // 94 + 1)
        data = data[:MAX_QUEUED_BYTES]
        terminal = await made.shell(RAW + f"head -c {len(data)} | cksum; echo DONE")
        await shows(terminal, b"READY")
        ticket = terminal.write(data, within=30)
        assert await ticket.wait() == "written"
        await shows(terminal, b"DONE")
        assert str(len(data)).encode() in recorded(terminal)
        assert _cksum(data) in recorded(terminal).split()

    in_lab(test)


def _cksum(data: bytes) -> bytes:
    """POSIX cksum: CRC-32 with polynomial 0x04C11DB7 over the data and its length."""
    length = len(data)
    tail = b""
    while length:
        tail += bytes([length & 0xFF])
        length >>= 8
    crc = 0
    for byte in data + tail:
        crc ^= byte << 24
        for _ in range(8):
            crc = ((crc << 1) ^ 0x04C11DB7 if crc & 0x80000000 else crc << 1) & 0xFFFFFFFF
    return str(crc ^ 0xFFFFFFFF).encode()


@pytest.mark.parametrize(
    ("script", "line"), [(RAW + "sleep 600", b"x"), ("stty -echo; echo READY; sleep 600", b"xyz\n")]
)
def test_input_for_a_program_that_never_reads_expires_with_a_count(
    script: str, line: bytes
) -> None:
    """Raw, and canonical with whole lines; only that pane suffers."""

    async def test(made: Lab) -> None:
        stuck = await made.shell(script)
        other = await made.start("cat")
        await shows(stuck, b"READY")
        ticket = stuck.write(line * (MAX_QUEUED_BYTES // len(line)), within=1.0)
        behind = _write_if_room(stuck, b"y")
        other.write(b"alive\n")
        await shows(other, b"alive\r\nalive")
        assert await ticket.wait() == "expired"
        assert 0 < ticket.written < ticket.total
        assert stuck.bytes_in >= ticket.written
        assert behind is None or await behind.wait() == "expired"
        stuck.write(b"x" * MAX_QUEUED_BYTES, within=0.0)  # the room has come back

    in_lab(test)


def test_a_canonical_line_without_end_does_not_block_the_pane() -> None:
    """The kernel keeps 4,095 bytes of it and drops or refuses the rest: the caller has to look at
    ``line_discipline`` before it sends a long line."""

    async def test(made: Lab) -> None:
        terminal = await made.shell("stty -echo; echo READY; cat")
        await shows(terminal, b"READY")
        found = terminal.line_discipline()
        assert found is not None
        assert found.canonical
        ticket = terminal.write(b"x" * MAX_QUEUED_BYTES, within=1.0)
        assert await ticket.wait() in ("written", "expired")
        terminal.write(b"\x15OK\n")  # ^U: kill the line
        await shows(terminal, b"OK\r\n")  # from cat: nothing is echoed

    in_lab(test)


def _write_if_room(terminal: Terminal, data: bytes) -> Ticket | None:
    try:
        return terminal.write(data, within=0.5)
    except QueueFull:
        return None


def test_more_than_fits_is_refused_whole() -> None:
    async def test(made: Lab) -> None:
        terminal = await made.shell(RAW + "sleep 600")
        await shows(terminal, b"READY")
        with pytest.raises(QueueFull):
            terminal.write(b"x" * (MAX_QUEUED_BYTES + 1))
        assert terminal.bytes_in == 0

    in_lab(test)


def test_a_revoked_permit_drops_the_rest_and_counts_what_was_written() -> None:
    async def test(made: Lab) -> None:
        allowed = True
        terminal = await made.shell(RAW + "sleep 600")
        await shows(terminal, b"READY")
        first = terminal.write(b"x" * 50_000, within=30, permit=lambda: allowed)
        second = terminal.write(b"y" * 5_000, within=30, permit=lambda: allowed)
        allowed = False
        terminal.recheck_permits()
        assert (first.outcome, second.outcome, second.written) == ("revoked", "revoked", 0)
        assert 0 < first.written < 50_000

    in_lab(test)


def test_device_queries_are_answered() -> None:
    async def test(made: Lab) -> None:
        engine = RecordingEngine(80, 24)
        engine.answers[b"\x1b[6n"] = b"\x1b[7;9R"
        script = "stty raw -echo; printf '\\033[6n'; head -c 6 | od -An -c; echo DONE"
        terminal = await made.start("sh", "-c", script, engine=engine)
        await shows(terminal, b"DONE")
        assert recorded(terminal).split()[:7] == [b"\x1b[6n", b"033", b"[", b"7", b";", b"9", b"R"]

    in_lab(test)


def test_after_the_end_nothing_can_be_written() -> None:
    async def test(made: Lab) -> None:
        terminal = await made.start("true")
        await made.exit(terminal)
        await until_final(terminal)
        with pytest.raises(Gone):
            terminal.write(b"x")
        terminal.resize(90, 30)
        assert (terminal.cols, terminal.rows) == (90, 30)
        assert terminal.foreground() is None
        assert terminal.cwd() is None
        assert terminal.line_discipline() is None

    in_lab(test)


def test_closing_ends_what_waits_as_gone() -> None:
    async def test(made: Lab) -> None:
        terminal = await made.shell(RAW + "sleep 600")
        await shows(terminal, b"READY")
        ticket = terminal.write(b"x" * MAX_QUEUED_BYTES, within=30)
        await terminal.close()
        await terminal.close()
        assert (ticket.outcome, ticket.written < ticket.total) == ("gone", True)
        assert await terminal.changed(10**9) == terminal.revision
        assert isinstance(terminal.engine, RecordingEngine)
        assert terminal.engine.closed
        made.host.forget(terminal.pid)

    in_lab(test)


def test_a_terminal_that_never_ran_can_be_closed() -> None:
    async def test() -> None:
        master, slave = os.openpty()
        terminal = Terminal(master, os.getpid(), RecordingEngine(80, 24))
        await terminal.close()
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(master)
        os.close(slave)

    run(test)


# What is known of the programs


def test_the_foreground_program_and_its_directory(tmp_path: Path) -> None:
    async def test(made: Lab) -> None:
        inner = tmp_path / "inner"
        inner.mkdir()
        argv = ["bash", "--norc", "-i"]
        terminal = await made.start(*argv, cwd=str(tmp_path), env={"PS1": "PROMPT>"})
        await shows(terminal, b"PROMPT>")
        front = terminal.foreground()
        assert front is not None
        assert (front.pgid, front.command, front.is_leader) == (terminal.pid, "bash", True)
        assert terminal.cwd() == str(tmp_path)
        terminal.write(f"(cd {inner}; echo RUN; exec sleep 600)\n".encode())
        await shows(terminal, b"RUN\r\n")  # its echo goes on after the word
        assert not (await in_front(terminal, "sleep")).is_leader
        assert terminal.cwd() == str(inner)
        terminal.write(b"\x03")
        assert (await in_front(terminal, "bash")).is_leader
        inner.rmdir()
        assert terminal.cwd() == str(tmp_path)

    in_lab(test)


def test_a_removed_directory_is_unknown(tmp_path: Path) -> None:
    async def test(made: Lab) -> None:
        gone = tmp_path / "gone"
        gone.mkdir()
        terminal = await made.start("cat", cwd=str(gone))
        gone.rmdir()
        assert terminal.cwd() is None

    in_lab(test)


@pytest.mark.parametrize(
    ("setting", "canonical", "echo"),
    [("sane", True, True), ("-echo", True, False), ("raw -echo", False, False)],
)
def test_the_line_discipline(setting: str, canonical: bool, echo: bool) -> None:
    async def test(made: Lab) -> None:
        terminal = await made.shell(f"stty {setting}; echo READY; sleep 600")
        await shows(terminal, b"READY")
        found = terminal.line_discipline()
        assert found is not None
        assert (found.canonical, found.echo) == (canonical, echo)

    in_lab(test)


# Floods, hostile programs, dead engines


def test_a_flood_in_some_panes_does_not_stop_another() -> None:
    async def test(made: Lab) -> None:
        floods = [await made.start("yes") for _ in range(3)]
        quiet = await made.start("cat")
        for number in range(20):
            quiet.write(b"%d!\n" % number)
            await shows(quiet, b"%d!\r\n%d!\r\n" % (number, number))
        for flood in floods:
            await until(flood, lambda flood=flood: flood.bytes_out > 100_000)  # type: ignore[misc]
            flood.write(b"\x03")
            assert (await made.exit(flood)).signal == signal.SIGINT

    in_lab(test)


def test_a_program_that_flushes_its_output_does_not_stall_the_reader() -> None:
    """Readiness that is taken back (P08)."""

    async def test(made: Lab) -> None:
        script = (
            "import sys, termios\n"
            "for n in range(3000):\n"
            "    sys.stdout.write('x' * 50); sys.stdout.flush()\n"
            "    termios.tcflush(1, termios.TCOFLUSH)\n"
            "print('END')\n"
        )
        terminal = await made.start("python3", "-c", script)
        assert (await made.exit(terminal)).code == 0
        assert recorded(terminal).endswith(b"END\r\n")

    in_lab(test)


def test_a_dead_engine_is_replaced() -> None:
    async def test(made: Lab) -> None:
        first = RecordingEngine(80, 24)
        first.dies_on = b"POISON"
        terminal = await made.start("cat", engine=first, fallback=RecordingEngine)
        terminal.resize(100, 30)
        terminal.write(b"POISON\n")
        await until(terminal, lambda: terminal.engine_replaced)
        assert first.closed
        assert (terminal.engine.cols, terminal.engine.rows) == (100, 30)
        terminal.write(b"after\n")
        await until(terminal, lambda: recorded(terminal).count(b"after") == 2)

    in_lab(test)


# What the screen and the shell say

MARKING = r"""
PS0='\e]133;C\a'
PROMPT_COMMAND='printf "\e]133;D;%s\a\e]133;A\a" $?'
PS1='PROMPT>\[\e]133;B\a\]'
"""


@asynccontextmanager
async def marking_shell(
    made: Lab, folder: Path, name: str, told: list[Signal]
) -> AsyncIterator[Terminal]:
    """A bash that marks its prompts, at its first one."""
    rc = folder / "rc"
    rc.write_text(MARKING)
    argv, env = ["bash", "--rcfile", str(rc), "-i"], {**ENV, "HISTFILE": ""}
    spawned = await made.host.spawn(argv, str(folder), env, 80, 24)
    engine = engines.make(name)(80, 24)
    terminal = Terminal(
        spawned.master_fd, spawned.pid, engine, revision=1_000, on_signal=told.append
    )
    async with trio.open_nursery() as nursery:
        await nursery.start(terminal.run)
        await until(terminal, lambda: terminal.commands.phase == "input")
        yield terminal
        await terminal.close()


def prompts(told: list[Signal]) -> int:
    return sum(isinstance(signal, PromptReady) for signal in told)


@pytest.mark.parametrize("name", engines.available())
def test_a_shell_tells_of_its_commands(name: str, tmp_path: Path) -> None:
    async def test(made: Lab) -> None:
        told: list[Signal] = []
        async with marking_shell(made, tmp_path, name, told) as terminal:
            assert terminal.log.changes(999).full
            at_prompt = terminal.log.revision
            assert 1_000 < (terminal.commands.prompt_revision or 0) <= at_prompt
            terminal.write(b"printf '\\a\\033]2;name\\007done\\n'; (exit 7)\n")
            await until(terminal, lambda: prompts(told) == 2)
            last, log = terminal.commands.last, terminal.log
            assert last is not None
            assert (last.status, last.start, last.end) == (7, (1, 0), (2, 0))
            assert terminal.engine.text(1 - log.base, 1) == ["done"]
            assert log.changes(at_prompt).lines == (0, 1, 2)
            assert log.fresh(1, at_prompt)
            kinds = [signal.kind for signal in told if isinstance(signal, Event)]
            assert kinds == [EventKind.BELL, EventKind.TITLE]
            assert [type(signal) for signal in told[-2:]] == [CommandEnded, PromptReady]
            terminal.resize(40, 24)
            assert (last.start, terminal.log.changes(at_prompt).full) == (None, True)

    in_lab(test)


@pytest.mark.parametrize("name", engines.available())
def test_the_same_words_in_the_same_place_are_newer(name: str, tmp_path: Path) -> None:
    async def test(made: Lab) -> None:
        told: list[Signal] = []
        async with marking_shell(made, tmp_path, name, told) as terminal:
            for _ in range(2):
                anchor, before = terminal.log.revision, prompts(told)
                terminal.write(b"clear; echo done\n")
                await until(terminal, lambda before=before: prompts(told) > before)  # type: ignore[misc]
                row = terminal.engine.text().index("done")
                assert terminal.log.fresh(terminal.log.base + row, anchor)

    in_lab(test)


def test_the_rest_of_a_paste_is_closed_when_it_ends_early(tmp_path: Path) -> None:
    async def test(made: Lab) -> None:
        allowed = True
        go = tmp_path / "go"
        terminal = await made.shell(RAW + f"until [ -e {go} ]; do sleep 0.02; done; exec cat")
        await shows(terminal, b"READY")
        ticket = terminal.write(
            b"<" + b"x" * 200_000, within=30, permit=lambda: allowed, closing=b">", patience=True
        )
        assert 0 < ticket.written < ticket.total
        allowed = False
        terminal.recheck_permits()
        assert await ticket.wait() == "revoked"
        terminal.write(b"END", within=30)
        go.touch()
        await until(terminal, lambda: b"x>END" in recorded(terminal))

    in_lab(test)
