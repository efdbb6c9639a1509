"""The checks of ``termnode doctor`` about a running service: its identity and its pane shells."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import trio

from brokerd.client import (
    DEFAULTS,
    BusError,
    Refused,
    RuntimeDirError,
    connect,
    locate_runtime_dir,
)
from termnode.cli.explaining import first_error
from termnode.cli.finding import Finding
from termnode.cli.look import binding_words
from termnode.cli.mirror import parent
from termnode.cli.output import clean
from termnode.service.keeping.instance import InstanceFiles

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from brokerd.client import Bus

ASKED_S: Final = 3.0
"""For all that is asked of the service and its broker."""

SHOWN: Final = 4
"""Pane shells that are named when they have no session."""

_POLICY_REMEDY: Final = (
    "unset COSMIX_TERM_POLICY or set it to default-open or restricted; then termnode down, up"
)


@dataclass(slots=True)
class Told:
    """What the service and its broker said; None where there was no answer."""

    identity: dict[str, Any] | None = None
    panes: list[dict[str, Any]] | None = None
    roles: list[str] | None = None
    """Of each record of this user that is not revoked."""


def service_findings(arguments: argparse.Namespace) -> Iterator[Finding]:
    """How the sessions of the chosen service are; one line when none runs."""
    try:
        files = InstanceFiles(locate_runtime_dir(arguments.runtime_dir), arguments.name)
    except RuntimeDirError:
        return  # said already
    service = files.running()
    if service is None:
        yield Finding("sessions", "ok", f"no service named '{arguments.name}' runs here")
        return
    told = _ask(arguments)
    if told is None:
        remedy = "its broker may be starting again: look once more in a few seconds"
        yield Finding("sessions", "warn", "the service and its broker do not answer", remedy)
        return
    yield identity(told.identity)
    if (told.identity or {}).get("state") != "off":
        yield zygote(_zygote_of(service))
        yield pane_shells(told.panes)
    yield records(told.roles)


def identity(said: dict[str, Any] | None) -> Finding:
    """Of the service itself: its record, and the policy of it."""
    if said is None:
        remedy = "start it again with this version: termnode down, termnode up"
        return Finding("identity", "warn", "the service tells none", remedy)
    state, policy = str(said.get("state")), str(said.get("policy") or "no policy")
    problem = str(said.get("problem") or "")
    found = clean(f"{state}, {policy}" + (f": {problem}" if problem else ""))
    if state == "ready":
        return Finding("identity", "ok", found)
    if said.get("policy") is None:
        return Finding("identity", "warn", found, _POLICY_REMEDY)
    remedy = "it is tried again by itself; if this stays, its log says more"
    return Finding("identity", "warn", found, remedy)


def pane_shells(panes: list[dict[str, Any]] | None) -> Finding:
    """How many of the live panes have a session that the service has seen, and which have none."""
    if panes is None:
        remedy = "open posture shows them: termnode posture open"
        return Finding("pane shells", "warn", "the service does not tell of its panes", remedy)
    live = [pane for pane in panes if not pane.get("exit")]
    without = [pane for pane in live if binding_words(pane) != "ready"]
    found = f"{len(live) - len(without)} of {len(live)} ready"
    if not without:
        return Finding("pane shells", "ok", found)
    named = [f"{pane['id']} {clean(binding_words(pane)) or 'untold'}" for pane in without[:SHOWN]]
    more = ", ..." if len(without) > SHOWN else ""
    remedy = "one that enrols needs seconds; for an unbound one: termnode restart --pane N, or new"
    return Finding("pane shells", "warn", f"{found}; pane {', '.join(named)}{more}", remedy)


def zygote(pid: int | None) -> Finding:
    """The process that pane shells are forked from."""
    if pid is None:
        remedy = "it is started again by itself; panes work without it, and get no session"
        return Finding("zygote", "warn", "none runs", remedy)
    return Finding("zygote", "ok", f"pid {pid}")


def records(roles: Sequence[str] | None) -> Finding:
    """What this user has of the broker's table of sessions."""
    if roles is None:
        return Finding("broker sessions", "warn", "the broker tells none", "use this version of it")
    limit, terms = DEFAULTS.sessions.terms_per_uid, sum(role == "term" for role in roles)
    found = f"{terms} of {limit} terminals, {len(roles) - terms} pane shells"
    if terms < limit:
        return Finding("broker sessions", "ok", found)
    return Finding("broker sessions", "warn", found, "end services that nobody uses: termnode down")


def _ask(arguments: argparse.Namespace) -> Told | None:
    """None when the broker cannot be reached."""
    told = Told()

    async def whole() -> None:
        with trio.move_on_after(ASKED_S):
            async with connect(arguments.runtime_dir) as bus:
                await _gather(bus, arguments.name, told)

    try:
        trio.run(whole)
    except (BusError, RuntimeDirError, OSError, ExceptionGroup) as error:
        if not isinstance(first_error(error), (BusError, RuntimeDirError, OSError)):
            raise
        return None
    return told


async def _gather(bus: Bus, service: str, told: Told) -> None:
    told.identity = await _field(bus, service, "INFO", "identity")
    told.panes = await _field(bus, service, "term.panes", "panes")
    with contextlib.suppress(Refused):
        told.roles = [str(view.role) for view in await bus.sessions.list()]


async def _field(bus: Bus, service: str, verb: str, name: str) -> Any:  # noqa: ANN401  # any JSON
    """A field of a good reply; None when it is not there."""
    reply = await bus.request(service, verb, {})
    return (reply.body or {}).get(name) if reply.ok else None


def _zygote_of(service: int) -> int | None:
    """The service's own child that is one; what it forked itself are children of it."""
    for name in os.listdir("/proc"):
        if name.isdigit() and parent(int(name)) == service and _is_zygote(name):
            return int(name)
    return None


def _is_zygote(pid: str) -> bool:
    try:
        return b"termnode.paneshell" in Path("/proc", pid, "cmdline").read_bytes()
    except OSError:
        return False
