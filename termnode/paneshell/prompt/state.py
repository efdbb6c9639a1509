"""Where the person's shell stands, as its own records say. No I/O; the clock is handed in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from termnode.paneshell.prompt.records import Cont, Hello, Prompt, PromptRecord, ReplyWord, Run

STARTING: Final = "starting"
PROMPT_READY: Final = "prompt-ready"
EVALUATING: Final = "evaluating"
EXITING: Final = "exiting"

MAX_LOST: Final = 2
"""Times in a row that the hooks were found lost, after which commands are refused for good."""

_PHASE_OF_WORD: Final = {
    "READY": PROMPT_READY,
    "BUSY": PROMPT_READY,
    "STALE_GENERATION": PROMPT_READY,
    "CONTINUATION": PROMPT_READY,
    "RUNNING": EVALUATING,
}


@dataclass(slots=True)
class PromptState:
    """The prompt of one shell.

    ``generation`` counts the prompts that its editor showed, 0 while none is known. ``hooks_lost``
    counts how often in a row the shell found its hooks lost.
    """

    phase: str = STARTING
    generation: int = 0
    continuation: bool = False
    hello: Hello | None = None
    running_op: str | None = None
    cwd: bytes | None = None
    hooks_lost: int = 0
    heard: bool = field(default=False)
    """Whether the shell has told anything."""

    @property
    def integrated(self) -> bool:
        """Whether commands may be admitted here at all."""
        return self.hooks_lost < MAX_LOST and self.phase != EXITING

    @property
    def known(self) -> bool:
        """Whether it is known where the prompt is."""
        return self.generation > 0

    @property
    def ready(self) -> bool:
        """Whether a primary prompt is shown, and no line of it was accepted yet."""
        return self.phase == PROMPT_READY and not self.continuation

    def note(self, record: PromptRecord) -> None:
        """Take what the shell tells. What has ended never comes back."""
        if self.phase == EXITING:
            return
        self.heard = True
        if isinstance(record, Prompt):
            self._prompt(record)
        elif isinstance(record, Run):
            self.phase, self.running_op, self.continuation = EVALUATING, record.op, False
        elif isinstance(record, Cont):
            self.continuation = True
            self._rise(record.generation)
        elif isinstance(record, ReplyWord):
            self._reply(record)
        else:
            self.hello = record

    def lose_hooks(self) -> None:
        """A prompt came that the shell did not tell of."""
        self.hooks_lost += 1
        self.running_op = None

    def end(self) -> None:
        """The program has ended."""
        self.phase, self.running_op, self.continuation = EXITING, None, False

    def _prompt(self, record: Prompt) -> None:
        self.phase, self.running_op, self.continuation = PROMPT_READY, None, False
        self.hooks_lost = 0
        self.cwd = record.cwd or self.cwd
        self._rise(record.generation)

    def _reply(self, record: ReplyWord) -> None:
        if record.word == "HOOKS_LOST":
            self.hooks_lost += 1
        if not self.known and (phase := _PHASE_OF_WORD.get(record.word)) is not None:
            self.phase = phase
            self.continuation = record.word == "CONTINUATION"
        self._rise(record.generation)

    def _rise(self, generation: int) -> None:
        self.generation = max(generation, self.generation)
