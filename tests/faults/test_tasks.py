"""Real isolated tasks: what they get, how each of them ends, and that nothing of them is left."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from brokerd.client import ErrorCode, Refusal, Reply, boottime_ms
from termnode.paneshell.operations import Operations
from termnode.paneshell.status import target_of
from termnode.paneshell.tasks import descendants, keeper
from termnode.paneshell.tasks.client import Tasks
from termnode.paneshell.tasks.model import Task
from termnode.paneshell.tasks.request import submission
from tests.support.pty_lab import children_of
from tests.support.sidecar_lab import Pane, SidecarLab, in_sidecar_lab, until
from tests.support.task_lab import ME, TaskLab, alive, in_task_lab, living, pid_in

STUBBORN = """
trap '' TERM
setsid sh -c 'trap "" TERM; echo $$ > {0}/grandchild; while :; do sleep 1000; done' &
echo $$ > {0}/leader
head -c 10000000 /dev/zero
head -c 10000000 /dev/zero >&2
while :; do sleep 1000; done
"""


# All at once


def test_one_that_ignores_floods_and_forks_away_is_killed_whole(tmp_path: Path) -> None:
    async def test(lab: TaskLab) -> None:
        task = await lab.start(source=STUBBORN.format(tmp_path), timeout_ms=1_500)
        grandchild = await pid_in(tmp_path / "grandchild")
        leader = await pid_in(tmp_path / "leader")
        assert os.getsid(grandchild) == grandchild != leader
        report = await lab.settled(task)
        assert report["outcome"] == {
            "kind": "timeout",
            "escalated_to": "sigkill",
            "wait": {"signal": 9, "code": None, "reaped": True},
        }
        for name in ("stdout", "stderr"):
            stream = report[name]
            assert (stream["bytes"], stream["truncated"]) == ("10000000", True)
            assert not stream["writer_survived"]
            assert stream["text"] == "\0" * ((65_536 - 2) // 6)
        assert (report["survivors"] >= 1, report["survivors_left"]) == (True, 0)
        assert not alive(leader)
        assert not alive(grandchild)
        await until(lambda: not lab.keepers, "the keeper is gone")

    in_task_lab(test)


# What a task gets


async def _sleeping(lab: TaskLab, tmp_path: Path, *, result: bool) -> int:
    """The process of a task that does nothing, with or without a result descriptor."""
    script = f"echo $$ > {tmp_path}/pid; exec sleep 1000"
    mode: dict[str, Any] = {"source": script} if result else {"argv": ["sh", "-c", script]}
    await lab.start(**mode)
    pid = await pid_in(tmp_path / "pid")
    await until(lambda: Path(f"/proc/{pid}/comm").read_text() == "sleep\n", "it sleeps")
    return pid


def _has_only_its_own(pid: int, numbers: set[str]) -> None:
    directory = Path(f"/proc/{pid}/fd")
    links = {name: os.readlink(directory / name) for name in os.listdir(directory)}
    assert set(links) == numbers
    assert links.pop("0") == "/dev/null"
    assert len(set(links.values())) == len(links)
    assert all(link.startswith("pipe:") for link in links.values())


@pytest.mark.parametrize(("result", "numbers"), [(True, "0123"), (False, "012")])
def test_it_has_its_own_descriptors_and_no_other(
    result: bool, numbers: str, tmp_path: Path
) -> None:
    async def test(lab: TaskLab) -> None:
        _has_only_its_own(await _sleeping(lab, tmp_path, result=result), set(numbers))

    in_task_lab(test)


def test_descriptors_that_are_left_open_are_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The proof that the test above can fail."""
    monkeypatch.setattr(os, "closerange", lambda _low, _high: None)
    monkeypatch.setattr("termnode.paneshell.child._close_others", lambda _keep: None)
    leak = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(leak, True)

    async def test(lab: TaskLab) -> None:
        pid = await _sleeping(lab, tmp_path, result=True)
        with pytest.raises(AssertionError):
            _has_only_its_own(pid, set("0123"))

    in_task_lab(test)
    os.close(leak)


