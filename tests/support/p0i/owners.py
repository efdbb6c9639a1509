"""p0i_05: more than one user."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.support.p0i.lab import Start, bus, denied, stamp_at
from tests.support.session_peer import Key, SessionPeer, ref
from tests.support.zmtp import Dropped

FOREIGN: Final = 65_533
NOBODY: Final = 65_534
"""What the kernel says of a user that it cannot name here."""


@contextmanager
def as_user(uid: int) -> Iterator[None]:
    """Who connects meanwhile is this user to the kernel."""
    os.setegid(uid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


def p0i_05_multi_owner_allocation(start: Start) -> None:
    """Each user has its own records and its own quota, and sees nobody else's."""
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    quota = ("--set", "sessions.terms_per_uid=1")
    with bus(start, "--shared", "{}/shared", *quota) as lab:
        shared = Path(str(lab.broker.ready["shared"]))
        target, mine, mine_key = lab.service("target"), lab.peer(), Key()
        record = mine.allocate(mine_key)
        assert lab.peer().try_allocate(Key()).why == ("RESOURCE_LIMIT", "term_limit")
        with as_user(NOBODY), pytest.raises(Dropped):
            SessionPeer.open(shared)
        with as_user(FOREIGN):
            theirs = lab.peer(shared)
            also = lab.peer(shared)
        key = Key()
        foreign = theirs.allocate(key)
        assert foreign["owner_uid"] == FOREIGN
        assert re.fullmatch("t1ekd-[a-z2-7]{22}", foreign["name"])
        assert also.try_allocate(Key()).why == ("RESOURCE_LIMIT", "term_limit")
        assert [each["record_id"] for each in theirs.records()] == [foreign["record_id"]]
        assert [each["record_id"] for each in mine.records()] == [record["record_id"]]
        for peer, aim, of in ((theirs, record, mine_key), (mine, foreign, key)):
            denied(peer.session("self", {"record_id": aim["record_id"]}))
            denied(peer.try_challenge(aim))
            denied(peer.try_challenge_key(of))
            for verb in ("renew", "revoke"):
                denied(peer.session(verb, {"target": ref(aim)}))
        stamp = stamp_at(target, theirs)
        assert stamp["unix_uid"] == FOREIGN
        assert stamp["session"]["record_id"] == foreign["record_id"]
        assert stamp_at(target, also)["session"] is None
        for verb, body in (
            ("broker.register", {"name": "mine"}),
            ("broker.publish", {"topic": "mine", "value": 1}),
        ):
            assert also.verb(verb, json.dumps(body).encode())["error_code"] == "FORBIDDEN"
        before = mine.counts()["unroutable_event"]
        theirs.tell(target.connection_id)
        mine.until(lambda counts: counts["unroutable_event"] == before + 1)
