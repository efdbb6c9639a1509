"""Agents that try again and again to have a command run, and keep what they were told of each."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any, Final

from tests.support.stage_d.asking import ShellCaller

RAN: Final = "ran"
INTERRUPTED: Final = "interrupted"
UNKNOWN: Final = "unknown"
REFUSED: Final = "refused"
FAILED: Final = "failed"
NOT_STARTED: Final = "not started"


@dataclass
class Attempt:
    """One command: the word that it logs, what it came to, and why."""

    word: str
    fate: str
    why: str = ""


@dataclass
class Agent:
    """One caller in a thread of its own; ``stop`` it and ``join`` it."""

    name: str
    caller: ShellCaller
    log: str
    attempts: list[Attempt] = field(default_factory=list)
    error: BaseException | None = None

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"agent-{self.name}")
        self._thread.start()

    def stop(self) -> None:
        """Try no more."""
        self._stop.set()

    def join(self) -> None:
        """Wait for its end. Raises what went wrong in it."""
        self._thread.join()
        if self.error is not None:
            raise self.error

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._try()
        except BaseException as error:  # noqa: BLE001 - raised again by join
            self.error = error

    def _try(self) -> None:
        word = f"{self.name}{len(self.attempts) + 1}"
        source = f"echo {word} >>{self.log}"
        if len(self.attempts) % 3 == 2:
            source = f"true\n{source}\ntrue"
        body = self.caller.execution(source, self.caller.generation())
        answer = self.caller.send("shell.execute", body)
        if answer.rc == 0:
            self.attempts.append(self._follow(word, body, answer.body))
            return
        fate = UNKNOWN if answer.why[0] == "UNKNOWN_OUTCOME" else REFUSED
        self.attempts.append(Attempt(word, fate, " ".join(map(str, answer.why))))

    def _follow(self, word: str, body: bytes, accepted: dict[str, Any]) -> Attempt:
        """Ask again for the very same, which must be the same operation, and see its end."""
        if len(self.attempts) % 4 == 0:
            again = self.caller.send("shell.execute", body).body
            assert again["operation_id"] == accepted["operation_id"], again
        result = self.caller.finished(accepted["operation_id"])
        return Attempt(word, _fate(result), f"{result['outcome']} {result['exit']}")


def _fate(result: dict[str, Any]) -> str:
    if result["outcome"] == "unknown":
        return UNKNOWN
    if result["outcome"] == "not_started":
        return NOT_STARTED
    if result["exit"] == {"code": 0}:
        return RAN
    return INTERRUPTED if result["exit"] in ({"signal": 2}, {"code": 130}) else FAILED
