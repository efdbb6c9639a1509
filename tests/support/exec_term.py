"""A Term whose panes' shells run commands and tasks, with a bad line; on a bus in memory."""

from __future__ import annotations

import json
from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from brokerd.client import RC_OK, Bus, ErrorCode, RecordView, Refusal, Request
from termnode.control.native.decisions import Go
from termnode.control.native.ledger import Later
from termnode.lanes.calls import Sealed
from termnode.lanes.sealing import seal_refusal
from tests.support.native_term import NativeTerm, _good

EXECUTED: dict[str, Any] = {
    "outcome": "completed",
    "exit": {"code": 3},
    "output": {"text": "one\r\ntwo", "bytes": 8, "truncated": False, "omitted": 0, "gap": None},
    "cwd": "/tmp",
    "duration_ms": 12,
}

REPORT: dict[str, Any] = {
    "version": 1,
    "outcome": {"kind": "exited", "code": 0},
    "stdout": {"bytes": "3", "truncated": False, "writer_survived": False, "text": "out"},
    "stderr": {"bytes": "0", "truncated": False, "writer_survived": False, "text": ""},
    "result": {"kind": "value", "data": {"n": None}},
    "survivors": 1,
    "survivors_left": 0,
    "duration_ms": 5,
}


@dataclass
class ExecTerm(NativeTerm):
    """See the module."""

    generation: int = 4
    """Of every shell's prompt."""
    moves: int = 0
    """So many times the prompt moves on after somebody has looked."""
    unanswered: int = 0
    """Submissions that the Term passes on and hears nothing of."""
    ran: deque[dict[str, Any]] = field(default_factory=deque)
    """Bodies of submissions as they were carried out."""
    results: deque[dict[str, Any] | Refusal] = field(default_factory=deque)
    """What is answered to the next questions for a result; then that it has ended."""
    looks: int = 0
    waits: list[int] = field(default_factory=list)
    quick: bool = False
    """Whether a command that is waited for ends before its acceptance is told."""
    attached: ExitStack = field(default_factory=ExitStack)

    async def _enrol(self, bus: Bus, child: Bus, pane: int) -> RecordView:
        record = await super()._enrol(bus, child, pane)
        self.attached.enter_context(child.attend_bound(lambda asked: self._status(asked, record)))
        return record

    def _status(self, asked: Request, record: RecordView) -> None:
        """The shell's own answer."""
        self.looks += 1
        target = asked.body()["target"]
        assert isinstance(target, dict)
        if target["record"] != record.ref.to_json():
            asked.refuse(Refusal(ErrorCode.STALE_GENERATION, "another attachment"))
            return
        snapshot = {
            "phase": "prompt-ready", "prompt_generation": str(self.generation),
            "continuation": False, "cwd": "/somewhere", "cwd_truncated": False,
            "prompt_source": "integration", "command_id": None,
        }  # fmt: skip
        asked.respond(RC_OK, {"version": 1, "status": {"snapshot": snapshot}})
        if self.moves:
            self.moves -= 1
            self.generation += 1

    async def _mutate(self, request: Request, go: Go) -> Sealed:
        if go.request.spec is None or go.request.spec.forwarded is None:
            return await super()._mutate(request, go)
        body = json.loads(request.raw)
        if go.request.command == "term.execute" and body["prompt_generation"] != str(
            self.generation
        ):
            return seal_refusal(Refusal(ErrorCode.STALE_GENERATION, "the prompt has moved on"))
        if self.unanswered:
            self.unanswered -= 1
            text = "the pane's shell did not answer"
            return seal_refusal(Refusal(ErrorCode.UNKNOWN_OUTCOME, text, reason="no_answer"))
        self.ran.append(body)
        return await super()._mutate(request, go)

    def _done(self, go: Go, operation: int) -> tuple[Sealed, Later | None]:
        if go.spec.forwarded is None:
            return super()._done(go, operation)
        told = {"operation_id": str(1000 + operation), "state": "running", "status": "accepted"}
        if self.quick and go.args.get("wait_ms"):
            told = {**told, **_ended(go.spec.name)}
        return _good({**told, "target": go.target.to_json()}), None

    async def answer(self, request: Request) -> Sealed:
        """As ever; what a shell refuses is told."""
        try:
            return await super().answer(request)
        except Refusal as refusal:
            return seal_refusal(refusal)

    def _read(self, request: Request, go: Go) -> dict[str, object]:
        if go.spec.forwarded is None:
            return super()._read(request, go)
        operation = str(go.request.operation_id)
        around = {"target": go.target.to_json(), "operation_id": operation}
        if go.spec.name.endswith(".cancel"):
            told = {"outcome": "requested", "delivery": "SIGINT was sent", "signalled_pgid": 7}
            return {**around, **told}
        wait = go.args["wait_ms"]
        assert isinstance(wait, int)
        self.waits.append(wait)
        found = self.results.popleft() if self.results else _ended(go.spec.name)
        if isinstance(found, Refusal):
            raise found
        return {**around, **found}


def _ended(verb: str) -> dict[str, Any]:
    if verb.startswith("term.task"):
        return {"state": "settled", "report": REPORT}
    return {"state": "finished", "result": EXECUTED}
