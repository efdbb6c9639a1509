"""Bounds of isolated tasks (specs/tasks.md). Times are seconds unless the name says otherwise."""

from __future__ import annotations

from typing import Final

MAX_REQUEST: Final = 8_192
"""Bytes of a request's body."""

MAX_SOURCE: Final = 4_096
"""Bytes of a script; also of all words of an argv together."""

MAX_WORDS: Final = 256
"""Words of an argv."""

MAX_VARIABLES: Final = 64
MAX_ENVIRONMENT: Final = 4_096
"""Bytes of all names and values that a request adds."""

MAX_TIMEOUT_MS: Final = 600_000
MAX_WAIT_MS: Final = 45_000
MAX_RUNNING: Final = 4
"""Tasks of one shell at once."""

KEPT_SETTLED: Final = 8
"""Settled tasks whose report is kept."""

GRACE: Final = 2.0
"""Between SIGTERM and SIGKILL, between SIGKILL and giving up, and for what settlement still reads
and reaps."""

MAX_STREAM: Final = 65_536
"""Bytes of one stream that are kept; then also of its text as JSON, both quotes included."""

MAX_RESULT: Final = 65_536
"""Bytes of JSON on the result descriptor, and of the same in a report."""

MAX_REPORT: Final = 240 * 1_024
"""Bytes that no report as JSON comes up to."""

SPAWN: Final = 5.0
"""Until a started program must have been exec'd; its child is killed after that."""

RESULT_FD: Final = 3
"""Where a script may write its result."""
