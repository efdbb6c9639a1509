"""The pane shell without a broker: records, launches, channel, the loud line, shell processes."""

from __future__ import annotations

import os
import pty
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from termnode.paneshell import loud
from termnode.paneshell.channel import (
    ATTACHED,
    PHASES,
    WAITING,
    SidecarEnd,
    SidecarState,
    TermEnd,
    channel_pair,
)
from termnode.paneshell.launch import BadLaunch, Launch
from termnode.paneshell.packets import Packets
from termnode.paneshell.records import MAX_RECORD, RecordError, decode, encode
from termnode.paneshell.shell_process import ShellProcess
from termnode.paneshell.status import EXITING, FOREGROUND_CHILD, STARTING
from tests.support.termnode_process import eventually

LAUNCH = Launch("/run/some", 3, "/dev/pts/1", 4242, "/", "term")


def within(seconds: float = 30.0) -> trio.CancelScope:
    return trio.CancelScope(deadline=trio.current_time() + seconds)


# Records and launches


@given(st.dictionaries(st.text(max_size=8), st.integers(0, 9) | st.text(max_size=20), max_size=5))
def test_a_record_comes_back_as_it_was(fields: dict[str, object]) -> None:
    record = {**fields, "type": "some"}
    assert decode(encode(record)) == record


@given(st.binary(max_size=64))
def test_any_bytes_are_a_record_or_a_typed_error(data: bytes) -> None:
    with suppress(RecordError):
        assert isinstance(decode(data)["type"], str)


def test_records_are_bounded_both_ways() -> None:
    with pytest.raises(RecordError):
        encode({"type": "x" * MAX_RECORD})
    with pytest.raises(RecordError):
        decode(bytes(MAX_RECORD + 1))


def test_a_launch_of_any_path_comes_back_as_it_was() -> None:
    odd = Launch("/run/\udcff", 2**40, None, 1, "/with\nline", "term")
    for launch in (LAUNCH, odd):
        record = decode(encode({"type": "fork", **launch.to_record()}))
        assert Launch.from_record(record) == launch


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("runtime_dir", "relative"),
        ("runtime_dir", None),
        ("runtime_dir", "/" + "x" * 4_096),
        ("pane", 0),
        ("pane", True),
        ("pane", "3"),
        ("tty", "pts/1"),
        ("tty", "/dev/\0"),
        ("shell_pid", -1),
        ("cwd", ""),
        ("service", ""),
    ],
)
def test_a_wrong_launch_names_its_field_and_no_value(field: str, value: object) -> None:
    with pytest.raises(BadLaunch, match=f"no usable {field}:"):
        Launch.from_record({**LAUNCH.to_record(), field: value})


# The channel


@contextmanager
def both_ends() -> Iterator[tuple[TermEnd, SidecarEnd]]:
    ours, theirs = channel_pair()
    with closing(ours), closing(theirs):
        yield TermEnd(ours), SidecarEnd(theirs)


def test_term_sees_the_first_state_and_each_newer_one() -> None:
    async def main() -> None:
        seen: list[SidecarState] = []
        with both_ends() as (term, sidecar), within():
            term._on_state = seen.append
            async with trio.open_nursery() as nursery:
                nursery.start_soon(term.run)
                nursery.start_soon(sidecar.send)
                for state in (
                    SidecarState(ATTACHED, "", "ab" * 16, 1),
                    SidecarState(WAITING, "no"),
                ):
                    sidecar.tell(state)
                    while term.state != state:  # nothing announces it but itself
                        await trio.lowlevel.checkpoint()
                nursery.cancel_scope.cancel()
        assert seen[-1] == SidecarState(WAITING, "no")

    trio.run(main)


def test_a_term_that_does_not_read_delays_nobody_and_gets_the_latest_state() -> None:
    async def main() -> None:
        with both_ends() as (term, sidecar), within():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(sidecar.send)
                for number in range(2_000):  # more than the socket holds
                    sidecar.tell(SidecarState(ATTACHED, str(number)))
                    await trio.lowlevel.checkpoint()
                nursery.start_soon(term.run)
                while term.state.reason != "1999":  # as above
                    await trio.lowlevel.checkpoint()
                nursery.cancel_scope.cancel()

    trio.run(main)


@pytest.mark.parametrize("how", ["end", "close"])
def test_both_ways_to_end_a_sidecar_reach_it(how: str) -> None:
    async def main() -> None:
        with both_ends() as (term, sidecar), within() as scope:
            getattr(term, how)()
            await sidecar.wait_end()
        assert not scope.cancelled_caught

    trio.run(main)


