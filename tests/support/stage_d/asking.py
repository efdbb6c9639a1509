"""Who asks a pane shell by its allocated name, by hand: bodies are made here, sent as they are."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.support.session_peer import Answer, Fields, SessionPeer
from tests.support.termnode_process import eventually

WAIT_MS: Final = 5_000
"""For one request for a result; they are repeated."""

NOT_YET: Final = frozenset(("person", "not_editing", "input_queued", "no_reply", "unknown_prompt"))
"""Reasons of BUSY that a prompt gives while it is just being shown, on a slow machine."""


class ShellCaller:
    """One connection, and the pane shell that it asks: ``record`` is that shell's own."""

    def __init__(self, peer: SessionPeer, record: Fields) -> None:
        self.peer = peer
        self.record = record
        self.last_id = 0
        """The highest request id of this caller."""
        self._asked = 0

    @property
    def target(self) -> Fields:
        """The attachment as requests name it."""
        names = ("record_id", "incarnation", "binding_generation")
        return {
            "broker_epoch": self.record["broker_epoch"],
            "record": {name: self.record[name] for name in names},
            "instance_id": self.record["instance_id"],
            "pane_id": self.record["pane_id"],
            "pane_generation": self.record["pane_generation"],
        }

    # -- requests ----------------------------------------------------------------------------------

    def body(self, **fields: Any) -> bytes:  # noqa: ANN401
        """A request of these fields."""
        return json.dumps({"version": 1, "target": self.target, **fields}).encode()

    def post(self, verb: str, raw: bytes) -> str:
        """Ask, and do not wait; the id to get the answer by."""
        self._asked += 1
        id = f"s-{self._asked}"  # noqa: A001 - the name on the wire
        self.peer.ask(self.record["name"], raw, id=id, command=verb)
        return id

    def answer(self, id: str) -> Answer:  # noqa: A002 - the name on the wire
        """The answer to what was posted."""
        header, body, _ = self.peer.next_of(lambda h: (h.type, h.id) == ("response", id))
        return Answer(header.rc, json.loads(body))

    def send(self, verb: str, raw: bytes) -> Answer:
        """Ask with these very bytes."""
        return self.answer(self.post(verb, raw))

    def ask(self, verb: str, **fields: Any) -> Answer:  # noqa: ANN401
        return self.send(verb, self.body(**fields))

    def good(self, verb: str, **fields: Any) -> Fields:  # noqa: ANN401
        """What is answered to a request that must be good."""
        answer = self.ask(verb, **fields)
        assert answer.rc == 0, (verb, answer.body)
        return answer.body

    def submission(self, **fields: Any) -> bytes:  # noqa: ANN401
        """The body of a submission with a fresh id."""
        self.last_id += 1
        return self.body(**{"request_id": str(self.last_id), **fields})

    # -- the prompt --------------------------------------------------------------------------------

    def status(self) -> Fields:
        """The snapshot of shell.status."""
        found: Fields = self.good("shell.status")["status"]["snapshot"]
        return found

    def generation(self) -> str:
        """Of the prompt, as it is told now."""
        found: str = self.status()["prompt_generation"]
        return found

    def at_prompt(self, after: str = "0") -> str:
        """Wait for a primary prompt of a generation above ``after``; the generation."""

        def shown() -> str | None:
            said = self.status()
            ready = said["phase"] == "prompt-ready" and not said["continuation"]
            newer = int(said["prompt_generation"]) > int(after)
            return str(said["prompt_generation"]) if ready and newer else None

        return eventually(shown, "the shell is at its prompt")

    # -- commands ----------------------------------------------------------------------------------

    def execution(self, source: str, generation: str | None = None, **fields: Any) -> bytes:  # noqa: ANN401
        """The body of a submission for the prompt of that generation (the present one)."""
        now = self.at_prompt() if generation is None else generation
        return self.submission(source=source, prompt_generation=now, **fields)

    def execute(self, source: str, generation: str | None = None, **fields: Any) -> Answer:  # noqa: ANN401
        """Submit once."""
        return self.send("shell.execute", self.execution(source, generation, **fields))

    def accepted(self, source: str) -> str:
        """Submit until it is accepted; its operation id."""

        def tried() -> str | None:
            answer = self.execute(source)
            if answer.rc == 0:
                assert answer.body["status"] == "accepted"
                return str(answer.body["operation_id"])
            assert answer.why[0] == "STALE_GENERATION" or (
                answer.why[0] == "BUSY" and answer.why[1] in NOT_YET
            ), answer.body
            return None

        return eventually(tried, f"{source!r} is accepted")

    def run(self, source: str) -> Fields:
        """Have it run; its result."""
        return self.finished(self.accepted(source))

    def finished(self, operation: str) -> Fields:
        """The result of an operation, once it has ended."""

        def asked() -> Fields | None:
            said = self.good("shell.execute.result", operation_id=operation, wait_ms=WAIT_MS)
            assert said["operation_id"] == operation
            return said["result"] if said["state"] == "finished" else None

        return eventually(asked, f"operation {operation} has finished")

    # -- tasks -------------------------------------------------------------------------------------

    def task(self, **fields: Any) -> bytes:  # noqa: ANN401
        """The body of a submission of a task."""
        return self.submission(**{"cwd": "/", "timeout_ms": 60_000, **fields})

    def submit(self, **fields: Any) -> Answer:  # noqa: ANN401
        """Submit a task once."""
        return self.send("shell.task.submit", self.task(**fields))

    def started(self, **fields: Any) -> str:  # noqa: ANN401
        """A task that must be accepted; its operation id."""
        answer = self.submit(**fields)
        assert answer.rc == 0, answer.body
        return str(answer.body["operation_id"])

    def settled(self, operation: str) -> Fields:
        """The report of a task, once it has settled."""

        def asked() -> Fields | None:
            said = self.good("shell.task.result", operation_id=operation, wait_ms=WAIT_MS)
            return said["report"] if said["state"] == "settled" else None

        return eventually(asked, f"task {operation} has settled")

    def report(self, **fields: Any) -> Fields:  # noqa: ANN401
        """Run a task; its report."""
        return self.settled(self.started(**fields))
