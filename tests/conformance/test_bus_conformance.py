"""What every bus promises: the same tests in memory and against a real broker."""

from __future__ import annotations

import pytest
import trio

from brokerd import wire
from brokerd.client import (
    RC_OK,
    BrokerLost,
    Bus,
    DirectedEvent,
    ErrorCode,
    Event,
    Events,
    NameTaken,
    NotConnected,
    Refusal,
    Refused,
    Reply,
    Request,
    RequestTimeout,
    forbidden,
)
from tests.support.bus_labs import Lab, eventually, on_both_buses

Answer = tuple[int, bytes | dict[str, object]]


async def echo(request: Request) -> Answer:
    return RC_OK, request.raw


def reason(reply: Reply) -> tuple[str, object]:
    assert reply.error is not None
    return reply.error.code, reply.error.details.get("reason")


async def next_event(events: Events) -> Event:
    return await events.__anext__()


@on_both_buses
async def test_hello_tells_epoch_and_connection(lab: Lab) -> None:
    async with lab.connect() as a, lab.connect() as b:
        assert a.broker_epoch == b.broker_epoch
        assert a.connection_id != b.connection_id
        assert wire.CONNECTION_ID.fullmatch(a.broker_epoch)
        assert wire.CONNECTION_ID.fullmatch(a.connection_id)


@on_both_buses
async def test_the_brokers_own_verbs(lab: Lab) -> None:
    async with lab.connect() as bus, bus.listen("alpha"), bus.listen("beta"):
        listed = (await bus.request("brokerd", "broker.list")).body
        assert listed is not None
        names = listed["names"]
        assert isinstance(names, list)
        assert [entry["name"] for entry in names if isinstance(entry, dict)] == ["alpha", "beta"]
        info = (await bus.request("brokerd", "broker.info")).body
        assert info is not None
        assert info["broker_epoch"] == bus.broker_epoch
        pong = await bus.request("brokerd", "broker.ping")
        assert (pong.body, pong.sender) == ({"pong": True}, None)
        assert reason(await bus.request("brokerd", "broker.nonsense"))[0] == ErrorCode.UNSUPPORTED
        refused = await bus.request("brokerd", "broker.ping", {"unknown": 1})
        assert reason(refused)[0] == ErrorCode.INVALID_ARGUMENT


@on_both_buses
async def test_a_name_is_free_again_after_listening(lab: Lab) -> None:
    async with lab.connect() as bus, lab.connect() as other:
        async with bus.listen("alpha"):
            pass
        await bus.request("brokerd", "broker.ping")
        async with other.listen("alpha"):
            assert other.statistics().names == ("alpha",)


@on_both_buses
async def test_a_request_carries_the_stamped_principal_and_its_bytes(lab: Lab) -> None:
    blob = bytes(range(256)) * 64
    async with lab.connect() as server, lab.connect() as client:

        async def handler(request: Request) -> Answer:
            assert request.raw == blob
            assert request.principal is not None
            assert request.principal.connection_id == client.connection_id
            assert request.principal.broker_epoch == client.broker_epoch
            assert request.from_connection == client.connection_id
            return RC_OK, request.raw[::-1]

        async with server.serve("blob", handler):
            reply = await client.request_raw("blob", "blob.turn", blob)
            assert (reply.rc, reply.raw, reply.body) == (RC_OK, blob[::-1], None)
            assert reply.sender is not None
            assert reply.sender.connection_id == server.connection_id


@on_both_buses
async def test_requests_and_answers_keep_their_order(lab: Lab) -> None:
    async with lab.connect() as server, server.listen("order", capacity=100) as requests:
        peer = lab.peer()
        await peer.hello()
        for number in range(60):
            peer.ask(str(number), "order", "order.next", {"n": number})
        seen = []
        async for request in requests:
            seen.append(request.body()["n"])
            assert request.respond(RC_OK, {"n": len(seen)})
            if len(seen) == 60:
                break
        answers = [(await peer.receive())[0].id for _ in range(60)]
        assert seen == list(range(60))
        assert answers == [str(number) for number in range(60)]


@on_both_buses
async def test_refusals_are_replies(lab: Lab) -> None:
    async def handler(request: Request) -> Answer:
        if request.command == "no.way":
            raise forbidden()
        if request.command == "no.luck":
            raise RuntimeError("canary")
        if request.command == "too.much":
            return RC_OK, b"x" * 2_000_000
        raise Refusal(ErrorCode.BUSY, "busy now; try again later", retry_after_ms=5)

    async with lab.connect() as server, lab.connect() as client, server.serve("no", handler):
        assert (await client.request("no", "no.way")).rc == 10
        busy = await client.request("no", "no.time")
        assert busy.error is not None
        assert (busy.error.code, busy.error.details) == ("BUSY", {"retry_after_ms": 5})
        failed = await client.request("no", "no.luck")
        assert (failed.rc, reason(failed)) == (20, ("UNAVAILABLE", "handler_failed"))
        assert b"canary" not in failed.raw
        too_much = await client.request("no", "too.much")
        assert reason(too_much) == ("RESOURCE_LIMIT", "reply_too_large")


