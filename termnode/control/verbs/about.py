"""INFO, HELP, the session and its log."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from termnode.control.fields import COLS, LIMIT, PATIENCE, QUESTION, QUESTION_TITLE, ROWS, TICKET
from termnode.control.spec import Capability, Kind, VerbSpec

INFO: Final = "INFO"
HELP: Final = "HELP"

_LOG_ENTRY: Final = (
    "of each: seq, time (Unix milliseconds), principal, verb, pane, outcome, duration_ms, "
    "request_id (whether there was one), replayed"
)

_IDENTITY: Final = (
    "of the service on the bus: state (off, starting, ready or lost), and what there is of policy, "
    "name, problem (specs/identity.md)"
)

ABOUT: Final = (
    VerbSpec(
        INFO,
        "What serves this name and how it is set; answered in strict posture too.",
        Kind.READ,
        None,
        (),
        (
            ("service", "the name it serves"),
            ("version", "of Termnode"),
            ("posture", "open or strict, as read for this request"),
            ("identity", _IDENTITY),
            ("verbs", "names of all verbs"),
            ("limits", "request_bytes, response_bytes, mutations, waits, remembered"),
        ),
        always=True,
    ),
    VerbSpec(
        HELP,
        "All verbs with their fields, results and errors; answered in strict posture too.",
        Kind.READ,
        None,
        (),
        (
            (
                "verbs",
                "one object per verb, from the same table as this text; lanes says where it is",
            ),
            ("native", "the native lane: its verbs, and the fields around them (envelope)"),
            ("errors", "every error code and what to do about it"),
        ),
        always=True,
    ),
    VerbSpec(
        "term.session",
        "How the service is and what is active in it.",
        Kind.READ,
        Capability.READ_STATE,
        (),
        (
            ("service", "the name it serves"),
            ("version", "of Termnode"),
            ("posture", "open or strict"),
            ("pid", "process of the service"),
            ("uptime_ms", "since it started"),
            ("emulator", "the terminal emulator in use"),
            ("cols", "columns of the terminal"),
            ("rows", "rows of the terminal"),
            ("tabs", "how many there are"),
            ("panes", "how many there are"),
            ("active_tab", "its id; left out when there is none"),
            ("active_pane", "its id; left out when there is none"),
        ),
    ),
    VerbSpec(
        "term.resize",
        "Set the size of the terminal: of every tab.",
        Kind.MUTATION,
        Capability.MANAGE_LAYOUT,
        (replace(COLS, required=True), replace(ROWS, required=True)),
        (("cols", "columns of a tab"), ("rows", "rows of a tab")),
        example={"cols": 120, "rows": 40, "request_id": "r-9"},
    ),
    VerbSpec(
        "term.view.open",
        "A view for a person: a one-time token for the service's view socket (specs/view.md).",
        Kind.SUBSCRIPTION,
        None,
        (TICKET,),
        (
            ("token", "to be used within 10 seconds, by the process that asked"),
            ("path", "of the socket"),
        ),
        limits="local processes of the service's own user; in strict posture with a ticket, or "
        "FORBIDDEN as for anybody else",
        always=True,
    ),
    VerbSpec(
        "term.ask",
        "Ask the person at the views a question, and wait for yes or no.",
        Kind.WAIT,
        Capability.EXECUTE,
        (QUESTION_TITLE, QUESTION, PATIENCE),
        (
            (
                "answer",
                "yes, no, or none when nobody answered in time: only yes means yes",
            ),
            ("elapsed_ms", "how long it took"),
        ),
        limits="local processes of the service's own user, 4 questions of each and 16 in all; "
        "UNAVAILABLE when no view is attached that may answer; the service itself says who asks",
        example={"title": "open a terminal", "text": "Run vim in it?", "timeout_ms": 30_000},
    ),
    VerbSpec(
        "term.log",
        "Who asked for what, newest last; no text, no arguments.",
        Kind.READ,
        Capability.READ_STATE,
        (LIMIT,),
        (
            (
                "entries",
                _LOG_ENTRY,
            ),
        ),
        limits="the last 1,024 are kept",
        example={"limit": 20},
    ),
)
