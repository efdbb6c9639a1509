"""A hand-made client of verified sessions over raw ZMTP: the oracle of what the broker may do.

It writes its own transcripts and signs with the library directly. Nothing of the client, and
nothing of the broker's encodings, is in it; every answer is held to the contract's exact fields.

``python -m tests.support.session_peer SOCKET SEED`` is one of its own that enrols the key of that
seed, says its record in one line, and holds it until it is ended.
"""

from __future__ import annotations

import hashlib
import json
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from brokerd.wire import BROKER, EVENT, RESPONSE, Header
from tests.support.raw_bus import Delivery, RawPeer
from tests.support.zmtp import PATIENCE

ROOT = Path(__file__).parents[2]
Fields: TypeAlias = "dict[str, Any]"

ALL = ("execute", "input", "manage_layout", "read_contents", "read_state", "terminate")


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


RECORD = words(
    "name record_assurance owner_node owner_uid broker_epoch record_id instance_id incarnation role"
    " parent_instance parent_incarnation pane_id pane_generation binding_generation state"
    " capabilities policy lease_remaining_ms"
)
GRANT = words("grant_id record_id incarnation public_key parent_key_hash expires_ms state")
CHALLENGE = words(
    "purpose broker_epoch connection_id challenge_id nonce grant_id record_id instance_id"
    " incarnation owner_uid parent_instance parent_incarnation parent_key_hash pane_id"
    " pane_generation role public_key_hash capabilities_hash binding_generation grant_expires_ms"
    " challenge_expires_ms wake_error"
)
SESSION = words(
    "record_id instance_id incarnation role parent_instance parent_incarnation pane_id"
    " pane_generation binding_generation capabilities lease_remaining_ms"
)
"""What a stamp says of a binding."""


class Answer(NamedTuple):
    """What the broker answered: return code and body."""

    rc: int | None
    body: Fields

    @property
    def why(self) -> tuple[str, str | None]:
        """Error code and reason."""
        details = self.body.get("details", {})
        return str(self.body.get("error_code")), details.get("reason")


class Key:
    """A key of the peer's own making."""

    def __init__(self, seed: bytes | None = None) -> None:
        made = Ed25519PrivateKey.generate() if seed is None else None
        self.private = made or Ed25519PrivateKey.from_private_bytes(seed or b"")
        self.seed = self.private.private_bytes_raw()
        self.public = self.private.public_key().public_bytes_raw()

    def sign(self, message: bytes) -> str:
        return self.private.sign(message).hex()


