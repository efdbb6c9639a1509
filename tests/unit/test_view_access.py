"""Who may open a view: tokens for one process, once and soon; tickets in strict posture."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from brokerd.client import ErrorCode, Principal, Refusal
from termnode.service.viewing.access import MAX_TICKETS, MAX_TOKENS, TOKEN_S, Access
from termnode.service.viewing.person_env import taken
from termnode.service.viewing.sizes import Sizes
from tests.support.lane import Local, Remote

UID = os.geteuid()


class Rig:
    def __init__(self) -> None:
        self.now = 0.0
        self.open = True
        self.access = Access(lambda: self.open, lambda: self.now)
        self.access.path = Path("/run/x/term.view")

    def token(self, pid: int = 7, ticket: str | None = None) -> str:
        return str(self.access.open(person(pid), ticket)["token"])


def person(pid: int = 7, uid: int = UID) -> Principal:
    return Principal(
        owner_node="here",
        unix_uid=uid,
        unix_gid=0,
        peer_pid=pid,
        broker_epoch="a" * 32,
        connection_id="b" * 32,
    )


def test_a_token_is_good_once() -> None:
    rig = Rig()
    token = rig.token()
    assert len(bytes.fromhex(token)) == 32
    assert rig.access.take(token, UID, 7)
    assert not rig.access.take(token, UID, 7)


def test_a_token_is_good_for_ten_seconds() -> None:
    rig = Rig()
    early, late = rig.token(), rig.token()
    rig.now += TOKEN_S - 0.01
    assert rig.access.take(early, UID, 7)
    rig.now += 0.01
    assert not rig.access.take(late, UID, 7)


@pytest.mark.parametrize(("uid", "pid"), [(UID + 1, 7), (UID, 8)])
def test_a_token_is_good_for_its_process_alone_and_void_after_another_tried(
    uid: int, pid: int
) -> None:
    rig = Rig()
    token = rig.token()
    assert not rig.access.take(token, uid, pid)
    assert not rig.access.take(token, UID, 7)


@pytest.mark.parametrize("wrong", ["", "x", "0" * 64, "\ud800", "é" * 64])
def test_nothing_else_is_a_token(wrong: str) -> None:
    rig = Rig()
    rig.token()
    assert not rig.access.take(wrong, UID, 7)


def test_unused_tokens_are_bounded_and_the_oldest_is_void() -> None:
    rig = Rig()
    tokens = [rig.token() for _ in range(MAX_TOKENS + 1)]
    assert not rig.access.take(tokens[0], UID, 7)
    assert rig.access.take(tokens[1], UID, 7)


@pytest.mark.parametrize("caller", [None, Local(), Remote(), person(uid=UID + 1)])
@pytest.mark.parametrize("open_", [True, False])
def test_anybody_else_is_refused_alike(caller: object, open_: bool) -> None:
    rig = Rig()
    rig.open = open_
    with pytest.raises(Refusal) as refused:
        rig.access.open(caller, rig.access.first_ticket)  # type: ignore[arg-type]  # any caller
    assert refused.value.body() == {
        "error_code": "FORBIDDEN", "message": "forbidden", "details": {},
    }  # fmt: skip


def test_strict_posture_takes_a_ticket() -> None:
    rig = Rig()
    rig.open = False
    for wrong in (None, "", "0" * 64, "é"):
        with pytest.raises(Refusal) as refused:
            rig.token(ticket=wrong)
        assert refused.value.code is ErrorCode.FORBIDDEN
    other = rig.access.ticket()
    for ticket in (rig.access.first_ticket, other, other):
        assert rig.access.take(rig.token(ticket=ticket), UID, 7)


def test_tickets_are_bounded_and_the_first_one_stays() -> None:
    rig = Rig()
    rig.open = False
    made = [rig.access.ticket() for _ in range(MAX_TICKETS)]
    rig.token(ticket=rig.access.first_ticket)
    rig.token(ticket=made[-1])
    assert refusal(rig, made[0]) == (ErrorCode.FORBIDDEN, None)


def test_without_a_socket_the_refusal_says_so_but_only_to_who_may_know() -> None:
    rig = Rig()
    rig.access.path = None
    assert refusal(rig) == (ErrorCode.UNAVAILABLE, "no_view_socket")
    rig.open = False
    assert refusal(rig) == (ErrorCode.FORBIDDEN, None)


def refusal(rig: Rig, ticket: str | None = None) -> tuple[ErrorCode, object]:
    with pytest.raises(Refusal) as refused:
        rig.token(ticket=ticket)
    return refused.value.code, refused.value.details.get("reason")


def test_sizes_follow_the_view_last_typed_into() -> None:
    sizes = Sizes()
    assert not Sizes().wanted
    sizes.set(1, 80, 24)
    sizes.set(2, 100, 30)
    assert sizes.wanted == (80, 24)
    sizes.typed(2)
    assert sizes.wanted == (100, 30)
    sizes.set(1, 60, 20)
    assert sizes.wanted == (100, 30)
    sizes.set(2, 90, 25)
    assert sizes.wanted == (90, 25)
    sizes.typed(1)
    sizes.typed(3)
    assert sizes.wanted == (60, 20)
    sizes.remove(1)
    sizes.remove(1)
    assert sizes.wanted == (90, 25)


def test_a_persons_environment_says_how_to_reach_them_and_not_what_runs() -> None:
    given = {"SSH_AUTH_SOCK": "/s", "DISPLAY": ":1", "PATH": "/evil", "LD_PRELOAD": "x",
             "XAUTHORITY": "", "WAYLAND_DISPLAY": "a\0b"}  # fmt: skip
    assert taken(given) == {"SSH_AUTH_SOCK": "/s", "DISPLAY": ":1"}
