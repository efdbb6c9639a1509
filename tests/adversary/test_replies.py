"""Other people's replies, names and events: nobody gets, fills or takes what is not theirs."""

from __future__ import annotations

import signal

import pytest

from tests.support.attacks import attacker
from tests.support.broker_process import broker_process
from tests.support.raw_bus import RawPeer, error_of, socket_of


def test_a_new_connection_gets_nothing_of_the_old_one() -> None:
    with broker_process() as broker, RawPeer.open(socket_of(broker)) as server:
        path = socket_of(broker)
        server.serve("svc")
        with RawPeer.open(path) as old:
            first = old.hello()
            old.ask("svc", id="same")
            asked, _, _ = server.receive()
        with RawPeer.open(path) as new:
            assert new.hello() != first
            new.ask("svc", id="same")
            again, _, _ = server.receive()
            server.answer(asked.from_, "same", b"old")
            server.answer(again.from_, "same", b"new")
            assert new.receive()[1] == b"new"
            new.verb("broker.ping")
            assert not new.passed


def test_only_who_was_asked_answers() -> None:
    with (
        broker_process() as broker,
        RawPeer.open(socket_of(broker)) as server,
        RawPeer.open(socket_of(broker)) as client,
        RawPeer.open(socket_of(broker)) as third,
    ):
        server.serve("svc")
        third.serve("other")
        me = client.hello()
        client.ask("svc", id="mine")
        asked, _, _ = server.receive()
        before = server.counts()["unexpected_response"]
        third.answer(me, "mine", b"third")
        third.verb("broker.ping")
        client.answer(me, "mine", b"myself")
        server.answer(me, "another", b"wrong id")
        server.answer("0" * 32, "mine", b"nobody")
        server.answer("svc", "mine", b"a name")
        server.answer(asked.from_, asked.id, b"right")
        server.answer(asked.from_, asked.id, b"twice")
        header, body, _ = client.receive()
        assert (header.from_, body) == (server.hello(), b"right")
        client.verb("broker.ping")
        assert not client.passed
        assert server.counts()["unexpected_response"] == before + 6


def test_directed_events_need_a_welcome() -> None:
    with (
        broker_process() as broker,
        RawPeer.open(socket_of(broker)) as holder,
        RawPeer.open(socket_of(broker)) as reader,
        RawPeer.open(socket_of(broker)) as stranger,
    ):
        me = reader.hello()
        holder.serve("svc")
        stranger.serve("other")
        holder.tell(me, b"not subscribed")
        holder.verb("broker.ping")
        reader.verb("broker.subscribe", b'{"service":"svc"}')
        stranger.tell(me, b"not of that service")
        stranger.verb("broker.ping")
        holder.tell(me, b"welcome")
        assert reader.receive()[1] == b"welcome"
        holder.verb("broker.deregister", b'{"name":"svc"}')
        holder.tell(me, b"no holder any more")
        holder.verb("broker.ping")
        assert reader.counts()["unroutable_event"] == 3
        assert not reader.passed


def test_no_name_is_taken_over_and_a_dead_holders_is_free() -> None:
    with broker_process() as broker, RawPeer.open(socket_of(broker)) as squatter:
        with attacker(broker, "serve", "svc") as holder:
            assert holder.line() == "serving"
            squatter.ask("brokerd", b'{"name":"svc"}', command="broker.register")
            assert error_of(squatter.receive()) == (10, "CONFLICT", "name_in_use")
            squatter.ask("brokerd", b'{"name":"svc"}', command="broker.deregister")
            assert error_of(squatter.receive())[1] == "NOT_FOUND"
            squatter.ask("brokerd", b'{"name":"brokerd"}', command="broker.register")
            assert error_of(squatter.receive())[1] == "INVALID_ARGUMENT"
            squatter.ask("svc", id="waits")
            squatter.verb("broker.ping")
            holder.kill()
        assert error_of(squatter.receive()) == (20, "UNAVAILABLE", "peer_gone")
        squatter.serve("svc")


IDS = {
    "x": True,
    "x" * 128: True,
    "!~": True,
    "": False,
    "x" * 129: False,
    "a b": False,
    " ": False,
    "x\x7f": False,
    "x\n": False,
    "\x00": False,
    "h\u00e9": False,
    "\uff11": False,
}


@pytest.mark.parametrize("given", IDS)
def test_ids_at_their_bounds(given: str) -> None:
    with broker_process() as broker, RawPeer.open(socket_of(broker)) as peer:
        before = peer.counts()["malformed"]
        peer.serve("svc")
        peer.ask("svc", id=given)
        me = peer.hello()
        peer.answer(me, given, b"answer")
        malformed = peer.counts()["malformed"] - before
        got = [header.type for header, _, _ in peer.passed]
        assert (got, malformed) == ((["request", "response"], 0) if IDS[given] else ([], 2))


def test_an_id_in_use_is_refused() -> None:
    with broker_process() as broker, RawPeer.open(socket_of(broker)) as peer:
        peer.serve("svc")
        peer.ask("svc", id="same")
        assert peer.receive()[0].type == "request"
        peer.ask("svc", id="same")
        assert error_of(peer.receive()) == (10, "CONFLICT", "id_in_use")


def test_a_new_broker_delivers_nothing_of_the_old_one() -> None:
    """The socket's buffer dies with the broker, and addresses of the old epoch are nobody's."""
    with broker_process() as broker:
        path = socket_of(broker)
        with RawPeer.open(path) as old:
            old.serve("svc")
            mine, epoch = old.hello(), old.epoch
            broker.send(signal.SIGSTOP)
            old.ask("svc", b"for the old broker")
            broker.kill()
            broker.start()
            with RawPeer.open(path) as new:
                assert new.hello() != mine
                assert new.epoch != epoch
                assert new.verb("broker.list") == {"names": []}
                before = new.counts()
                new.answer(mine, "r", b"stale")
                new.tell(mine, b"stale")
                new.serve("svc")
                after = new.counts()
                assert after["unexpected_response"] == before["unexpected_response"] + 1
                assert after["unroutable_event"] == before["unroutable_event"] + 1
                assert not new.passed
