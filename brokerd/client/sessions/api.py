"""The calls of one connection about sessions: the broker's verbs, and what is proved with them."""

from __future__ import annotations

import os
from collections.abc import Callable

from brokerd.client.sessions import proofs
from brokerd.client.sessions.calls import TIMEOUT
from brokerd.client.sessions.proofs import Facts
from brokerd.client.sessions.types import GrantView, RecordView
from brokerd.client.sessions.verbs import Verbs
from brokerd.encodings import RESUME, Proof
from brokerd.keys import SessionKey


def _nothing_more(_proof: Proof) -> Facts:
    return {}


class Sessions(Verbs):
    """The verbs, and the ways to attach that are made of them: ask, check, sign, hand in."""

    async def enrol(
        self,
        key: SessionKey,
        grant: GrantView,
        record: RecordView | None = None,
        *,
        timeout: float = TIMEOUT,
    ) -> RecordView:
        """Attach by a grant; ``record`` is the granted one, when it is known.

        Two requests, with ``timeout`` for each. Raises ChallengeMismatch as ``prove_as``.
        """
        challenge = await self.challenge_grant(grant, timeout=timeout)
        known = {} if record is None else proofs.of_record(record)
        known = {**known, **proofs.of_grant(grant)}
        return await self.prove_as(key, challenge.proof, known, timeout=timeout)

    async def resume(
        self, key: SessionKey, record: RecordView, *, timeout: float = TIMEOUT
    ) -> RecordView:
        """Attach an attached or suspended record here. As ``enrol``."""
        challenge = await self.challenge(
            record_id=record.record_id,
            incarnation=record.incarnation,
            purpose=RESUME,
            timeout=timeout,
        )
        known = {**proofs.of_record(record), "purpose": RESUME}
        return await self.prove_as(key, challenge.proof, known, timeout=timeout)

    async def by_key(
        self,
        key: SessionKey,
        known: Callable[[Proof], Facts] = _nothing_more,
        *,
        timeout: float = TIMEOUT,
    ) -> RecordView:
        """Attach the newest record of ``key`` here; ``known`` says what must be in its proof.

        As ``enrol``; refused with FORBIDDEN as ``challenge_key``.
        """
        challenge = await self.challenge_key(key.public_key, timeout=timeout)
        proof = challenge.proof
        return await self.prove_as(key, proof, known(proof), timeout=timeout)

    async def prove_as(
        self, key: SessionKey, proof: Proof, known: Facts, *, timeout: float = TIMEOUT
    ) -> RecordView:
        """Check a challenge against what is known, sign it, and hand that in.

        Raises ChallengeMismatch, and signs nothing, when the challenge is for another connection,
        user or key, or differs from ``known``.
        """
        here = proofs.of_connection(*self.connection(), os.geteuid(), key.public_key)
        proofs.check(proof, here, known)
        signature = key.sign(proof.transcript())
        record = await self.prove(proof.challenge_id, signature, timeout=timeout)
        proofs.check_proved(proof, record)
        return record
