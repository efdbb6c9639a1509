"""The pane host as its specification promises it: what a program gets, how failures look."""

from __future__ import annotations

import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path

import pytest
import trio
import trio.testing

from termnode.panehost.client import HostLost, PaneHost, SpawnFailed, UserSettings
from tests.support.pty_lab import (
    ENV,
    Lab,
    Watched,
    children_of,
    in_lab,
    lab,
    recorded,
    run,
    shows,
)

ROOT = Path(__file__).parent.parent.parent


async def refusal(host: PaneHost, *argv: str, cwd: str = "/") -> SpawnFailed:
    with pytest.raises(SpawnFailed) as caught:
        await host.spawn(argv, cwd, ENV, 80, 24)
    return caught.value


# Refusals


def test_refusals_name_the_field_and_the_reason(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("data")
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    binary = tmp_path / "binary"
    binary.write_bytes(b"\x00\x01\x02\x03")
    for path in (broken, binary):
        path.chmod(0o755)
    cases = [
        (["no-such-program-here"], "/", "argv", "no_such_program"),
        (["./nothing"], str(tmp_path), "argv", "no_such_program"),
        ([str(plain)], "/", "argv", "not_executable"),
        ([str(tmp_path)], "/", "argv", "not_executable"),
        ([str(broken)], "/", "argv", "no_such_program"),
        ([str(binary)], "/", "argv", "not_executable"),
        (["true"], str(tmp_path / "missing"), "cwd", "no_such_directory"),
        (["true"], str(plain), "cwd", "not_a_directory"),
    ]

    async def test(made: Lab) -> None:
        for argv, cwd, field, reason in cases:
            failure = await refusal(made.host, *argv, cwd=cwd)
            assert (failure.code, failure.details) == (
                "NOT_FOUND",
                {"field": field, "reason": reason},
            ), argv
        assert children_of(made.host.process.pid) == []
        await made.host.ping()

    in_lab(test)


def test_shapes_are_refused_before_anything_is_sent() -> None:
    async def test(made: Lab) -> None:
        spawn = made.host.spawn
        bad = [
            ([], "/", {}, 80, 24, "argv"),
            ([""], "/", {}, 80, 24, "argv"),
            (["a\0b"], "/", {}, 80, 24, "argv"),
            (["true"], "relative", {}, 80, 24, "cwd"),
            (["true"], "/a\0", {}, 80, 24, "cwd"),
            (["true"], "/", {"A=B": "x"}, 80, 24, "env"),
            (["true"], "/", {"": "x"}, 80, 24, "env"),
            (["true"], "/", {"A": "\0"}, 80, 24, "env"),
            (["true"], "/", {}, 0, 24, "cols"),
            (["true"], "/", {}, 80, 65_536, "rows"),
            (["true"], "/", {}, True, 24, "cols"),
        ]
        for argv, cwd, env, cols, rows, field in bad:
            with pytest.raises(SpawnFailed) as caught:
                await spawn(argv, cwd, env, cols, rows)
            assert (caught.value.code, caught.value.details) == (
                "INVALID_ARGUMENT",
                {"field": field},
            )
        with pytest.raises(SpawnFailed) as caught:
            await spawn(["true"], "/", {"BIG": "x" * 200_000}, 80, 24)
        assert caught.value.code == "RESOURCE_LIMIT"

    in_lab(test)


def test_the_largest_environment_arrives() -> None:
    async def test(made: Lab) -> None:
        # One string of an environment may have 128 KiB less one page's worth in the kernel.
        env = {"BIG": "x" * 120_000}
        terminal = await made.start("sh", "-c", "echo ${#BIG}", env=env)
        await made.exit(terminal)
        assert recorded(terminal) == b"120000\r\n"

    in_lab(test)


def test_bytes_that_are_not_utf8_pass_through() -> None:
    async def test(made: Lab) -> None:
        env = {"ODD": os.fsdecode(b"\xff\xfe")}
        terminal = await made.start("sh", "-c", "printf %s $ODD", env=env)
        await made.exit(terminal)
        assert recorded(terminal) == b"\xff\xfe"

    in_lab(test)


_COPIES = """
import os, sys
from termnode.panehost.protocol import Failure, SpawnRequest, UserSettings
from termnode.panehost import spawn
from ptyprocess import PtyProcess
try:
    if sys.argv[1] == "ours":
        spawn._check_directory = lambda cwd: None   # as if it vanished just after the check
        spawn.spawn(SpawnRequest(["/bin/sh"], "/missing-directory", {}, 80, 24),
                    UserSettings.capture())
    else:
        kept = PtyProcess.spawn(["/bin/sh"], cwd="/missing-directory")
except (OSError, Failure):
    pass
with open(sys.argv[2], "a") as file:
    print(os.getpid(), file=file)
os._exit(0)
"""


@pytest.mark.parametrize(("way", "copies"), [("ours", 0), ("ptyprocess", 1)])
def test_a_vanished_directory_never_makes_a_second_copy(
    way: str, copies: int, tmp_path: Path
) -> None:
    """ptyprocess's own ``cwd`` is the kept mutation: there, two processes go on."""
    record = tmp_path / "pids"
    subprocess.run(
        [sys.executable, "-c", _COPIES, way, str(record)], check=True, cwd=ROOT, timeout=60
    )
    assert len(set(record.read_text().split())) == 1 + copies


# What a program gets


def test_descriptors_and_controlling_terminal() -> None:
    async def test(made: Lab) -> None:
        text = await made.output("ls /proc/$$/fd; echo visible >/dev/tty; tty; ps -o tty= -p $$")
        assert text.split()[:3] == ["0", "1", "2"]
        assert "visible" in text.split()
        assert "/dev/pts/" in text

    in_lab(test)


def test_line_editing_erases_whole_characters() -> None:
    async def test(made: Lab) -> None:
        terminal = await made.shell("echo READY; read -r line; printf '<%s>' \"$line\"")
        await shows(terminal, b"READY")
        terminal.write("aé\x7fb\n".encode())
        await made.exit(terminal)
        assert recorded(terminal).endswith(b"<ab>")

    in_lab(test)


def test_the_window_size_is_right_from_the_start_and_follows() -> None:
    async def test(made: Lab) -> None:
        script = "trap 'stty size' WINCH; stty size; echo READY; while :; do read x; done"
        terminal = await made.shell(script)
        await shows(terminal, b"READY")
        assert recorded(terminal).startswith(b"24 80\r\n")
        terminal.resize(100, 30)
        terminal.resize(100, 30)
        terminal.write(b"\n")
        await shows(terminal, b"30 100")
        assert terminal.engine.cols == 100
        with pytest.raises(ValueError, match="columns"):
            terminal.resize(0, 30)

    in_lab(test)


_LOOSE = """
import os, resource, signal, trio
from termnode.panehost.client import PaneHost, UserSettings
os.umask(0o027)
resource.setrlimit(resource.RLIMIT_NOFILE, (300, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
user = UserSettings.capture()
os.umask(0o077)
resource.setrlimit(resource.RLIMIT_NOFILE, (user.nofile[1], user.nofile[1]))
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP,
               signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGUSR1):
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGUSR2, signal.SIGTERM})
script = "grep -E 'SigBlk|SigIgn' /proc/self/status; umask; ulimit -Sn"
async def main():
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    async with PaneHost.start(user) as host:
        made = await host.spawn(["sh", "-c", script], "/", dict(os.environ), 80, 24)
        assert (await host.wait_exit(made.pid)).code == 0
        text = b""
        try:
            while data := os.read(made.master_fd, 4096):  # one read may give a part of it
                text += data
        except OSError:
            pass  # the end: nobody holds the slave any more
        print(text.decode().replace("\\r", ""), end="")
trio.run(main)
"""


def test_signals_umask_and_limits_are_the_users() -> None:
    """However the service was started: here with signals ignored and blocked (K11)."""
    done = subprocess.run(
        [sys.executable, "-c", _LOOSE],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.split() == ["SigBlk:", "0" * 16, "SigIgn:", "0" * 16, "0027", "300"], (
        done.stderr
    )


def test_ctrl_c_reaches_the_foreground_job() -> None:
    async def test(made: Lab) -> None:
        terminal = await made.start("sleep", "600")
        ticket = terminal.write(b"\x03")
        report = await made.exit(terminal)
        assert (report.code, report.signal) == (None, signal.SIGINT)
        assert await ticket.wait() == "written"

    in_lab(test)


# Ends


@pytest.mark.parametrize(
    ("script", "code", "number"),
    [
        ("exit 0", 0, None),
        ("exit 7", 7, None),
        ("exit 255", 255, None),
        ("kill -SEGV $$", None, signal.SIGSEGV),
        ("kill -KILL $$", None, signal.SIGKILL),
        ("kill -HUP $$", None, signal.SIGHUP),
    ],
)
def test_the_status_comes_from_the_wait_status(
    script: str, code: int | None, number: int | None
) -> None:
    async def test(made: Lab) -> None:
        report = await made.exit(await made.shell(f"ulimit -c 0; {script}"))
        assert (report.code, report.signal, report.core) == (code, number, False)
        assert report.holders == ()

    in_lab(test)


def test_signals_reach_the_group_until_it_is_forgotten() -> None:
    async def test(made: Lab) -> None:
        terminal = await made.shell("sleep 600 & echo $!; echo READY; wait; :")
        await shows(terminal, b"READY")
        child = Watched(int(recorded(terminal).split()[0]))
        made.host.signal(terminal.pid, signal.SIGTERM)
        report = await made.exit(terminal)
        assert report.signal == signal.SIGTERM
        assert await trio.to_thread.run_sync(child.ended)
        assert terminal.pid in children_of(made.host.process.pid), "reaped too early"
        assert made.host.exit_status(terminal.pid) is not None
        made.host.forget(terminal.pid)
        await made.host.ping()
        assert terminal.pid not in children_of(made.host.process.pid)
        made.host.signal(terminal.pid, signal.SIGKILL)
        with pytest.raises(KeyError):
            await made.host.wait_exit(terminal.pid)
        child.kill()

    in_lab(test)


def test_forgetting_a_live_program_hangs_it_up_and_reaps_it() -> None:
    async def test(made: Lab) -> None:
        polite = await made.start("sleep", "600")
        stubborn = await made.shell("trap '' HUP; echo READY; while :; do sleep 600; done")
        await shows(stubborn, b"READY")
        watched = [Watched(polite.pid), Watched(stubborn.pid)]
        for terminal in (polite, stubborn):
            made.host.forget(terminal.pid)
            await terminal.close()
        for process in watched:
            assert await trio.to_thread.run_sync(process.ended)
            process.kill()
        while children_of(made.host.process.pid):
            await made.host.ping()

    in_lab(test)


def test_a_cancelled_spawn_leaves_no_program() -> None:
    async def test(made: Lab) -> None:
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(10):
            with trio.CancelScope() as scope:
                scope.cancel()
                await made.host.spawn(["sleep", "600"], "/", ENV, 80, 24)
        while children_of(made.host.process.pid):
            await made.host.ping()
        await made.host.ping()
        assert len(os.listdir("/proc/self/fd")) == before

    in_lab(test)


# The end of Term, and of the host

_TERM = """
import os, sys, trio
from termnode.panehost.client import PaneHost
SCRIPTS = ["exec sleep 600", "trap '' HUP; echo R; while :; do sleep 600; done",
           "trap 'echo R' HUP; echo R; cat; sleep 600"]
async def main():
    async with PaneHost.start() as host:
        pids = []
        for script in SCRIPTS:
            made = await host.spawn(["sh", "-c", script], "/", dict(os.environ), 80, 24)
            if "R" in script:
                os.read(made.master_fd, 1)
            pids.append(made.pid)
        print(host.process.pid, *pids, flush=True)
        await trio.sleep_forever()
trio.run(main)
"""


@pytest.mark.parametrize("victim", ["term", "host"])
def test_when_term_dies_all_sessions_end_and_the_host_too(victim: str) -> None:
    """The host has no other reason to live; SIGTERM to the host does the same."""
    command = [sys.executable, "-c", _TERM]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as term:
        assert term.stdout is not None
        watched = [Watched(int(pid)) for pid in term.stdout.readline().split()]
        try:
            if victim == "term":
                term.kill()
            else:
                os.kill(watched[0].pid, signal.SIGTERM)
            assert len(watched) == 4
            assert all(process.ended() for process in watched[1:])
            assert watched[0].ended()
        finally:
            for process in watched:
                process.kill()
            term.kill()


def test_terminal_signals_do_not_reach_the_host() -> None:
    async def test(made: Lab) -> None:
        pid = made.host.process.pid
        assert os.getsid(pid) == pid
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            os.kill(pid, number)
        await made.host.ping()

    in_lab(test)


def test_when_the_host_dies_everything_that_waits_fails() -> None:
    async def test() -> None:
        async with lab() as made:
            terminal = await made.start("cat")
            failures: list[str] = []

            async def expect() -> None:
                with pytest.raises(HostLost):
                    await made.host.wait_exit(terminal.pid)
                failures.append("exit")

            async with trio.open_nursery() as nursery:
                nursery.start_soon(expect)
                await trio.testing.wait_all_tasks_blocked()
                os.kill(made.host.process.pid, signal.SIGKILL)
            assert failures == ["exit"]
            assert made.host.lost
            with pytest.raises(HostLost):
                await made.host.spawn(["true"], "/", ENV, 80, 24)
            with pytest.raises(HostLost):
                made.host.signal(terminal.pid, signal.SIGTERM)
            made.host.forget(terminal.pid)
            # The program lives on: Term holds its terminal.
            terminal.write(b"still here\n")
            await shows(terminal, b"still here")
            await terminal.close()

    run(test)


def test_what_the_block_raises_comes_out_as_it_was() -> None:
    async def test() -> None:
        with pytest.raises(ZeroDivisionError):
            async with PaneHost.start():
                raise ZeroDivisionError

    run(test)


# Bounds and reach


def _reachable(pid: int) -> list[str]:
    """Sockets of a process that another process could connect to or send to."""
    inodes = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        with suppress(OSError):  # listing the directory has a descriptor of its own
            target = os.readlink(f"/proc/{pid}/fd/{name}")
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
    assert inodes, "no socket at all: the check looks at the wrong thing"
    table = Path(f"/proc/{pid}/net/unix").read_text().splitlines()[1:]
    fields = [line.split() for line in table]
    return [row[6] for row in fields if row[6] in inodes and (len(row) > 7 or row[3] != "00000000")]


def test_nobody_else_can_reach_the_host(tmp_path: Path) -> None:
    async def test(made: Lab) -> None:
        assert _reachable(made.host.process.pid) == []

    in_lab(test)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as named:
        # The kept mutation: a named, listening socket is found.
        named.bind(f"\0termnode-test-{os.getpid()}")
        named.listen(1)
        assert len(_reachable(os.getpid())) >= 1


def test_a_hundred_panes_leave_no_descriptor_and_no_child() -> None:
    async def test(made: Lab) -> None:
        def count() -> tuple[int, int]:
            host = made.host.process.pid
            return len(os.listdir(f"/proc/{host}/fd")), len(os.listdir("/proc/self/fd"))

        before = count()
        for _ in range(100):
            terminal = await made.start("true")
            await made.exit(terminal)
            made.host.forget(terminal.pid)
            await terminal.close()
        for _ in range(20):
            await refusal(made.host, "no-such-program-here")
        await made.host.ping()
        assert count() == before
        assert children_of(made.host.process.pid) == []
        leaked = os.dup(0)
        assert count() != before  # the count can fail
        os.close(leaked)

    in_lab(test)


def _descriptors(pid: int) -> set[int]:
    return {int(name) for name in os.listdir(f"/proc/{pid}/fd")}


def test_a_full_process_is_a_refusal_and_leaks_nothing() -> None:
    """With no descriptor left in the host: typed, and all is well when there is room again."""

    async def test(made: Lab) -> None:
        host = made.host.process.pid
        await made.host.ping()
        before = _descriptors(host)
        free = sorted(set(range(2 * len(before) + 100)) - before)
        limits = resource.prlimit(host, resource.RLIMIT_NOFILE)
        for room in range(4):
            resource.prlimit(host, resource.RLIMIT_NOFILE, (free[room], limits[1]))
            failure = await refusal(made.host, "true")
            assert failure.code == "RESOURCE_LIMIT"
            assert _descriptors(host) == before
        resource.prlimit(host, resource.RLIMIT_NOFILE, limits)
        assert (await made.exit(await made.start("true"))).code == 0

    in_lab(test)


def test_the_host_ignores_what_is_no_request() -> None:
    """Odd records neither end the host nor are answered."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-P", "-m", "termnode.panehost", "--fd", str(theirs.fileno())]
    with (
        ours,
        subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=ROOT, env=_path()) as host,
    ):
        theirs.close()
        ours.settimeout(40)
        odd = [b"\xc1", b"\x80", b"\x93\x01\x02\x03", b"\x81\xa4type\x01", b"\x81\xa4type\xa3xyz"]
        odd += [b"\xff" * 100, b"\x81\xa4type\xa6signal", b"\x83\xa4type\xa6signal\xa3pid\xff"]
        odd += [b"\x83\xa4type\xa6signal\xa3pid\xff\xa6signal\x09", b"x" * 190_000]
        for record in odd:
            ours.send(record)
        ours.send(b"\x82\xa4type\xa4ping\xa2id\x07")
        assert ours.recv(4096) == b"\x82\xa4type\xa4pong\xa2id\x07"
        ours.close()
        assert host.wait(40) == 0


def _path() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def test_the_host_imports_little() -> None:
    """Neither Trio nor ZeroMQ threads may exist in a process that forks; the host starts fast."""
    script = textwrap.dedent("""
        import sys, termnode.panehost.host
        heavy = {"trio", "zmq", "asyncio", "brokerd", "argparse", "subprocess", "threading"}
        print(*sorted(heavy & set(sys.modules)))
    """)
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() in ("", "threading"), done.stdout + done.stderr


def _status(pid: int) -> str:
    return Path(f"/proc/{pid}/status").read_text()


def test_the_hosts_files_are_private() -> None:
    async def test(made: Lab) -> None:
        assert "Umask:\t0077" in _status(made.host.process.pid)
        assert stat.S_ISSOCK(os.fstat(made.host._exchange._sock.fileno()).st_mode)

    in_lab(test)


def test_settings_default_to_this_process() -> None:
    before = os.umask(0o022)
    try:
        assert UserSettings.capture().umask == 0o022
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