def test_it_has_a_session_and_group_of_its_own_and_plain_signals(tmp_path: Path) -> None:
    async def test(lab: TaskLab) -> None:
        pid = await _sleeping(lab, tmp_path, result=False)
        assert os.getsid(pid) == os.getpgid(pid) == pid
        assert _signal_sets(pid) == {"SigBlk": 0, "SigIgn": 0, "SigCgt": 0}

    in_task_lab(test)


def _signal_sets(pid: int) -> dict[str, int]:
    lines = [line.split() for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
    names = ("SigBlk", "SigIgn", "SigCgt")
    return {words[0][:-1]: int(words[1], 16) for words in lines if words[0][:-1] in names}


def test_its_environment_is_the_listed_names_and_what_was_added(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COSMIX_SRC", "/src")
    monkeypatch.setenv("COSMIX_SESSION_FD", "9")
    monkeypatch.setenv("TERMNODE_SHELL_DIR", "/x")
    monkeypatch.setenv("HOME", "/home")
    monkeypatch.setenv("LANG", "C")
    monkeypatch.delenv("USER", raising=False)

    async def test(lab: TaskLab) -> None:
        report = await lab.run(argv=["env"], env=[["LANG", "C.UTF-8"], ["ADDED", "a b"]])
        told = dict(line.split("=", 1) for line in report["stdout"]["text"].splitlines())
        assert told == {
            "HOME": "/home",
            "PATH": os.environ["PATH"],
            "COSMIX_SRC": "/src",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "ADDED": "a b",
        } | ({"COSMIX": os.environ["COSMIX"]} if "COSMIX" in os.environ else {})

    in_task_lab(test)


def test_it_has_the_shells_umask_and_an_empty_input() -> None:
    before = os.umask(0o027)
    try:

        async def test(lab: TaskLab) -> None:
            report = await lab.sh("umask; cat; pwd", cwd="/tmp")
            assert report["stdout"]["text"] == "0027\n/tmp\n"

        in_task_lab(test)
    finally:
        os.umask(before)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "sh"])
def test_a_script_is_run_by_the_persons_kind_of_shell(
    shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    async def test(lab: TaskLab) -> None:
        report = await lab.sh("echo '[1]' >&3; sh -c 'cat /proc/$PPID/comm; true'; false")
        assert report["outcome"] == {"kind": "exited", "code": 1}
        assert report["result"] == {"kind": "value", "data": [1]}
        assert report["stdout"]["text"] == f"{shell}\n"

    in_task_lab(test, shell)


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("true", "result_missing"),
        ("printf '{' >&3", "result_torn"),
        ("head -c 70000 /dev/zero | tr '\\0' 1 >&3", "result_torn"),
        ("exec 3>&-", "result_missing"),
        ("printf 1 >&3; kill -KILL $$", "value"),
        ("sleep 1000 & printf 1 >&3", "value"),
    ],
)
def test_what_becomes_of_a_result(source: str, kind: str) -> None:
    async def test(lab: TaskLab) -> None:
        assert (await lab.sh(source))["result"]["kind"] == kind

    in_task_lab(test)


# Refusals leave no trace


@pytest.mark.parametrize(
    ("fields", "code", "details"),
    [
        ({"argv": ["nonesuch"]}, "NOT_FOUND", {"reason": "spawn_failed", "detail": "ENOENT"}),
        ({"argv": ["/etc/passwd"]}, "NOT_FOUND", {"reason": "spawn_failed", "detail": "EACCES"}),
        ({"argv": ["true"], "cwd": "/none"}, "NOT_FOUND", {"field": "cwd", "detail": "ENOENT"}),
        (
            {"argv": ["true"], "cwd": "/etc/passwd"},
            "NOT_FOUND",
            {"field": "cwd", "detail": "ENOTDIR"},
        ),
    ],
)
def test_what_cannot_start_spends_nothing(
    fields: dict[str, Any], code: str, details: dict[str, str]
) -> None:
    async def test(lab: TaskLab) -> None:
        for _ in range(5):  # one more than may run
            with pytest.raises(Refusal) as caught:
                await lab.start(**fields)
            assert (caught.value.code, caught.value.details) == (code, details)
        assert (len(lab.tasks.operations), lab.tasks.table.running) == (0, [])
        assert lab.tasks.operations.find(ME, 1, b"digest", 0) is None
        await until(lambda: not lab.keepers, "the keepers are gone")

    in_task_lab(test)


