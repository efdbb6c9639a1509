"""The bus in memory: other users, slow peers, virtual time, and the end of the broker."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from brokerd import wire
from brokerd.client import (
    RC_OK,
    BrokerLost,
    Bus,
    ForeignBroker,
    Limits,
    NameTaken,
    NotConnected,
    Refusal,
    Refused,
    Request,
    RequestTimeout,
)
from brokerd.client.memory import MemoryBroker
from brokerd.client.watch import check_owner
from brokerd.core.broker import BrokerCore
from brokerd.principal import PeerCredentials

STRANGER = PeerCredentials(uid=4_001, gid=4_001, pid=77)
SAME_USER = PeerCredentials(os.geteuid(), os.getegid(), os.getpid())


async def echo(request: Request) -> tuple[int, bytes]:
    return RC_OK, request.raw


def run(test: Callable[[], Awaitable[None]]) -> None:
    trio.run(test, clock=MockClock(autojump_threshold=0))


def test_a_peer_may_be_another_user() -> None:
    async def main() -> None:
        memory = MemoryBroker()
        async with memory.connect() as mine, memory.connect(peer=STRANGER) as theirs:
            async with mine.listen("svc") as requests, trio.open_nursery() as nursery:
                nursery.start_soon(theirs.request, "svc", "svc.x")
                request = await requests.__anext__()
                assert request.principal is not None
                assert request.principal.unix_uid == STRANGER.uid
                request.respond(RC_OK, {})
            with pytest.raises(Refused, match="FORBIDDEN"):
                async with theirs.subscribe_service("svc"):
                    pass
        memory.core.verify()

    run(main)


def test_a_stalled_peer_is_answered_for_by_nobody_and_catches_up() -> None:
    async def main() -> None:
        memory = MemoryBroker()
        async with (
            memory.connect() as server,
            memory.connect() as client,
            server.serve("svc", echo),
        ):
            memory.stall(server)
            with pytest.raises(RequestTimeout):
                await client.request("svc", "svc.x", timeout=60)
            memory.stall(server, stalled=False)
            assert (await client.request_raw("svc", "svc.x", b"y")).raw == b"y"
            assert client.statistics().counters == {"late": 1}

    run(main)


def test_the_brokers_own_deadline_comes_in_virtual_time() -> None:
    async def main() -> None:
        memory = MemoryBroker(limits=Limits(pending_ms=1_000))
        async with memory.connect() as server, memory.connect() as client, server.listen("svc"):
            reply = await client.request("svc", "svc.x", timeout=None)
            assert reply.error is not None
            assert reply.error.details == {"reason": "pending_expired"}

    run(main)


def test_the_broker_may_refuse_a_connection() -> None:
    async def main() -> None:
        memory = MemoryBroker(limits=Limits(connections_per_uid=1))
        async with memory.connect():
            with pytest.raises(Refusal):
                async with memory.connect():
                    raise AssertionError("one too many")

    run(main)


def test_everything_is_given_back() -> None:
    async def main() -> None:
        memory = MemoryBroker()
        for _ in range(3):
            async with memory.connect() as bus, bus.serve("svc", echo), bus.subscribe("t"):
                await bus.request("svc", "svc.x")
        held = memory.core.statistics()
        kept = ("connections", "names", "subscriptions", "pending", "queued_messages")
        assert [held[key] for key in kept] == [0, 0, 0, 0, 0]

    run(main)


def test_kill_and_restart() -> None:
    async def main() -> None:
        memory = MemoryBroker()
        async with memory.connect() as bus, bus.listen("svc"):
            epoch = bus.broker_epoch
            async with trio.open_nursery() as nursery:

                async def ask() -> None:
                    with pytest.raises(BrokerLost):
                        await bus.request("svc", "svc.x")

                nursery.start_soon(ask)
                await wait_all_tasks_blocked()
                memory.kill()
            assert not bus.connected
            with pytest.raises(NotConnected):
                await bus.publish("t", 1)
            with pytest.raises(NotConnected):
                async with bus.subscribe("t"):
                    raise AssertionError("there is no broker")
            memory.restart()
            assert await bus.wait_epoch_change(epoch) != epoch
            assert bus.statistics().names == ("svc",)
            assert bus.statistics().subscriptions == 0

    run(main)


def test_a_name_lost_to_another_ends_the_service() -> None:
    async def main() -> None:
        memory = MemoryBroker()
        async with memory.connect() as bus:
            with pytest.raises(NameTaken):
                await serve_until_taken(memory, bus)
            memory.restart()
            async with bus.listen("svc") as requests:
                memory.restart(first=take_name)
                with pytest.raises(NameTaken):
                    await requests.__anext__()
            assert bus.connected

    async def serve_until_taken(memory: MemoryBroker, bus: Bus) -> None:
        async with bus.serve("svc", echo):
            memory.restart(first=take_name)
            await trio.sleep_forever()

    def take_name(core: BrokerCore) -> None:
        """By a connection that is there before the others come back."""
        fields = {"v": 1, "type": "request", "id": "r", "to": wire.BROKER}
        header = wire.encode_header({**fields, "command": "broker.register"})
        core.receive(core.accept(SAME_USER, 0), (header, b'{"name":"svc"}'), 0)

    run(main)


@pytest.mark.parametrize("address", ["", "localhost", "localhost:4001:0:1", "localhost:65534:0:1"])
def test_a_broker_of_another_user_is_refused(address: str) -> None:
    with pytest.raises(ForeignBroker, match="set COSMIX_RUNTIME_DIR"):
        check_owner(address)


def test_a_broker_of_root_or_our_own_is_accepted() -> None:
    assert check_owner("localhost:0:5:12") == 12
    assert check_owner(f"localhost:{os.geteuid()}:5:13") == 13
