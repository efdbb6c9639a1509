"""What may be said on the broker's command line, and what becomes of it."""

from __future__ import annotations

import argparse

import pytest

from brokerd.__main__ import main
from brokerd.commands import arguments, settings
from brokerd.limits import DEFAULTS


def test_limits_are_set_by_name() -> None:
    made = [settings.parse(each) for each in ("queue_messages=7", "sessions.lease_ms=50")]
    limits = settings.apply([*made, ("queue_messages", 8)])
    assert (limits.queue_messages, limits.sessions.lease_ms) == (8, 50)
    assert limits.queue_bytes == DEFAULTS.queue_bytes
    assert limits.sessions.grant_ms == DEFAULTS.sessions.grant_ms
    assert settings.apply([]) == DEFAULTS


@pytest.mark.parametrize("name", settings.NAMES)
def test_every_limit_can_be_set(name: str) -> None:
    limits = settings.apply([settings.parse(f"{name}=12345")])
    holder = limits.sessions if name.startswith("sessions.") else limits
    assert getattr(holder, name.removeprefix("sessions.")) == 12_345


@pytest.mark.parametrize(
    "text",
    [
        "",
        "queue_messages",
        "queue_messages=",
        "queue_messages=0",
        "queue_messages=-1",
        "queue_messages=+1",
        "queue_messages=01",
        "queue_messages=1_0",
        "queue_messages=\N{FULLWIDTH DIGIT ONE}",
        "queue_messages=2147483648",
        "lease_ms=1",
        "sessions=1",
        "sessions.queue_messages=1",
        "__class__=1",
    ],
)
def test_other_settings_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"limit|NAME=VALUE"):
        settings.parse(text)


@pytest.mark.parametrize(
    ("text", "endpoint", "loopback"),
    [
        ("tcp://127.0.0.1:0", "tcp://127.0.0.1:0", True),
        ("tcp://127.1.2.3:65535", "tcp://127.1.2.3:65535", True),
        ("tcp://localhost:70", "tcp://127.0.0.1:70", True),
        ("tcp://[::1]:70", "tcp://[::1]:70", True),
        ("tcp://0.0.0.0:70", "tcp://0.0.0.0:70", False),
        ("tcp://[::]:70", "tcp://[::]:70", False),
        ("tcp://192.168.0.1:70", "tcp://192.168.0.1:70", False),
    ],
)
def test_an_address_is_known_for_whom_it_is(text: str, endpoint: str, loopback: bool) -> None:
    assert arguments.tcp_endpoint(text) == endpoint
    assert arguments.is_loopback(endpoint) is loopback


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1:70",
        "tcp://127.0.0.1",
        "tcp://127.0.0.1:70000",
        "tcp://*:70",
        "tcp://eth0:70",
        "tcp://example.org:70",
        "tcp://::1:70",
        "tcp://[127.0.0.1:70",
        "tcp://127.0.0.1:70;tcp://0.0.0.0:70",
        "ipc:///tmp/x",
    ],
)
def test_other_addresses_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        arguments.tcp_endpoint(text)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["--set", "nonsense=1"], "sessions.lease_ms"),
        (["--set", "queue_messages=x"], "NAME=VALUE"),
        (["--observe", "Bad Name"], "service's name"),
        (["--tcp", "tcp://0.0.0.0:0"], "--tcp-public"),
        (["--tcp", "nowhere"], "tcp://ADDRESS:PORT"),
    ],
)
def test_wrong_usage_says_what_is_right(
    line: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(line)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err