def test_no_process_left_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_fork(_program: object) -> None:
        raise OSError(11, "no more processes")

    monkeypatch.setattr(keeper, "launch", no_fork)

    async def test(lab: TaskLab) -> None:
        with pytest.raises(Refusal) as caught:
            await lab.start(argv=["true"])
        assert caught.value.code is ErrorCode.RESOURCE_LIMIT
        assert caught.value.details == {"reason": "spawn_failed", "detail": "EAGAIN"}

    in_task_lab(test)


def test_a_fifth_waits_its_turn() -> None:
    async def test(lab: TaskLab) -> None:
        tasks = [await lab.start(argv=["sleep", "1000"]) for _ in range(4)]
        with pytest.raises(Refusal) as caught:
            await lab.start(argv=["true"])
        assert caught.value.details == {"reason": "running_tasks", "limit": 4}
        await lab.tasks.cancel(tasks[0])
        await lab.settled(tasks[0])
        assert (await lab.run(argv=["true"]))["outcome"]["code"] == 0

    in_task_lab(test)


# Ends


def test_timeout_and_cancel_say_what_it_came_to() -> None:
    async def test(lab: TaskLab) -> None:
        polite = "trap 'exit 7' TERM; while :; do sleep 0.01; done"
        report = await lab.sh(polite, timeout_ms=200)
        wait = {"signal": None, "code": 7, "reaped": True}
        ended = {"kind": "timeout", "escalated_to": "sigterm", "wait": wait}
        assert report["outcome"] == ended
        task = await lab.start(argv=["sleep", "1000"])
        done = await lab.tasks.cancel(task)
        assert done == {
            "outcome": "requested",
            "delivery": "SIGTERM sent to its process group; SIGKILL follows after 2 s",
        }
        report = await lab.settled(task)
        wait = {"signal": 15, "code": None, "reaped": True}
        ended = {"kind": "cancelled", "escalated_to": "sigterm", "wait": wait, "source": "request"}
        assert report["outcome"] == ended
        assert (await lab.tasks.cancel(task))["outcome"] == "already_settled"

    in_task_lab(test)


def test_one_that_was_stopped_is_killed_after_the_grace(tmp_path: Path) -> None:
    async def test(lab: TaskLab) -> None:
        task = await lab.start(source=f"echo $$ > {tmp_path}/pid; kill -STOP $$")
        await pid_in(tmp_path / "pid")
        await lab.tasks.cancel(task)
        assert task.state == "cancelling"
        assert (await lab.tasks.cancel(task))["delivery"] == "it is being ended already"
        report = await lab.settled(task)
        assert report["outcome"]["escalated_to"] == "sigkill"

    in_task_lab(test)


def test_a_signal_of_its_own_is_told() -> None:
    async def test(lab: TaskLab) -> None:
        report = await lab.sh("kill -USR1 $$")
        assert report["outcome"] == {"kind": "signalled", "signal": signal.SIGUSR1}

    in_task_lab(test)


def test_what_a_task_leaves_is_killed_reaped_and_counted(tmp_path: Path) -> None:
    async def test(lab: TaskLab) -> None:
        report = await lab.sh(
            f"sleep 1000 & setsid sh -c 'echo $$ > {tmp_path}/one; exec sleep 1000' & "
            f"while ! [ -s {tmp_path}/one ]; do :; done; echo done"
        )
        assert report["outcome"] == {"kind": "exited", "code": 0}
        assert (report["survivors"], report["survivors_left"]) == (2, 0)
        assert report["stdout"]["text"] == "done\n"
        assert not alive(await pid_in(tmp_path / "one"))

    in_task_lab(test)


def test_a_tasks_end_touches_no_orphan_of_another(tmp_path: Path) -> None:
    async def test(lab: TaskLab) -> None:
        script = "(setsid sh -c 'echo $$ > {}/away; exec sleep 1000' &); sleep 1000"
        other = await lab.start(source=script.format(tmp_path))
        away = await pid_in(tmp_path / "away")
        assert (await lab.sh("(setsid sleep 1000 &)"))["survivors_left"] == 0
        assert alive(away)
        await lab.tasks.cancel(other)
        await lab.settled(other)
        assert not alive(away)

    in_task_lab(test)


