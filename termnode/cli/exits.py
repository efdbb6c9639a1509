"""Exit codes of every command, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OK: Final = 0
REFUSED: Final = 1
"""The service answered with a refusal, or what was asked for did not happen."""

USAGE: Final = 2
TRANSPORT: Final = 3
"""The service or the broker could not be reached, or did not answer in time."""

INTERRUPTED: Final = 130
"""By Ctrl-C, as shells say it: 128 and the number of SIGINT."""

TRY_AGAIN: Final = 75
"""Nothing ran, and it may go well later."""

STILL_RUNS: Final = 124
"""As timeout(1) says it."""

NOT_ITS_OWN: Final = 125
"""Of what runs a command: the code is not the command's, which may not have run."""

OF_COMMANDS: Final = (
    "exit codes: that of the command, 128+N for signal N; 75 nothing ran and it may go well later "
    "(somebody types, something runs), 124 the time ran out, 125 anything else that is not the "
    "command's own, 2 wrong usage, 130 left running by Ctrl-C"
)
"""Of ``exec``, ``task`` and ``result``."""

MEANING: Final = (
    "exit codes: 0 done, 1 refused or not found, 2 wrong usage, "
    "3 the service could not be reached or did not answer"
)


class CommandError(Exception):
    """Ends a command with a message for the person and an exit code.

    ``error_code`` is the one of the vocabulary that says the same to a program, if any does;
    ``details`` are those of the refusal; ``reply`` is what --json prints of it.
    """

    def __init__(
        self,
        message: str,
        code: int = REFUSED,
        error_code: str | None = None,
        details: Mapping[str, object] | None = None,
        reply: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.error_code = error_code
        self.details = details or {}
        self.reply = reply
