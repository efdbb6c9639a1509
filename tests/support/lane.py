"""A global lane with hands on everything that goes in, and a valid body for every verb."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from brokerd.client import Json
from termnode.control.audit import Audit
from termnode.control.posture import Posture
from termnode.control.retry import RetryTable
from termnode.lanes.calls import Admitted, Answer, Call, Caller, Reply, Sealed, Settled, Ticket
from termnode.lanes.global_lane import GlobalLane, LaneRetries

BODIES: dict[str, dict[str, Json]] = {
    "INFO": {},
    "HELP": {},
    "term.session": {},
    "term.resize": {"cols": 100, "rows": 30},
    "term.tabs": {},
    "term.tab.new": {
        "argv": ["sh", "-c", "exit 3"],
        "cwd": "/",
        "env": {"LANG": "C"},
        "title": "one",
        "remain": 5,
        "background": True,
    },
    "term.tab.select": {"id": 1},
    "term.tab.close": {"id": 1},
    "term.tab.rename": {"id": 1, "title": "build"},
    "term.tab.layout": {"id": 1, "layout": "tiled"},
    "term.panes": {},
    "term.pane.split": {"dir": "horizontal", "pane": 1, "title": "two"},
    "term.pane.close": {"pane": 1, "wait": True},
    "term.pane.select": {"id": 1},
    "term.pane.restart": {"pane": 1},
    "term.pane.resize": {"pane": 1, "cols": 40, "rows": 10},
    "term.pane.rename": {"pane": 1, "title": "logs"},
    "term.pane.swap": {"pane": 1, "with": 2},
    "term.pane.break": {"pane": 1},
    "term.pane.join": {"pane": 1, "beside": 2, "dir": "v"},
    "term.pane.zoom": {"pane": 1, "on": True},
    "term.type": {"text": "ls\n", "pane": 1, "enter": True},
    "term.keys": {"keys": ["Escape", "C-c"], "pane": 1, "within_ms": 5_000},
    "term.paste": {
        "text": "a\nb",
        "pane": 1,
        "more": True,
        "operation": "p-1",
        "offset": 3,
        "plain": True,
        "within_ms": 5_000,
    },
    "term.mouse": {"action": "click", "x": 1, "y": 2, "button": "left", "modifiers": ["alt"]},
    "term.snapshot": {"pane": 1, "format": "text", "offset": 3, "lines": 2},
    "term.wait": {"until": "done$", "pane": 1, "timeout_ms": 5},
    "term.events": {"pane": 1, "kinds": ["prompt"], "after": 3},
    "term.view.open": {"ticket": "0" * 64},
    "term.ask": {"title": "run", "text": "run it?", "timeout_ms": 5},
    "term.log": {"limit": 3},
}


@dataclass(frozen=True)
class Local:
    """A user of this machine, as a lane sees it."""

    unix_uid: int | None = 1000
    peer_pid: int | None = 4242
    owner_node: str = "here"
    assurance: str = "local-unix"


@dataclass(frozen=True)
class Remote:
    """Another machine."""

    unix_uid: int | None = None
    peer_pid: int | None = None
    owner_node: str = "there"
    assurance: str = "node"


@dataclass
class Rig:
    """A lane, its surroundings, and its clock in seconds."""

    posture: Posture = Posture.OPEN
    retries: LaneRetries = field(default_factory=RetryTable)
    audit: Audit = field(default_factory=Audit)
    mutations_waiting: int = 64
    waits: int = 64
    joined: int = 64
    now: float = 100.0
    asked_posture: int = 0

    def __post_init__(self) -> None:
        self.lane = GlobalLane(
            read_posture=self._read_posture,
            retries=self.retries,
            audit=self.audit,
            info=lambda: {"service": "term", "version": "0"},
            wall_ms=lambda: int(self.now * 1000),
            mutations_waiting=self.mutations_waiting,
            waits=self.waits,
            joined=self.joined,
        )

    def _read_posture(self) -> Posture:
        self.asked_posture += 1
        return self.posture

    def admit(
        self,
        verb: str,
        body: dict[str, Json] | bytes | None = None,
        *,
        principal: Caller | None = Local(),
        reply_to: object = None,
    ) -> object:
        raw = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
        return self.lane.admit(Call(principal, verb, raw, reply_to), self.now)

    def ticket(
        self, verb: str, body: dict[str, Json] | None = None, *, principal: Caller = Local()
    ) -> Ticket:
        verdict = self.admit(verb, body, principal=principal)
        assert isinstance(verdict, Admitted), verdict
        return verdict.ticket

    def answer(
        self,
        verb: str,
        body: dict[str, Json] | bytes | None = None,
        *,
        principal: Caller | None = Local(),
    ) -> Sealed:
        verdict = self.admit(verb, body, principal=principal)
        assert isinstance(verdict, Answer), verdict
        return verdict.reply

    def settle(self, ticket: Ticket, reply: Reply | None = None) -> Settled:
        return self.lane.settle(ticket, reply or Reply.ok(done=True), self.now)


def decoded(sealed: Sealed) -> dict[str, Json]:
    body = json.loads(sealed.raw)
    assert isinstance(body, dict)
    return body


def code(sealed: Sealed) -> str:
    """The error code of a refusal; "ok" for a success."""
    return str(decoded(sealed).get("error_code", "ok"))


def details(sealed: Sealed) -> dict[str, Json]:
    value = decoded(sealed)["details"]
    assert isinstance(value, dict)
    return value