def test_without_the_sweep_the_survivor_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The proof that the counts above are looked at; the supervisor then ends what is left."""
    swept = descendants.kill_children
    test_process = os.getpid()

    def not_in_a_keeper(without: set[int]) -> None:
        if os.getppid() == test_process:
            swept(without)

    monkeypatch.setattr(descendants, "kill_children", not_in_a_keeper)

    async def test(lab: TaskLab) -> None:
        report = await lab.sh(
            f"setsid sh -c 'echo $$ > {tmp_path}/one; exec sleep 1000' & "
            f"while ! [ -s {tmp_path}/one ]; do :; done"
        )
        assert (report["survivors"], report["survivors_left"]) == (1, 1)
        assert report["stdout"]["writer_survived"]
        assert report["result"] == {"kind": "result_abandoned"}
        await _gone([await pid_in(tmp_path / "one")])

    in_task_lab(test)


def test_orphans_that_the_supervisor_would_adopt_are_not_told_apart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The proof that a keeper for each task is what keeps orphans apart."""
    monkeypatch.setattr(keeper, "adopt_orphans", lambda: None)

    async def test(lab: TaskLab) -> None:
        script = f"(setsid sh -c 'echo $$ > {tmp_path}/away; exec sleep 1000' &); sleep 1000"
        task = await lab.start(source=script)
        away = await pid_in(tmp_path / "away")
        assert (await lab.run(argv=["true"]))["outcome"]["kind"] == "exited"
        await _gone([away])
        assert task.state == "running"

    in_task_lab(test)


def test_a_status_that_is_there_wins_over_the_timeout(tmp_path: Path) -> None:
    async def test(lab: TaskLab) -> None:
        source = f"echo $$ > {tmp_path}/pid; while [ -e {tmp_path}/pid ]; do :; done; exit 5"
        task = await lab.start(source=source, timeout_ms=2_000)
        pid = await pid_in(tmp_path / "pid")
        (its_keeper,) = lab.keepers
        os.kill(its_keeper, signal.SIGSTOP)
        (tmp_path / "pid").unlink()
        await until(lambda: not living(pid), "it has ended")
        end = task.began_ms + 2_500
        await until(lambda: boottime_ms() > end, "its time is over as well")
        os.kill(its_keeper, signal.SIGCONT)
        assert (await lab.settled(task))["outcome"] == {"kind": "exited", "code": 5}

    in_task_lab(test)


def test_a_program_that_does_not_begin_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "SPAWN", 0.05)
    monkeypatch.setattr(os, "chdir", lambda _path: signal.pause())  # as a dead file system

    async def test(lab: TaskLab) -> None:
        outcome = (await lab.run(argv=["true"]))["outcome"]
        assert (outcome["kind"], outcome["source"]) == ("cancelled", "not_started")

    in_task_lab(test)


def test_without_a_supervisor_nothing_is_started() -> None:
    async def main() -> None:
        tasks = Tasks(None, "sh", Operations(), boottime_ms)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(tasks.run)
            await trio.testing.wait_all_tasks_blocked()
            with pytest.raises(Refusal) as caught:
                tasks.submit(ME, submission({**_PLAIN, "argv": ["true"]}), b"")
            assert caught.value.code is ErrorCode.UNAVAILABLE
            nursery.cancel_scope.cancel()

    trio.run(main)


# Somebody else ends


async def _spread(lab: TaskLab, directory: Path) -> tuple[Task, list[int]]:
    """A task of three processes: its own, one in its group, one in a session of its own."""
    task = await lab.start(
        source=f"setsid sh -c 'echo $$ > {directory}/away; exec sleep 1000' & "
        f"sh -c 'echo $$ > {directory}/near; exec sleep 1000' & "
        f"echo $$ > {directory}/own; wait"
    )
    return task, [await pid_in(directory / name) for name in ("own", "near", "away")]


async def _gone(pids: list[int]) -> None:
    await until(lambda: not any(map(alive, pids)), "nothing of it is alive")


