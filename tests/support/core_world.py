"""A broker's core with a clock that the test moves, and what its peers say, hold and hear."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any

from brokerd.bodies import Json
from brokerd.core import BrokerCore, PeerCredentials
from brokerd.encodings import CAPABILITIES, Proof, allocation_transcript
from brokerd.keys import SessionKey
from brokerd.limits import DEFAULTS, Limits
from brokerd.peers import NodePeer
from brokerd.principal import Principal
from brokerd.wire import Header, decode_header, encode_header

Answer = dict[str, Any]

EPOCH = "e" * 32


@lru_cache
def key_number(number: int) -> SessionKey:
    """One of a handful of keys: making one takes longer than most of what is tested."""
    return SessionKey.from_seed(number.to_bytes(32, "big"))


class World:
    """One core, and what its peers say and hear."""

    def __init__(self, limits: Limits = DEFAULTS, observable: frozenset[str] = frozenset()) -> None:
        self.now = 1_000
        self.core = BrokerCore(
            epoch="e" * 32,
            node="here",
            uid=7,
            pid=1,
            limits=limits,
            now_ms=self.now,
            observable=observable,
        )

    def connect(self, uid: int = 7, pid: int = 100) -> str:
        return self.core.accept(PeerCredentials(uid, uid, pid), self.now)

    def connect_node(self, node: str = "there") -> str:
        return self.core.accept(NodePeer(node, "k" * 40), self.now)

    def send(self, who: str, body: object = None, **fields: object) -> None:
        raw = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
        self.core.receive(who, [encode_header({"v": 1, **fields}), raw], self.now)
        self.core.verify()

    def ask(self, who: str, to: str, body: object = None, id: str = "r", **more: object) -> None:  # noqa: A002
        self.send(who, body, type="request", id=id, to=to, **{"command": "x.y", **more})

    def take(self, who: str) -> tuple[Header, bytes, bytes]:
        frames = self.core.take(who)
        assert frames is not None, "nothing was sent"
        return decode_header(frames[0], from_broker=True), frames[1], frames[2]

    def verb(self, who: str, command: str, body: object = None) -> dict[str, object]:
        """Use a verb of the broker: its result, or its refusal, is the next thing heard."""
        self.ask(who, "brokerd", body, command=command)
        header, raw, stamp = self.take(who)
        assert (header.from_, stamp, header.to) == ("brokerd", b"", who)
        answer: dict[str, object] = json.loads(raw)
        assert (header.rc == 0) == ("error_code" not in answer)
        return answer

    def later(self, milliseconds: int) -> None:
        self.now += milliseconds
        self.core.tick(self.now)
        self.core.verify()

    def reason(self, who: str) -> tuple[int | None, object, object]:
        header, raw, _ = self.take(who)
        body = json.loads(raw)
        return header.rc, body["error_code"], body["details"].get("reason")


@dataclass
class Held:
    """A record that a connection of the world holds."""

    at: str
    key: SessionKey
    record: dict[str, Json]

    @property
    def name(self) -> str:
        return str(self.record["name"])

    @property
    def ref(self) -> dict[str, Json]:
        return {key: self.record[key] for key in ("record_id", "incarnation", "binding_generation")}


class SessionWorld(World):
    """The same, with what it takes to hold records."""

    def __init__(self, limits: Limits = DEFAULTS, observable: frozenset[str] = frozenset()) -> None:
        super().__init__(limits, observable)
        self.keys = (key_number(each) for each in count(1))
        self.ids = count(1)
        self.notices: dict[str, list[tuple[str | None, Answer]]] = {}

    def take(self, who: str) -> tuple[Header, bytes, bytes]:
        """The next message that is no notice; those are noted."""
        header, body, stamp = super().take(who)
        while (header.command or "").startswith("session.lifecycle"):
            self.notices.setdefault(who, []).append((header.command, json.loads(body)))
            header, body, stamp = super().take(who)
        return header, body, stamp

    def mutate(self, who: str, command: str, body: object, number: int | None = None) -> Answer:
        """Use a retained mutation: its answer."""
        request_id = str(next(self.ids) if number is None else number)
        self.ask(who, "brokerd", body, id=request_id, command=command)
        answer: Answer = json.loads(self.take(who)[1])
        return answer

    def allocation(self, who: str, key: SessionKey, policy: str = "default-open") -> Answer:
        signed = key.sign(allocation_transcript(EPOCH, who, key.public_key, policy))
        return {"public_key": key.public_key.hex(), "signature": signed.hex(), "policy": policy}

    def term(self, uid: int = 7) -> Held:
        """A new connection that holds a new Term record."""
        return self.bind(self.connect(uid))

    def bind(self, who: str) -> Held:
        """Have ``who`` hold a new Term record."""
        key = next(self.keys)
        answer = self.mutate(who, "session.allocate", self.allocation(who, key))
        return Held(who, key, answer["record"])

    def grant(self, parent: Held, pane: int = 1, generation: int = 1) -> tuple[SessionKey, Answer]:
        """Leave for a new key to enrol as the shell of a pane."""
        key = next(self.keys)
        body = {
            "parent": parent.ref,
            "pane_id": str(pane),
            "pane_generation": str(generation),
            "public_key": key.public_key.hex(),
            "role": "pane-shell",
            "capabilities": list(CAPABILITIES),
        }
        answer = self.mutate(parent.at, "session.grant.create", body)
        assert "grant" in answer, answer
        return key, answer

    def challenge(self, who: str, key: SessionKey) -> Proof:
        body = {"public_key": key.public_key.hex(), "purpose": "enrol"}
        answer = self.verb(who, "session.challenge", body)
        told = dict(answer["challenge"])  # type: ignore[call-overload]  # a refusal has none
        told.pop("wake_error")
        proof = Proof.from_json(told)
        assert proof is not None
        return proof

    def prove(self, who: str, key: SessionKey) -> Held:
        """Hold the record of ``key`` at ``who``."""
        proof = self.challenge(who, key)
        signature = key.sign(proof.transcript()).hex()
        body = {"challenge_id": proof.challenge_id, "signature": signature}
        answer = self.verb(who, "session.prove", body)
        assert "record" in answer, answer
        return Held(who, key, answer["record"])  # type: ignore[arg-type]  # JSON

    def shell(self, parent: Held, pane: int = 1) -> Held:
        """A new connection that holds the record of a pane of ``parent``."""
        key, _ = self.grant(parent, pane)
        held = self.prove(self.connect(), key)
        self.hear(parent.at)
        return held

    def hear(self, who: str) -> list[tuple[str, Answer]]:
        """Everything that waits for ``who``: commands (or types) and bodies."""
        heard = []
        while (frames := self.core.take(who)) is not None:
            header = decode_header(frames[0], from_broker=True)
            heard.append((header.command or header.type, json.loads(frames[1])))
        self.core.verify()
        return heard

    def principal(self, who: str) -> Principal | None:
        """Whose the next message is that ``who`` hears."""
        return Principal.from_stamp(self.take(who)[2])