@on_both_buses
async def test_a_name_has_one_holder(lab: Lab) -> None:
    async with lab.connect() as holder, lab.connect() as other, holder.serve("mine", echo):
        for bus in (holder, other):
            with pytest.raises(NameTaken) as taken:
                async with bus.listen("mine"):
                    raise AssertionError("the name was given twice")
            assert taken.value.name == "mine"
        assert (await other.request_raw("mine", "mine.x", b"still here")).raw == b"still here"
        with pytest.raises(Refused) as refused:
            async with other.listen("Not A Name"):
                raise AssertionError("a bad name was taken")
        assert refused.value.code == ErrorCode.INVALID_ARGUMENT


@on_both_buses
async def test_unknown_service(lab: Lab) -> None:
    async with lab.connect() as bus:
        reply = await bus.request("nobody", "nobody.x")
        assert (reply.rc, reason(reply)) == (20, ("UNAVAILABLE", "not_registered"))


@on_both_buses
async def test_a_server_that_leaves_is_told_to_its_requesters(lab: Lab) -> None:
    replies: list[Reply] = []

    async def ask(client: Bus) -> None:
        replies.append(await client.request("leaver", "leaver.x", timeout=None))

    async with (
        lab.connect() as client,
        trio.open_nursery() as nursery,
        lab.connect() as server,
        server.listen("leaver") as requests,
    ):
        nursery.start_soon(ask, client)
        await requests.__anext__()
    assert reason(replies[0])[0] == ErrorCode.UNAVAILABLE
    assert reason(replies[0])[1] in {"deregistered", "peer_gone"}


@on_both_buses
async def test_a_full_server_refuses(lab: Lab) -> None:
    async with lab.connect() as server, server.listen("full", capacity=2) as requests:
        peer = lab.peer()
        await peer.hello()
        for number in range(5):
            peer.ask(str(number), "full", "full.x")
        refused = [await peer.receive() for _ in range(3)]
        assert [header.id for header, _, _ in refused] == ["2", "3", "4"]
        assert all(b"RESOURCE_LIMIT" in body for _, body, _ in refused)
        assert len(requests) == 2
        (await requests.__anext__()).respond(RC_OK, {})
        assert (await peer.receive())[0].id == "0"


@on_both_buses
async def test_at_most_so_many_handlers_run(lab: Lab) -> None:
    running = most = 0
    gate = trio.Event()

    async def handler(request: Request) -> Answer:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await gate.wait()
        running -= 1
        return RC_OK, b""

    async with (
        lab.connect() as server,
        lab.connect() as client,
        server.serve("few", handler, concurrency=2, capacity=10),
    ):
        async with trio.open_nursery() as nursery:
            for _ in range(6):
                nursery.start_soon(client.request, "few", "few.x")
            await eventually(server, lambda: running == 2)
            gate.set()
        assert (most, running) == (2, 0)


@on_both_buses
async def test_topics_have_a_latest_value(lab: Lab) -> None:
    async with lab.connect() as publisher, lab.connect() as reader:
        async with reader.subscribe("weather") as events:
            assert await publisher.publish("weather", "rain") == 1
            assert await next_event(events) == Event("weather", 1, "rain")
            for value in range(20):
                await publisher.publish("weather", [value, None, {"x": 1.5}])
            await eventually(reader, lambda: events.latest_seq == 21)
            assert await next_event(events) == Event("weather", 21, [19, None, {"x": 1.5}])
        async with reader.subscribe("weather") as again, reader.subscribe("weather") as twice:
            for stream in (again, twice):
                assert (await next_event(stream)).seq == 21
        await reader.request("brokerd", "broker.ping")  # behind its unsubscription
        published = await publisher.request(
            "brokerd", "broker.publish", {"topic": "weather", "value": 0}
        )
        assert published.body == {"topic": "weather", "seq": 22, "delivered": 0, "dropped": 0}


@on_both_buses
async def test_a_topic_is_stale_without_its_publisher(lab: Lab) -> None:
    async with lab.connect() as reader:
        async with lab.connect() as publisher:
            await publisher.publish("news", 1)
        async with reader.subscribe("news") as events:
            assert await next_event(events) == Event("news", 1, 1, stale=True)


@on_both_buses
async def test_two_streams_of_one_topic_end_apart(lab: Lab) -> None:
    async with (
        lab.connect() as publisher,
        lab.connect() as reader,
        reader.subscribe("pair") as stays,
    ):
        async with reader.subscribe("pair"):
            pass
        await publisher.publish("pair", "seen")
        assert (await next_event(stays)).value == "seen"


@on_both_buses
async def test_directed_events_reach_subscribers_alone(lab: Lab) -> None:
    async with lab.connect() as server, lab.connect() as client, server.listen("svc"):
        stranger = lab.peer()
        await stranger.hello()
        async with client.subscribe_service("svc") as events:
            assert server.send_event(stranger.connection_id, "svc.secret", {"n": 0})
            assert server.send_event(client.connection_id, "svc.changed", {"n": 1})
            assert client.send_event(server.connection_id, "svc.forged", {})
            event = await events.__anext__()
            assert isinstance(event, DirectedEvent)
            assert (event.command, event.body, event.gap) == ("svc.changed", {"n": 1}, False)
            assert event.sender is not None
            assert event.sender.connection_id == server.connection_id
        # Both sides are in order: had the stranger been sent the event, it would come first.
        await server.request("brokerd", "broker.ping")
        assert await stranger.tell("broker.ping") == {"pong": True}