def test_a_killed_supervisor_takes_all_tasks_along_and_they_are_unknown(tmp_path: Path) -> None:
    async def test(lab: TaskLab) -> None:
        task, pids = await _spread(lab, tmp_path)
        signal.pidfd_send_signal(lab.supervisor.pidfd, signal.SIGKILL)
        report = await lab.settled(task)
        assert report["outcome"]["kind"] == "unknown"
        await _gone(pids)
        with pytest.raises(Refusal) as caught:
            await lab.start(argv=["true"])
        assert caught.value.details == {"reason": "no_task_supervisor"}

    in_task_lab(test)


def test_a_killed_keeper_takes_its_task_along_and_no_other(tmp_path: Path) -> None:
    async def test(lab: TaskLab) -> None:
        task, pids = await _spread(lab, tmp_path)
        (its_keeper,) = lab.keepers
        other = await lab.start(argv=["sleep", "1000"])
        os.kill(its_keeper, signal.SIGKILL)
        assert (await lab.settled(task))["outcome"]["kind"] == "unknown"
        await _gone(pids)
        assert other.state == "running"
        assert (await lab.run(argv=["true"]))["outcome"]["kind"] == "exited"

    in_task_lab(test)


def test_the_shells_end_kills_every_task(tmp_path: Path) -> None:
    async def test(lab: TaskLab) -> None:
        task, pids = await _spread(lab, tmp_path)
        lab.shell.kill()
        report = await lab.settled(task)
        assert report["outcome"]["kind"] == "cancelled"
        assert report["outcome"]["source"] == "shell_exited"
        await _gone(pids)
        with pytest.raises(Refusal) as caught:
            await lab.start(argv=["true"])
        assert caught.value.details == {"reason": "shell_exited"}

    in_task_lab(test)


@pytest.mark.parametrize("deaf", [False, True])
def test_a_sidecar_that_is_gone_leaves_no_task(deaf: bool, tmp_path: Path) -> None:
    """Killed at once, also while its tasks have the supervisor's attention."""

    async def test(lab: SidecarLab) -> None:
        pane = await lab.attached()
        (supervisor,) = children_of(pane.forked.pid)
        trap = "trap '' TERM; " if deaf else ""
        source = f"{trap}echo $$ > {tmp_path}/own; setsid sleep 1000 & wait; wait"
        assert (await _ask(lab, pane, "submit", source=source, **_PLAIN)).ok
        own = await pid_in(tmp_path / "own")
        pane.kill()
        await until(lambda: not (living(supervisor) or living(own)), "both have ended")

    in_sidecar_lab(test)


# Over the bus

_PLAIN: dict[str, Any] = {"request_id": "1", "cwd": "/", "timeout_ms": 60_000}


async def _ask(lab: SidecarLab, pane: Pane, verb: str, **fields: object) -> Reply:
    record = await lab.record(pane)
    body = {"version": 1, "target": target_of(record), **fields}
    return await lab.bus.request(record.name, f"shell.task.{verb}", body, timeout=60)


async def _settled(lab: SidecarLab, pane: Pane, submitted: Reply) -> dict[str, Any]:
    assert submitted.body is not None, submitted
    found = await _ask(
        lab, pane, "result", operation_id=submitted.body["operation_id"], wait_ms=45_000
    )
    assert found.body is not None
    assert found.body["state"] == "settled", found.body
    report: Any = found.body["report"]
    return dict(report)


def _code(reply: Reply) -> str:
    assert reply.error is not None, reply.body
    return reply.error.code


def _in_pane(test: Callable[[SidecarLab, Pane], Any]) -> None:
    async def main(lab: SidecarLab) -> None:
        await test(lab, await lab.attached())

    in_sidecar_lab(main)


def test_one_submission_runs_once_however_often_it_comes(tmp_path: Path) -> None:
    async def test(lab: SidecarLab, pane: Pane) -> None:
        fields = _PLAIN | {"source": f"echo x >> {tmp_path}/ran"}
        replies: list[Reply] = []

        async def once() -> None:
            replies.append(await _ask(lab, pane, "submit", **fields))

        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(once)
        bodies = [reply.body or {} for reply in replies]
        assert len({str(body["operation_id"]) for body in bodies}) == 1
        assert {body["status"] for body in bodies} == {"accepted"}
        await _settled(lab, pane, replies[0])
        again = await _ask(lab, pane, "submit", **fields)
        assert again.body == {**bodies[0], "state": "settled"}
        assert (tmp_path / "ran").read_text() == "x\n"
        other = await _ask(lab, pane, "submit", **(fields | {"timeout_ms": 1}))
        assert _code(other) == "CONFLICT"

    _in_pane(test)


