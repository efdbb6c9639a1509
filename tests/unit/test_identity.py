"""The small parts of the service's identity: policy, schedules, the bundle made ahead, words."""

from __future__ import annotations

import pytest

from termnode.service.identity.policy import term_policy
from termnode.service.identity.schedule import (
    AGAIN_AFTER_S,
    MINT_FLOOR_S,
    RESTARTS,
    RESTARTS_WITHIN_S,
    Pauses,
    Regrants,
    Restarts,
)
from termnode.service.identity.words import OFF, IdentityState, Native, NoIdentity


@pytest.mark.parametrize(
    ("environment", "policy"),
    [
        ({}, "default-open"),
        ({"COSMIX_TERM_POLICY": "default-open"}, "default-open"),
        ({"COSMIX_TERM_POLICY": "restricted"}, "restricted"),
        ({"COSMIX_TERM_POLICY": ""}, None),
        ({"COSMIX_TERM_POLICY": "Restricted"}, None),
        ({"COSMIX_TERM_POLICY": "default-open "}, None),
        ({"COSMIX_TERM_POLICY": "open"}, None),
    ],
)
def test_only_the_two_words_are_policies(environment: dict[str, str], policy: str | None) -> None:
    assert term_policy(environment) == policy


def test_a_child_is_granted_again_at_once_and_then_three_times_ever_later() -> None:
    regrants = Regrants()
    now = 0.0
    times = []
    while (due := regrants.due(now)) is not None:
        now = due
        times.append(now)
        regrants.minted(now)
    assert times == [0.0, 120.0, 360.0, 840.0]
    assert len(times) == 1 + len(AGAIN_AFTER_S)
    regrants.arm()
    assert regrants.due(now) == now + MINT_FLOOR_S
    regrants.forget()
    assert regrants.due(now) == now


def test_pauses_double_up_to_a_minute_and_begin_anew_after_success() -> None:
    pauses = Pauses()
    assert [pauses.next() for _ in range(8)] == [1, 2, 4, 8, 16, 32, 60, 60]
    pauses.clear()
    assert pauses.next() == 1


def test_a_pane_shell_that_ends_again_and_again_is_given_up() -> None:
    restarts = Restarts()
    assert [restarts.after_end(0.0) for _ in range(RESTARTS)] == [1, 2, 4, 8, 16]
    assert restarts.after_end(RESTARTS_WITHIN_S - 0.1) is None
    assert restarts.after_end(RESTARTS_WITHIN_S) == RESTARTS_WITHIN_S + 1


def test_what_is_unknown_is_left_out_of_info() -> None:
    assert IdentityState(Native.STARTING, "restricted").body() == {
        "state": "starting",
        "policy": "restricted",
    }
    assert IdentityState(Native.OFF, None, "why").body() == {"state": "off", "problem": "why"}


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (IdentityState(Native.OFF), ""),
        (IdentityState(Native.OFF, None, "why"), "no identity"),
        (IdentityState(Native.STARTING, "restricted"), ""),
        (IdentityState(Native.STARTING, "restricted", "no room"), "no identity"),
        (IdentityState(Native.READY, "restricted"), ""),
        (IdentityState(Native.LOST, "restricted"), "identity lost"),
    ],
)
def test_a_status_line_speaks_of_trouble_only(state: IdentityState, words: str) -> None:
    assert state.trouble == words


def test_without_an_identity_nothing_is_ready() -> None:
    identity = NoIdentity()
    assert identity.state.native is Native.OFF
    assert identity.binding_of(1) == OFF
    assert not identity.control_ready(1)
