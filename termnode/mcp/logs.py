"""The log: one line each on standard error, and nothing of what was asked, typed or shown."""

from __future__ import annotations

import logging
import sys
from typing import Final

OURS: Final = "termnode"


class _Line(logging.Formatter):
    """Of others' records only where they are from and which error: words may be a caller's."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        head = f"{self.formatTime(record)} {record.levelname.lower()} {record.name}"
        if record.name.split(".")[0] == OURS:
            words = record.getMessage()
        else:
            error = record.exc_info[0] if record.exc_info else None
            what = "" if error is None else f" {error.__name__}"
            words = f"{record.funcName}:{record.lineno}{what}"
        return " ".join(f"{head}: {words}".split())


def to_standard_error(level: int = logging.WARNING) -> None:
    """All logging of this process goes there from now on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Line())
    logging.basicConfig(handlers=[handler], level=level, force=True)