def test_a_refused_start_may_come_again_with_the_same_id(tmp_path: Path) -> None:
    async def test(lab: SidecarLab, pane: Pane) -> None:
        fields = _PLAIN | {"argv": ["pwd"], "cwd": f"{tmp_path}/later"}
        assert _code(await _ask(lab, pane, "submit", **fields)) == "NOT_FOUND"
        (tmp_path / "later").mkdir()
        report = await _settled(lab, pane, await _ask(lab, pane, "submit", **fields))
        assert report["stdout"]["text"] == f"{tmp_path}/later\n"

    _in_pane(test)


def test_eight_reports_are_kept_and_no_older_one_is_made_up() -> None:
    async def test(lab: SidecarLab, pane: Pane) -> None:
        first = None
        for number in range(1, 10):
            fields = _PLAIN | {"argv": ["true"], "request_id": str(number)}
            submitted = await _ask(lab, pane, "submit", **fields)
            await _settled(lab, pane, submitted)
            first = first or submitted.body
        assert first is not None
        gone = await _ask(lab, pane, "result", operation_id=first["operation_id"])
        assert _code(gone) == "UNKNOWN_OUTCOME"
        fields = _PLAIN | {"argv": ["true"]}
        again = await _ask(lab, pane, "submit", **fields)
        assert again.body == {**first, "state": "settled"}

    _in_pane(test)


def test_nobody_else_reads_or_cancels_it() -> None:
    async def test(lab: SidecarLab, pane: Pane) -> None:
        submitted = await _ask(lab, pane, "submit", argv=["sleep", "1000"], **_PLAIN)
        assert submitted.body is not None
        operation_id = submitted.body["operation_id"]
        for verb in ("result", "cancel"):
            strange = await _ask(lab, pane, verb, operation_id=str(int(str(operation_id)) ^ 1))
            assert _code(strange) == "UNKNOWN_OUTCOME"
        cancelled = await _ask(lab, pane, "cancel", operation_id=operation_id)
        assert cancelled.body is not None
        assert cancelled.body["outcome"] == "requested"
        assert (await _settled(lab, pane, submitted))["outcome"]["kind"] == "cancelled"

    _in_pane(test)


def test_refusals_over_the_bus() -> None:
    async def test(lab: SidecarLab, pane: Pane) -> None:
        for verb in ("watch", "list"):
            refused = await _ask(lab, pane, verb)
            assert refused.error is not None
            assert (refused.error.code, refused.error.details) == (
                "UNSUPPORTED",
                {"reason": "deferred"},
            )
        both = await _ask(lab, pane, "submit", argv=["true"], source="true", **_PLAIN)
        assert _code(both) == "INVALID_ARGUMENT"
        fields = _PLAIN | {"argv": ["true"], "on_behalf_of": "x"}
        assert _code(await _ask(lab, pane, "submit", **fields)) == "INVALID_ARGUMENT"
        stale = target_of(await lab.record(pane)) | {"pane_generation": "9"}
        fields = _PLAIN | {"argv": ["true"], "target": stale}
        assert _code(await _ask(lab, pane, "submit", **fields)) == "STALE_GENERATION"

    _in_pane(test)


def test_an_idle_supervisor_is_small() -> None:
    async def test(lab: SidecarLab, pane: Pane) -> None:
        report = await _settled(lab, pane, await _ask(lab, pane, "submit", argv=["true"], **_PLAIN))
        assert report["survivors_left"] == 0
        (supervisor,) = children_of(pane.forked.pid)
        private = _private_kib(supervisor)
        print("private KiB of an idle supervisor:", private)
        assert private < 5 * 1_024

    _in_pane(test)


def _private_kib(pid: int) -> int:
    """Memory that this process shares with no other."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))
