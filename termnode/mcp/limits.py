"""Every number of the MCP server in one place (specs/mcp.md). Times are in seconds."""

from __future__ import annotations

from typing import Final

LONGEST_WAIT_S: Final = 44.0
"""Of one wait: the answer is there within 45 s, since many clients give up at 60."""

PROGRESS_S: Final = 1.0
"""Between two reports of progress."""

ASK_S: Final = 120.0
"""For a person to answer; then nobody has said yes."""

RESULT_BYTES: Final = 32 * 1024
"""Text of one result, as UTF-8."""

LISTED: Final = 200
"""Panes in one answer of ``panes``."""

CALLS: Final = 32
"""Calls under way at a time, of all clients; more are refused."""

QUESTIONS: Final = 16
"""Questions whose answer has not come back; the oldest is forgotten for a new one."""

QUESTION_CHARS: Final = 3_500
"""Of a command line that a person can be asked about: the question is shown whole or not asked."""

SESSIONS: Final = 16
"""Clients of one HTTP server."""

SILENT_S: Final = 600.0
"""After which an HTTP client without a request under way is taken to be gone."""

WATCHED: Final = 16
"""Resources that one client is told about."""

WATCH_S: Final = 0.5
"""Between two looks at a resource that somebody subscribed to."""

LINE_BYTES: Final = 4 * 1024 * 1024
"""Of one message on standard input; a longer one is answered with an error and not kept."""

BODY_BYTES: Final = 1024 * 1024
"""Of one HTTP request."""

GRACE_S: Final = 0.5
"""After the end of the input, for answers to what was asked before it."""

CLOSE_S: Final = 5.0
"""For the terminals to be closed when the server ends."""

CONNECT_S: Final = 5.0
"""For the service to answer when it is first needed."""

TOKEN_BYTES: Final = 32