def lp(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode("ascii")


def opt(value: bytes | None) -> bytes:
    return b"\x00" if value is None else b"\x01" + value


def hexed(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def u64(text: str | None) -> bytes | None:
    return None if text is None else struct.pack(">Q", int(text))


def allocation_bytes(epoch: str, connection: str, key: bytes, policy: str) -> bytes:
    """What a key signs for a record of its own."""
    head = b"cosmix.native-session.allocate\x00" + struct.pack(">H", 1)
    return head + bytes.fromhex(epoch) + bytes.fromhex(connection) + key + lp(policy)


def proof_bytes(challenge: Mapping[str, Any]) -> bytes:
    """What a key signs to hold a record, from the fields of a challenge."""
    said = challenge
    parts: list[bytes | None] = [
        b"cosmix.native-session.proof\x00",
        struct.pack(">HB", 1, {"enrol": 1, "resume": 2}[said["purpose"]]),
        *(hexed(said[key]) for key in ("broker_epoch", "connection_id", "challenge_id", "nonce")),
        opt(hexed(said["grant_id"])),
        *(hexed(said[key]) for key in ("record_id", "instance_id", "incarnation")),
        struct.pack(">I", said["owner_uid"]),
        opt(hexed(said["parent_instance"])),
        opt(hexed(said["parent_incarnation"])),
        opt(hexed(said["parent_key_hash"])),
        opt(u64(said["pane_id"])),
        opt(u64(said["pane_generation"])),
        lp(said["role"]),
        hexed(said["public_key_hash"]),
        hexed(said["capabilities_hash"]),
        u64(said["binding_generation"]),
        opt(u64(said["grant_expires_ms"])),
        u64(said["challenge_expires_ms"]),
    ]
    return b"".join(part for part in parts if part is not None)


def capability_hash(tokens: Sequence[str]) -> str:
    """Hash of a capability set, in hex."""
    packed = struct.pack(">H", len(tokens)) + b"".join(map(lp, sorted(tokens)))
    return hashlib.sha256(packed).hexdigest()


def ref(record: Mapping[str, Any]) -> Fields:
    """The reference of a record (or of a grant's, which is of generation 0)."""
    keys = ("record_id", "incarnation", "binding_generation")
    return {key: record.get(key, "0") for key in keys}


class SessionPeer(RawPeer):
    """A connection that asks for records; its requests have increasing ids."""

    last_id = 0

    def session(self, command: str, body: object = None, *, id: str | None = None) -> Answer:  # noqa: A002
        """Ask ``session.<command>`` and return the answer; other deliveries stay to be received.

        ``body`` may be bytes, sent as they are.
        """
        if id is None:
            self.last_id += 1
            id = str(self.last_id)  # noqa: A001 - the name on the wire
        raw = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
        self.ask(BROKER, raw, id=id, command=f"session.{command}")
        header, answer, _ = self.next_of(
            lambda header: (header.type, header.id, header.from_) == (RESPONSE, id, BROKER),
            passed=False,
        )
        return Answer(header.rc, json.loads(answer))

    def next_of(self, wanted: Callable[[Header], bool], *, passed: bool = True) -> Delivery:
        """The next delivery that is wanted; others stay to be received, in their order."""
        if passed:
            for delivery in self.passed:
                if wanted(delivery[0]):
                    self.passed.remove(delivery)
                    return delivery
        while True:
            delivery = self._next()
            if wanted(delivery[0]):
                return delivery
            self.passed.append(delivery)

    def notice(self) -> Fields:
        """The body of the next notice of a record's life; a gap is one with ``gap`` true."""
        header, body, stamp = self.next_of(
            lambda header: header.type == EVENT and str(header.command).startswith("session.")
        )
        assert (header.from_, stamp) == (BROKER, b"")
        found: Fields = json.loads(body)
        gap = header.command == "session.lifecycle.gap"
        assert found.keys() == ({"broker_epoch"} if gap else {"target", "state", "broker_epoch"})
        return {**found, "gap": gap}

    def notice_of(self, record: Mapping[str, Any], state: str) -> int:
        """The binding generation in the next notice that this record is in that state."""
        while True:
            said = self.notice()
            target = said.get("target", {"record_id": None})
            if (target["record_id"], said.get("state")) == (record["record_id"], state):
                return int(target["binding_generation"])

    def ok(self, command: str, body: object = None) -> Fields:
        """What is answered to a request that must succeed."""
        answer = self.session(command, body)
        assert answer.rc == 0, answer.why
        return answer.body

    def known(self) -> None:
        """Say hello unless it was said: ids are needed to sign."""
        if not self.epoch:
            self.hello()

    def try_allocate(self, key: Key, policy: str | None = None) -> Answer:
        """Ask for a Term record."""
        self.known()
        signed = allocation_bytes(
            self.epoch, self.connection_id, key.public, policy or "default-open"
        )
        body = {"public_key": key.public.hex(), "signature": key.sign(signed)}
        return self.session("allocate", body if policy is None else {**body, "policy": policy})

    def allocate(self, key: Key, policy: str | None = None) -> Fields:
        """A Term record, attached here."""
        return record_in(self.try_allocate(key, policy))

    def try_grant(
        self,
        parent: Mapping[str, Any],
        key: Key,
        pane: tuple[int, int] = (1, 1),
        capabilities: Sequence[str] = ALL,
    ) -> Answer:
        """Ask for a grant of a child; ``pane`` is its id and generation."""
        body = {
            "parent": ref(parent),
            "pane_id": str(pane[0]),
            "pane_generation": str(pane[1]),
            "public_key": key.public.hex(),
            "role": "pane-shell",
            "capabilities": list(capabilities),
        }
        return self.session("grant.create", body)

    def grant(
        self,
        parent: Mapping[str, Any],
        key: Key,
        pane: tuple[int, int] = (1, 1),
        capabilities: Sequence[str] = ALL,
    ) -> tuple[Fields, Fields]:
        """A grant and its pending record."""
        answer = self.try_grant(parent, key, pane, capabilities)
        assert answer.rc == 0, answer.why
        assert answer.body.keys() == {"grant", "record"}
        grant = answer.body["grant"]
        assert grant.keys() == GRANT
        return grant, record_in(answer)

    def try_challenge(self, record: Mapping[str, Any], grant_id: str | None = None) -> Answer:
        """Ask for a challenge of a record: to enrol with a grant's id, else to resume."""
        body = {key: record[key] for key in ("record_id", "incarnation")}
        purpose = "resume" if grant_id is None else "enrol"
        return self.session("challenge", {**body, "purpose": purpose, "grant_id": grant_id})

    def try_challenge_key(self, key: Key) -> Answer:
        """Ask for a challenge of whatever record the key has."""
        return self.session("challenge", {"public_key": key.public.hex(), "purpose": "enrol"})

    def challenge(self, record: Mapping[str, Any], grant_id: str | None = None) -> Fields:
        """A challenge, exactly of the contract's fields."""
        return challenge_in(self.try_challenge(record, grant_id))

    def challenge_key(self, key: Key) -> Fields:
        """A challenge of the key's record."""
        return challenge_in(self.try_challenge_key(key))

    def try_prove(self, key: Key, challenge: Mapping[str, Any]) -> Answer:
        """Sign a challenge and say so."""
        body = {"signature": key.sign(proof_bytes(challenge))}
        return self.session("prove", {"challenge_id": challenge["challenge_id"], **body})

    def prove(self, key: Key, challenge: Mapping[str, Any]) -> Fields:
        """The record, attached here."""
        return record_in(self.try_prove(key, challenge))

    def attach(self, key: Key) -> Fields:
        """The key's record, enrolled or resumed here."""
        self.known()
        return self.prove(key, self.challenge_key(key))

    def renew(self, record: Mapping[str, Any]) -> Fields:
        """The record, its lease renewed."""
        return record_in(self.session("renew", {"target": ref(record)}))

    def revoke(self, record: Mapping[str, Any]) -> bool:
        """Whether it was revoked by this."""
        return bool(self.ok("revoke", {"target": ref(record)})["revoked"])

    def self_record(self, record: Mapping[str, Any]) -> Fields:
        """The record as it is now."""
        return record_in(self.session("self", {"record_id": record["record_id"]}))

    def records(self) -> list[Fields]:
        """All records of the own uid."""
        found: list[Fields] = self.ok("list")["records"]
        assert all(record.keys() == RECORD for record in found)
        return found

    def try_lease_check(self, session: Mapping[str, Any]) -> Answer:
        """Ask for what is left of the lease that a stamp (or a record) was of."""
        return self.session("lease.check", {"target": ref(session)})


def record_in(answer: Answer) -> Fields:
    """The record of an answer that must be one."""
    assert answer.rc == 0, answer.why
    record: Fields = answer.body["record"]
    assert record.keys() == RECORD
    return record


def challenge_in(answer: Answer) -> Fields:
    assert answer.rc == 0, answer.why
    assert answer.body.keys() == {"challenge"}
    challenge: Fields = answer.body["challenge"]
    assert challenge.keys() == CHALLENGE
    return challenge


class Holder:
    """A process that holds a record."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said, "the holder could not enrol; its message is above"
        self.record: Fields = json.loads(said)

    def kill(self) -> None:
        """End it as the kernel does."""
        self._process.kill()
        self._process.wait(PATIENCE)


@contextmanager
def holder(path: Path, key: Key) -> Iterator[Holder]:
    """A process of its own that enrols (or resumes) the key's record; ended on leaving."""
    command = [sys.executable, "-m", "tests.support.session_peer", str(path), key.seed.hex()]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as process:
        try:
            yield Holder(process)
        finally:
            process.kill()


def main(path: str, seed: str) -> None:
    """Enrol the key of this seed and hold the record until standard input ends."""
    with SessionPeer.open(path) as peer:
        print(json.dumps(peer.attach(Key(bytes.fromhex(seed)))), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