def test_other_records_do_not_end_a_sidecar() -> None:
    async def main() -> None:
        ours, theirs = channel_pair()
        with closing(ours), closing(theirs), within() as scope:
            sidecar = SidecarEnd(theirs)
            for record in (b"\xc1", encode({"type": "cwd"}), encode({"type": "state"})):
                ours.send(record)
            ended = False
            async with trio.open_nursery() as nursery:

                async def wait() -> None:
                    nonlocal ended
                    await sidecar.wait_end()
                    ended = True

                nursery.start_soon(wait)
                await trio.testing.wait_all_tasks_blocked()
                assert not ended
                ours.send(encode({"type": "end"}))
        assert ended
        assert not scope.cancelled_caught

    trio.run(main)


def test_term_knows_when_the_sidecar_is_gone_and_may_still_speak() -> None:
    async def main() -> None:
        ours, theirs = channel_pair()
        theirs.close()
        term = TermEnd(ours)
        term.end()
        with within():
            await term.run()
        assert term.closed
        term.end()
        term.close()

    trio.run(main)


@pytest.mark.parametrize(
    "wrong",
    [
        {"state": "fine"},
        {"state": ["attached"]},
        {"reason": "x" * 257},
        {"record_id": "ab"},
        {"binding_generation": -1},
        {"binding_generation": True},
        {"type": "other"},
    ],
)
def test_a_state_that_is_none_is_ignored(wrong: dict[str, object]) -> None:
    good = SidecarState(ATTACHED, "r", "ab" * 16, 1).to_record()
    assert SidecarState.from_record(good) is not None
    assert SidecarState.from_record({**good, **wrong}) is None


def test_long_words_are_cut_and_every_state_travels() -> None:
    for state in PHASES:
        made = SidecarState.from_record(SidecarState(state, "x" * 999).to_record())
        assert made == SidecarState(state, "x" * 256)


def test_packets_bring_descriptors_that_no_exec_inherits() -> None:
    async def main() -> None:
        ours, theirs = channel_pair()
        with closing(ours), closing(theirs), within():
            reading, writing = os.pipe()
            await Packets(ours).send(b"here", [reading, writing])
            os.close(reading)
            data, got = await Packets(theirs).receive(2)
            os.close(writing)
            assert (data, len(got)) == (b"here", 2)
            assert not any(os.get_inheritable(number) for number in got)
            for number in got:
                os.close(number)

    trio.run(main)


def test_a_closed_end_is_the_end_for_whoever_waits() -> None:
    async def main() -> None:
        ours, theirs = channel_pair()
        with closing(theirs), within() as scope:
            packets = Packets(ours)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(packets.receive)
                await trio.testing.wait_all_tasks_blocked()
                packets.close()
        assert not scope.cancelled_caught

    trio.run(main)


# What the kernel says of the shell


@contextmanager
def shell_on_a_terminal(cwd: Path) -> Iterator[tuple[int, int]]:
    """(pid, master) of an interactive sh, session leader on a PTY."""
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execv("/bin/sh", ["sh", "-i"])
    try:
        yield pid, master
    finally:
        os.close(master)
        os.waitpid(pid, 0)


def test_the_shell_is_seen_where_it_is_and_behind_what_it_runs(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    with shell_on_a_terminal(tmp_path) as (pid, master):
        shell = ShellProcess(pid)
        eventually(lambda: shell.observe().cwd == os.fsencode(tmp_path), "it is there")
        assert shell.observe().phase == STARTING
        os.write(master, b"cd inside\ncat\n")
        eventually(lambda: shell.observe().phase == FOREGROUND_CHILD, "cat is in front")
        assert shell.observe().cwd == os.fsencode(inside)
        os.write(master, b"\x04exit\n")
        eventually(lambda: shell.observe().phase == EXITING, "it has ended")
        assert shell.observe().cwd is None


def test_a_process_of_the_same_number_is_not_the_shell() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        shell = ShellProcess(process.pid)
        assert shell.observe().phase == STARTING
        shell._start_time = "1"
        assert shell.observe().phase == EXITING
        assert process.stdin is not None
        process.stdin.close()


def test_no_process_is_an_ended_shell() -> None:
    assert ShellProcess(2**22 + 1).observe().phase == EXITING


# The loud line


def test_the_line_goes_to_the_terminal_and_to_standard_error(
    capfd: pytest.CaptureFixture[str],
) -> None:
    master, slave = os.openpty()
    try:
        loud.say("it is broken", os.ttyname(slave))
        assert b"pane shell: it is broken; the shell works" in os.read(master, 4_096)
    finally:
        os.close(master)
        os.close(slave)
    assert capfd.readouterr().err.startswith("pane shell: it is broken; ")


def test_what_is_no_terminal_gets_no_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plain = tmp_path / "plain"
    plain.write_text("as it was")
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (plain, fifo, tmp_path / "missing"):
        loud.say("it is broken", str(path))
    assert plain.read_text() == "as it was"
    assert capfd.readouterr().err.count("\n") == 3


def test_a_socket_pair_is_what_a_channel_is() -> None:
    ours, theirs = channel_pair()
    with closing(ours), closing(theirs):
        kind = ours.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE)
        assert kind == socket.SOCK_SEQPACKET
        assert not any(end.get_inheritable() for end in (ours, theirs))
