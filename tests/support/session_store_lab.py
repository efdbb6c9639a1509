"""A store of sessions with a clock that we move, and short words for what its callers do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from brokerd.core.sessions import Grant, Notice, Record, Ref, Sessions
from brokerd.encodings import CAPABILITIES, DEFAULT_OPEN, allocation_transcript
from brokerd.errors import Refusal
from brokerd.keys import SessionKey
from brokerd.limits import SessionLimits

EPOCH = "e" * 32
KEYS = [SessionKey.from_seed(bytes([n]) * 32) for n in range(1, 9)]
UID = 7


def conn(n: int) -> str:
    """The id of a connection."""
    return f"c{n:031x}"


def reason(operation: Callable[..., object], *args: object, **named: object) -> str:
    """The reason of its refusal, else the code; "ok" when it is not refused."""
    try:
        operation(*args, **named)
    except Refusal as refusal:
        return str(refusal.details.get("reason", refusal.code))
    return "ok"


class Lab:
    """All of one user unless the call says another."""

    def __init__(self, *, new_bytes: Callable[[int], bytes] | None = None, **limits: int) -> None:
        more: dict[str, Any] = {} if new_bytes is None else {"new_bytes": new_bytes}
        self.limits = SessionLimits(**limits)
        self.sessions = Sessions(epoch=EPOCH, node="here", limits=self.limits, **more)
        self.now = 1_000
        self.sessions.advance(self.now)

    def later(self, milliseconds: int) -> None:
        """Let time pass."""
        self.now += milliseconds
        self.sessions.advance(self.now)
        self.sessions.verify()

    def term(self, n: int = 0, *, key: int | None = None, uid: int = UID) -> Record:
        """A Term on connection ``n`` with the key of that number."""
        pair = KEYS[n if key is None else key]
        message = allocation_transcript(EPOCH, conn(n), pair.public_key, DEFAULT_OPEN)
        signature = pair.sign(message)
        return self.sessions.allocate(conn(n), uid, pair.public_key, signature, DEFAULT_OPEN)

    def grant(
        self, parent: Record, key: int, *, pane: int = 1, generation: int = 1, by: int = 0
    ) -> Grant:
        """A grant for the key of that number, asked for by connection ``by``."""
        return self.sessions.create_grant(
            conn(by),
            parent.uid,
            parent.ref,
            pane,
            generation,
            KEYS[key].public_key,
            CAPABILITIES[:2],
        )

    def prove(self, n: int, key: int, *, uid: int = UID) -> Record:
        """Prove on connection ``n`` whatever record has that key."""
        challenge, _ = self.sessions.challenge_key(conn(n), uid, KEYS[key].public_key)
        signature = KEYS[key].sign(challenge.proof(EPOCH).transcript())
        record = self.sessions.prove(conn(n), uid, challenge.id, signature)
        self.sessions.verify()
        return record

    def child(self, parent: Record, key: int, *, on: int, pane: int = 1) -> Record:
        """A pane shell, granted by connection 0 and enrolled on connection ``on``."""
        self.grant(parent, key, pane=pane)
        return self.prove(on, key)

    def told(self, n: int) -> list[object]:
        """All that waits for that connection: states, or a gap."""
        heard: list[object] = []
        while (told := self.sessions.take_notice(conn(n))) is not None:
            heard.append(str(told.state) if isinstance(told, Notice) else told)
        return heard

    def renew(self, n: int, ref: Ref) -> Record:
        """Renew on connection ``n``."""
        return self.sessions.renew(conn(n), UID, ref)
