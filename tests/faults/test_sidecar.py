"""The zygote and its sidecars on a real broker: they prove, hold, resume, and leave nothing."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
import trio

from brokerd.client import SUSPENDED, SessionKey, boottime_ms, connect
from termnode.paneshell.channel import ATTACHED, UNBOUND, WAITING, channel_pair
from termnode.paneshell.client import Ended, ForkFailed, Launch, Zygote, ZygoteLost
from termnode.paneshell.descriptor import NAME
from termnode.paneshell.status import target_of
from tests.support.pty_lab import children_of
from tests.support.sidecar_lab import (
    WITHIN,
    Pane,
    SidecarLab,
    descriptor_of,
    in_sidecar_lab,
    until,
)

MIB = 1024


# A sidecar's life


def test_it_enrols_and_revokes_its_record_when_it_is_told_to_end() -> None:
    async def test(lab: SidecarLab) -> None:
        pane = await lab.attached()
        record = await lab.record(pane)
        assert (record.pane_id, record.binding_generation, record.attached) == (1, 1, True)
        pane.channel.end()
        await pane.wait_end()
        assert await lab.zygote.wait_end(pane.forked.pid) == Ended(0, None)
        assert await _known(lab, record.record_id) == []

    in_sidecar_lab(test)


@pytest.mark.parametrize("how", ["channel", "sigterm"])
def test_it_ends_and_revokes_when_term_is_gone_or_at_sigterm(how: str) -> None:
    async def test(lab: SidecarLab) -> None:
        pane = await lab.attached()
        record = await lab.record(pane)
        if how == "channel":
            pane.channel.close()
        else:
            pane.kill(signal.SIGTERM)
        assert await lab.zygote.wait_end(pane.forked.pid) == Ended(0, None)
        assert await _known(lab, record.record_id) == []

    in_sidecar_lab(test)


@pytest.mark.parametrize("broker", ["killed", "stopped", "never there"])
def test_it_ends_in_time_without_an_answer_of_the_broker(broker: str) -> None:
    async def test(lab: SidecarLab) -> None:
        if broker == "never there":
            key = SessionKey.generate()
            grant, record = await lab.grant(1, key)
            await trio.to_thread.run_sync(lab.broker.kill)
            descriptor = descriptor_of(grant, record, key)
            pane = await lab.launch(descriptor, key=key)
            os.close(descriptor)
        else:
            pane = await lab.attached()
        if broker == "killed":
            await trio.to_thread.run_sync(lab.broker.kill)
            await pane.until(WAITING)
        elif broker == "stopped":
            lab.broker.send(signal.SIGSTOP)
        await _ends(lab, pane)

    in_sidecar_lab(test)


def test_one_that_is_killed_leaves_a_suspended_record() -> None:
    """Also the proof that the tests above see a revocation, and not the mere end of a process."""

    async def test(lab: SidecarLab) -> None:
        pane = await lab.attached()
        record = await lab.record(pane)
        pane.kill()
        assert await lab.zygote.wait_end(pane.forked.pid) == Ended(None, signal.SIGKILL)
        await _until_known(lab, record.record_id, [SUSPENDED])
        await until(lambda: pane.channel.closed, "Term knows by the channel")

    in_sidecar_lab(test)


def test_it_holds_its_record_past_a_lease() -> None:
    async def test(lab: SidecarLab) -> None:
        pane = await lab.attached()
        end = boottime_ms() + 6_500
        await until(lambda: boottime_ms() > end, "the first lease is over")
        record = await lab.record(pane)
        assert (record.binding_generation, record.attached) == (1, True)
        assert (await lab.status(pane)).ok

    in_sidecar_lab(test, "sessions.lease_ms=6000")


def test_without_renewal_the_same_lease_ends() -> None:
    """The mutation of the test above: a sidecar that is stopped does not renew."""

    async def test(lab: SidecarLab) -> None:
        pane = await lab.attached()
        record = await lab.record(pane)
        pane.kill(signal.SIGSTOP)
        await _until_known(lab, record.record_id, [SUSPENDED])
        pane.kill(signal.SIGCONT)
        await until(lambda: pane.channel.state.binding_generation == 2, "a second attachment")
        assert await _known(lab, record.record_id) == [ATTACHED]

    in_sidecar_lab(test, "sessions.lease_ms=6000")


def test_it_enrols_again_when_its_broker_was_killed_and_the_parent_grants_again() -> None:
    async def test(lab: SidecarLab) -> None:
        pane = await lab.attached()
        before = await lab.record(pane)
        await trio.to_thread.run_sync(lab.broker.kill)
        await pane.until(WAITING)
        await trio.to_thread.run_sync(lab.broker.start)
        await until(lambda: lab.bus.connected, "the parent is back")
        _, granted = await lab.grant(1, pane.key)
        await pane.until(ATTACHED, granted.record_id)
        after = await lab.record(pane)
        assert after.broker_epoch != before.broker_epoch
        assert after.parent_instance != before.parent_instance
        assert (await lab.status(pane)).ok

    in_sidecar_lab(test)


def test_it_resumes_when_its_parent_was_suspended_and_resumed() -> None:
    async def test(lab: SidecarLab) -> None:
        pane = await lab.attached()
        await lab.bus.reconnect()
        await until(lambda: pane.channel.state.binding_generation == 2, "a second attachment")
        record = await lab.record(pane)
        assert record.record_id == pane.channel.state.record_id
        assert record.attached

    in_sidecar_lab(test)


# What shell.status says to whom


def test_the_owning_term_gets_the_status_of_the_very_attachment() -> None:
    async def test(lab: SidecarLab) -> None:
        pane = await lab.attached()
        reply = await lab.status(pane)
        body = reply.body or {}
        assert (reply.rc, body["version"]) == (0, 1)
        record = await lab.record(pane)
        for command, request, code in (
            ("shell.jobs", b"{}", "UNSUPPORTED"),
            ("shell.status", b"{}", "INVALID_ARGUMENT"),
            ("shell.status", b" " * 2_049, "INVALID_ARGUMENT"),
        ):
            answer = await lab.bus.request_raw(record.name, command, request, timeout=10)
            assert answer.error is not None
            assert answer.error.code == code
        old = {**target_of(record), "pane_generation": "2"}
        stale = await lab.status(pane, target=old)
        assert stale.error is not None
        assert stale.error.code == "STALE_GENERATION"

    in_sidecar_lab(test)


def test_a_connection_without_a_record_may_ask_and_another_term_may_not() -> None:
    async def test(lab: SidecarLab) -> None:
        pane = await lab.attached()
        async with connect(lab.broker.directory) as other:
            assert (await lab.status(pane, other)).ok
            await other.sessions.allocate(SessionKey.generate())
            denied = await lab.status(pane, other)
            assert denied.error is not None
            assert (denied.error.code, denied.error.details) == ("FORBIDDEN", {})

    in_sidecar_lab(test)


def test_many_who_ask_at_once_are_all_answered() -> None:
    async def test(lab: SidecarLab) -> None:
        pane = await lab.attached()
        record = await lab.record(pane)
        answers: list[bool] = []

        async def ask() -> None:
            answers.append((await lab.status(pane)).ok)

        async with trio.open_nursery() as nursery:
            for _ in range(20):
                nursery.start_soon(ask)
        assert answers == [True] * 20
        assert (await lab.bus.sessions.self_record(record.record_id)).attached

    in_sidecar_lab(test)


# Broken launches


@contextmanager
def _no_descriptor(_good: int) -> Iterator[int | None]:
    yield None


@contextmanager
def _pipe(_good: int) -> Iterator[int | None]:
    reading, writing = os.pipe()
    os.close(writing)
    yield reading
    os.close(reading)


@contextmanager
def _unsealed(good: int) -> Iterator[int | None]:
    made = os.memfd_create(NAME, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(made, os.pread(good, 20_000, 0))
    yield made
    os.close(made)


BROKEN: dict[str, Callable[[int], AbstractContextManager[int | None]]] = {
    "missing": _no_descriptor,
    "broken_fd": _pipe,
    "unsealed": _unsealed,
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_launch_is_said_on_the_terminal_and_leaves_the_pane_unbound(how: str) -> None:
    async def test(lab: SidecarLab) -> None:
        master, slave = os.openpty()
        key = SessionKey.generate()
        grant, record = await lab.grant(1, key)
        good = descriptor_of(grant, record, key)
        try:
            with BROKEN[how](good) as descriptor:
                pane = await lab.launch(descriptor, tty=os.ttyname(slave))
            await pane.until(UNBOUND)
            assert pane.channel.state.reason
            assert b"pane shell: " in os.read(master, 4_096)
            assert await _known(lab, record.record_id) == ["pending"]
            await _ends(lab, pane)
        finally:
            for number in (master, slave, good):
                os.close(number)

    in_sidecar_lab(test)


def test_a_launch_for_another_pane_is_a_broken_one() -> None:
    async def test(lab: SidecarLab) -> None:
        key = SessionKey.generate()
        grant, record = await lab.grant(1, key)
        good = descriptor_of(grant, record, key)
        wrong = await lab.launch(good, 2)
        await wrong.until(UNBOUND)
        right = await lab.launch(good, 1)
        os.close(good)
        await right.until(ATTACHED)

    in_sidecar_lab(test)


@pytest.mark.parametrize("how", ["expired", "cancelled", "wrong_grant"])
def test_a_grant_that_the_broker_refuses_waits_for_another_of_the_same_key(how: str) -> None:
    async def test(lab: SidecarLab) -> None:
        key = SessionKey.generate()
        grant, record = await lab.grant(1, key)
        if how == "cancelled":
            await lab.bus.sessions.revoke(record.ref)
        elif how == "expired":
            await _until_known(lab, record.record_id, [])
        else:
            await lab.bus.sessions.revoke(record.ref)
            other = SessionKey.generate()
            await lab.grant(1, other)
        descriptor = descriptor_of(grant, record, key)
        pane = await lab.launch(descriptor, key=key)
        os.close(descriptor)
        await pane.until(WAITING)
        _, again = await lab.grant(1, key)
        await pane.until(ATTACHED, again.record_id)

    in_sidecar_lab(test, *(["sessions.grant_ms=3000"] if how == "expired" else []))


# The zygote


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_sidecars_outlive_a_zygote_that_is_killed(number: signal.Signals) -> None:
    async def test(lab: SidecarLab) -> None:
        pane = await lab.attached()
        lab.zygote.process.send_signal(number)
        await until(lambda: lab.zygote.lost, "the zygote is lost")
        assert (await lab.status(pane)).ok
        ours, theirs = channel_pair()
        with ours, theirs, pytest.raises(ZygoteLost):
            await lab.zygote.fork(Launch("/", 1, None, 1, "/", "term"), None, theirs)
        with pytest.raises(ZygoteLost):
            await lab.zygote.wait_end(pane.forked.pid)
        async with Zygote.start() as zygote:
            lab.zygote = zygote
            await lab.attached(2)
        pane.channel.close()
        await pane.wait_end()

    in_sidecar_lab(test)


def test_a_zygote_whose_term_is_gone_ends_its_sidecars_and_reaps_them() -> None:
    async def test(lab: SidecarLab) -> None:
        async with Zygote.start() as zygote:
            lab.zygote = zygote
            panes = [await lab.attached(number) for number in (1, 2)]
        for pane in panes:
            await pane.wait_end()
        assert zygote.process.returncode == 0

    in_sidecar_lab(test)


def test_a_launch_that_is_none_is_refused_and_forks_nothing() -> None:
    async def test(lab: SidecarLab) -> None:
        ours, theirs = channel_pair()
        with ours, theirs:
            for launch in (
                Launch("relative", 1, None, 1, "/", "term"),
                Launch("/", 0, None, 1, "/", "term"),
            ):
                with pytest.raises(ForkFailed) as caught:
                    await lab.zygote.fork(launch, None, theirs)
                assert caught.value.code == "INVALID_ARGUMENT"
            with pytest.raises(ForkFailed) as caught:
                await lab.zygote.fork(
                    Launch("/" + "x" * 20_000, 1, None, 1, "/", "t"), None, theirs
                )
            assert caught.value.code == "RESOURCE_LIMIT"
        assert children_of(lab.zygote.process.pid) == []
        await lab.zygote.ping()

    in_sidecar_lab(test)


def test_a_caller_that_is_cancelled_leaves_no_descriptor_and_no_sidecar() -> None:
    async def test(lab: SidecarLab) -> None:
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            ours, theirs = channel_pair()
            with ours, theirs:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(_fork_one, lab, theirs)
                    await trio.lowlevel.checkpoint()
                    nursery.cancel_scope.cancel()
        await lab.zygote.ping()
        await until(lambda: not children_of(lab.zygote.process.pid), "no sidecar is left")
        assert len(os.listdir("/proc/self/fd")) == before

    in_sidecar_lab(test)


def test_a_sidecar_has_its_own_descriptors_session_and_name_alone() -> None:
    async def test(lab: SidecarLab) -> None:
        await lab.attached(1)
        pane = await lab.launch(None, 2)
        await pane.until(UNBOUND)
        pid, zygote = pane.forked.pid, lab.zygote.process.pid
        _has_its_own_descriptors(pid, zygote)
        with pytest.raises(AssertionError):  # the same of a process that has the zygote's
            _has_its_own_descriptors(zygote, zygote)
        assert os.getsid(pid) == pid
        assert _proc(pid, "comm") == "pane-shell-2\n"
        assert "COSMIX" not in _proc(pid, "environ")

    in_sidecar_lab(test)


def test_ten_sidecars_take_little_memory_of_their_own() -> None:
    async def test(lab: SidecarLab) -> None:
        panes = [await lab.attached(number) for number in range(1, 11)]
        for pane in panes:
            assert (await lab.status(pane)).ok
        sizes = [_private_kib(pane.forked.pid) for pane in panes]
        print("private KiB:", sizes, "zygote:", _private_kib(lab.zygote.process.pid))
        assert max(sizes) < 8 * MIB

    in_sidecar_lab(test)


def test_a_hundred_sidecars_come_and_go_and_leave_nothing() -> None:
    async def test(lab: SidecarLab) -> None:
        await _come_and_go(lab, 1)
        here, there = len(os.listdir("/proc/self/fd")), len(_links(lab.zygote.process.pid))
        broker = len(_links(lab.broker.pid))
        for first in (1, 26, 51, 76):  # a Term has at most 32 grants under way
            async with trio.open_nursery() as nursery:
                for number in range(first, first + 25):
                    nursery.start_soon(_come_and_go, lab, number)
        await until(lambda: not children_of(lab.zygote.process.pid), "no sidecar is left")
        assert len(os.listdir("/proc/self/fd")) == here
        assert len(_links(lab.zygote.process.pid)) == there
        await until(lambda: len(_links(lab.broker.pid)) <= broker, "no connection is left")
        records = await lab.bus.sessions.list()
        assert [record.role for record in records] == ["term"]

    in_sidecar_lab(test, within=2 * WITHIN)


async def _come_and_go(lab: SidecarLab, number: int) -> None:
    pane = await lab.attached(number)
    await _ends(lab, pane)
    lab.panes.remove(pane)
    os.close(pane.forked.pidfd)


async def _ends(lab: SidecarLab, pane: Pane) -> None:
    pane.channel.end()
    assert await lab.zygote.wait_end(pane.forked.pid) == Ended(0, None)
    await until(lambda: pane.channel.closed, "the channel is closed")


async def _fork_one(lab: SidecarLab, theirs: socket.socket) -> None:
    forked = await lab.zygote.fork(
        Launch(str(lab.broker.directory), 1, None, 1, "/", "term"), None, theirs
    )
    os.close(forked.pidfd)


async def _known(lab: SidecarLab, record_id: str) -> list[str]:
    """The states of the records of that id: none once it was revoked."""
    records = await lab.bus.sessions.list()
    return [record.state for record in records if record.record_id == record_id]


async def _until_known(lab: SidecarLab, record_id: str, states: list[str]) -> None:
    while await _known(lab, record_id) != states:  # noqa: ASYNC110  # nothing announces it here
        await trio.sleep(0.01)


def _has_its_own_descriptors(pid: int, zygote: int) -> None:
    links = _links(pid)
    assert links.pop("0") == links.pop("1") == "/dev/null"
    assert not any("memfd" in link or "/pts/" in link for link in links.values())
    own = {link for link in links.values() if link.startswith("socket:")}
    assert not own & set(_links(zygote).values())


def _proc(pid: int, name: str) -> str:
    return Path(f"/proc/{pid}/{name}").read_text()


def _links(pid: int) -> dict[str, str]:
    directory = f"/proc/{pid}/fd"
    return {name: os.readlink(f"{directory}/{name}") for name in os.listdir(directory)}


def _private_kib(pid: int) -> int:
    """Memory that this process shares with no other."""
    lines = _proc(pid, "smaps_rollup").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))
