"""The broker's verbs about sessions, typed: values in, values out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from brokerd import fields
from brokerd.bodies import Json
from brokerd.client.errors import NotConnected
from brokerd.client.session import Phase, Session
from brokerd.client.sessions import proofs
from brokerd.client.sessions.calls import TIMEOUT, ask, ask_retained
from brokerd.client.sessions.types import Challenge, GrantView, Hello, RecordView, Ref, parsed
from brokerd.encodings import DEFAULT_OPEN, ENROL, PANE_SHELL, allocation_transcript
from brokerd.fields import BadField, read_fields
from brokerd.keys import SessionKey

T = TypeVar("T")


class Verbs:
    """The calls of one connection; see specs/sessions.md for what each does and refuses.

    Each waits ``timeout`` seconds for its answer. All raise Refused (``code``, ``message``,
    ``details``), MalformedReply, NotConnected, Overloaded (nothing was sent), BrokerLost and
    RequestTimeout (it may have happened). ``allocate``, ``grant_create`` and ``revoke`` are sent
    once more under the same id before they raise RequestTimeout, and are done once.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    async def hello(self, *, timeout: float = TIMEOUT) -> Hello:
        """Who this connection is."""
        return Hello.from_json(await self._ask("hello", {}, timeout))

    async def allocate(
        self, key: SessionKey, policy: str | None = None, *, timeout: float = TIMEOUT
    ) -> RecordView:
        """A new Term record for ``key``, attached here; ``policy`` is default-open unless given."""
        policy = DEFAULT_OPEN if policy is None else policy
        epoch, connection = self.connection()
        signature = key.sign(allocation_transcript(epoch, connection, key.public_key, policy))
        body = {
            "public_key": key.public_key.hex(),
            "signature": signature.hex(),
            "policy": policy,
        }
        record = _record(await ask_retained(self._session, "session.allocate", body, timeout))
        proofs.check_allocated(record, epoch, policy)
        return record

    async def grant_create(
        self,
        parent: Ref,
        *,
        pane_id: int,
        pane_generation: int,
        public_key: bytes,
        capabilities: Iterable[str],
        timeout: float = TIMEOUT,
    ) -> tuple[GrantView, RecordView]:
        """Leave for the holder of ``public_key`` to become that pane's shell."""
        body = {
            "parent": parent.to_json(),
            "pane_id": str(pane_id),
            "pane_generation": str(pane_generation),
            "public_key": public_key.hex(),
            "role": PANE_SHELL,
            "capabilities": list(capabilities),
        }
        answer = await ask_retained(self._session, "session.grant.create", body, timeout)
        return _grant(answer)

    async def grant_fetch(
        self, public_key: bytes, *, timeout: float = TIMEOUT
    ) -> tuple[GrantView, RecordView]:
        """The newest grant that this Term gave to that key."""
        body = {"public_key": public_key.hex()}
        return _grant(await self._ask("grant.fetch", body, timeout))

    async def challenge(
        self,
        *,
        record_id: str,
        incarnation: str,
        purpose: str,
        grant_id: str | None = None,
        timeout: float = TIMEOUT,
    ) -> Challenge:
        """What to sign to enrol (by the grant) or to resume (``grant_id`` None) that record."""
        body = {
            "record_id": record_id,
            "incarnation": incarnation,
            "purpose": purpose,
            "grant_id": grant_id,
        }
        return _challenge(await self._ask("challenge", body, timeout))

    async def challenge_grant(self, grant: GrantView, *, timeout: float = TIMEOUT) -> Challenge:
        """What to sign to enrol by that grant."""
        return await self.challenge(
            record_id=grant.record_id,
            incarnation=grant.incarnation,
            purpose=ENROL,
            grant_id=grant.grant_id,
            timeout=timeout,
        )

    async def challenge_key(self, public_key: bytes, *, timeout: float = TIMEOUT) -> Challenge:
        """What to sign for the newest record of that key.

        Refused with FORBIDDEN, the connection gets a notice when the key is granted something
        (within 60 s).
        """
        body = {"public_key": public_key.hex(), "purpose": ENROL}
        return _challenge(await self._ask("challenge", body, timeout))

    async def prove(
        self, challenge_id: str, signature: bytes, *, timeout: float = TIMEOUT
    ) -> RecordView:
        """Hand in the signature; the record is then attached to this connection."""
        body = {"challenge_id": challenge_id, "signature": signature.hex()}
        return _record(await self._ask("prove", body, timeout))

    async def renew(self, ref: Ref, *, timeout: float = TIMEOUT) -> RecordView:
        """Begin the lease anew; count it from before this call."""
        return _record(await self._ask("renew", {"target": ref.to_json()}, timeout))

    async def revoke(self, ref: Ref, *, timeout: float = TIMEOUT) -> bool:
        """End a record and its children; False when it was ended already."""
        body = {"target": ref.to_json()}
        answer = await ask_retained(self._session, "session.revoke", body, timeout)
        return bool(_only(answer, "revoked", fields.flag))

    async def list(self, *, timeout: float = TIMEOUT) -> list[RecordView]:
        """All records of this user, by name."""
        answer = await self._ask("list", {}, timeout)
        readers = {"broker_epoch": fields.identifier, "records": _records}
        records: list[RecordView] = _read(answer, readers)["records"]
        return records

    async def self_record(self, record_id: str, *, timeout: float = TIMEOUT) -> RecordView:
        """One record of this user."""
        return _record(await self._ask("self", {"record_id": record_id}, timeout))

    async def lease_check(self, ref: Ref, *, timeout: float = TIMEOUT) -> int:
        """Milliseconds left of the lease of a sender that this connection has heard from.

        Count them from before this call.
        """
        answer = await self._ask("lease.check", {"target": ref.to_json()}, timeout)
        return int(_only(answer, "lease_remaining_ms", fields.number))

    def connection(self) -> tuple[str, str]:
        """The broker's epoch and this connection's id. Raises NotConnected."""
        if self._session.phase is not Phase.OPEN:
            raise NotConnected
        return self._session.epoch, self._session.connection_id

    async def _ask(self, verb: str, body: Mapping[str, object], timeout: float) -> dict[str, Json]:
        return await ask(self._session, f"session.{verb}", body, timeout)


def _read(answer: dict[str, Json], readers: Mapping[str, fields.Reader]) -> dict[str, Any]:
    return parsed("result", lambda: read_fields(readers, answer))


def _only(answer: dict[str, Json], key: str, read: Callable[[object], T]) -> T:
    value: T = _read(answer, {key: read})[key]
    return value


def _record(answer: dict[str, Json]) -> RecordView:
    return _only(answer, "record", RecordView.from_json)


def _grant(answer: dict[str, Json]) -> tuple[GrantView, RecordView]:
    values = _read(answer, {"grant": GrantView.from_json, "record": RecordView.from_json})
    return values["grant"], values["record"]


def _challenge(answer: dict[str, Json]) -> Challenge:
    return _only(answer, "challenge", Challenge.from_json)


def _records(raw: object) -> list[RecordView]:
    if not isinstance(raw, list):
        raise BadField("an array")
    return [RecordView.from_json(each) for each in raw]
