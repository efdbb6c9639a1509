"""What of a person's environment reaches new panes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TAKEN: Final = frozenset(
    {
        "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "KRB5CCNAME", "SSH_AGENT_PID", "SSH_ASKPASS",
        "SSH_AUTH_SOCK", "SSH_CONNECTION", "SSH_CLIENT", "WAYLAND_DISPLAY", "XAUTHORITY",
        "XDG_SESSION_ID", "XDG_SESSION_TYPE",
    }
)  # fmt: skip
"""How to reach the person's screen and keys; nothing that says which programs run."""


def taken(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that new panes get."""
    return {
        name: value
        for name, value in environment.items()
        if name in TAKEN and "\0" not in value and value
    }