@on_both_buses
async def test_only_the_broker_writes_its_keys(lab: Lab) -> None:
    async with lab.connect() as server, server.listen("strip") as requests:
        peer = lab.peer()
        await peer.hello()
        forged = {"from": wire.BROKER, "From": server.connection_id, "SEQ": 7, "topic": 1, "Gap": 0}
        fields = {"type": "request", "id": "r", "to": "strip", "command": "strip.x"}
        peer.send({**fields, **forged})
        request = await requests.__anext__()
        assert request.from_connection == peer.connection_id
        assert request.principal is not None
        assert request.principal.connection_id == peer.connection_id
        request.respond(RC_OK, {})
        assert (await peer.receive())[0].rc == 0
        peer.send({**fields, "colour": "red"})
        header, body, _ = await peer.receive()
        assert (header.from_, header.rc) == (wire.BROKER, 10)
        assert b"INVALID_ARGUMENT" in body
        assert b"colour" not in body


@on_both_buses
async def test_timeouts_are_typed_and_late_answers_harmless(lab: Lab) -> None:
    async with (
        lab.connect() as server,
        lab.connect() as client,
        server.listen("slow") as requests,
    ):
        with pytest.raises(RequestTimeout) as timed_out:
            await client.request("slow", "slow.x", timeout=0.1)
        assert timed_out.value.seconds == 0.1
        request = await requests.__anext__()
        assert request.respond(RC_OK, {"late": True})
        assert not request.respond(RC_OK, {"late": True})
        await eventually(client, lambda: client.statistics().counters.get("late") == 1)
        assert client.statistics().pending == 0


@on_both_buses
async def test_a_broker_restart_is_told_and_survived(lab: Lab) -> None:
    lost: list[BrokerLost] = []

    async def ask(client: Bus) -> None:
        try:
            await client.request("hole", "hole.x", timeout=None)
        except BrokerLost as error:
            lost.append(error)

    async with (
        lab.connect() as server,
        lab.connect() as client,
        server.serve("again", echo),
        server.listen("hole") as hole,
        client.subscribe("topic") as events,
    ):
        old = client.broker_epoch
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask, client)
            request = await hole.__anext__()
            await lab.kill()
        assert lost[0].epoch == old
        with pytest.raises(NotConnected):
            await client.request("again", "again.x")
        await lab.start()
        new = await client.wait_epoch_change(old)
        assert await server.wait_epoch_change(old) == new != old
        assert not request.respond(RC_OK, {})
        while not (reply := await client.request_raw("again", "again.x", b"!")).ok:
            assert reason(reply)[1] == "not_registered"
        assert reply.raw == b"!"
        await server.publish("topic", "new")
        event = await next_event(events)
        assert (event.value, event.gap) == ("new", True)


@on_both_buses
async def test_a_slow_peer_delays_nobody_and_sees_the_gap(lab: Lab) -> None:
    async with (
        lab.connect() as server,
        lab.connect() as client,
        server.serve("svc", echo),
        client.subscribe("topic") as events,
    ):
        slow = lab.peer()
        await slow.hello()
        await slow.tell("broker.subscribe", {"service": "svc"})
        await slow.tell("broker.subscribe", {"topic": "topic"})
        filler = b"x" * 16_384
        for number in range(1_500):
            server.send_event(slow.connection_id, "svc.fill", filler)
            if number % 50 == 0:
                await server.publish("topic", number)
                assert (await client.request_raw("svc", "svc.x", b"quick")).raw == b"quick"
        await eventually(client, lambda: events.latest_seq == 30)
        assert (await next_event(events)).value == 1_450
        # Whatever is queued after the drops is flagged: at the latest the answer to a question
        # that is asked when there is room again.
        while True:
            header, _, _ = await slow.receive()
            if header.gap:
                break
            slow.ask("room", wire.BROKER, "broker.ping")


@on_both_buses
async def test_attending_answers_in_order_and_survives_a_failing_request(lab: Lab) -> None:
    taken: list[bytes] = []

    def take(request: Request) -> None:
        taken.append(request.raw)
        if request.command == "fail":
            raise ValueError("not to be seen by the caller")
        request.respond(RC_OK, request.raw)

    async with lab.connect() as server, lab.connect() as caller, server.attend("name", take):
        first = await caller.request_raw("name", "echo", b"1")
        failed = await caller.request_raw("name", "fail", b"2")
        last = await caller.request_raw("name", "echo", b"3")
        assert (first.raw, last.raw) == (b"1", b"3")
        assert reason(failed) == ("UNAVAILABLE", "handler_failed")
        assert b"not to be seen" not in failed.raw
        assert taken == [b"1", b"2", b"3"]
        with pytest.raises(NameTaken):
            async with caller.attend("name", take):
                pass
