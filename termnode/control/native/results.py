"""What the verbs of the native lane reply with, in words."""

from __future__ import annotations

from typing import Final

from termnode.control.verbs import BY_NAME

LISTS: Final = "The Term, and the tabs and panes that the caller may read, with their targets."

TARGET: Final = (("target", "the pane, with the generation it has now"),)

PLACE: Final = frozenset({"pane", "id", "generation", "pid"})
"""Results of the global lane in whose place the target stands."""

_PANE: Final = (
    "target, tab_id, cols, rows, child_pid, title, state (starting, running or exited), ready "
    "(whether it may be a target now, and not only affected)"
)

SESSION: Final = (
    ("instance_id", "of the Term"),
    ("incarnation", "of the Term"),
    *TARGET,
    ("policy", "default-open or restricted, of the Term's record"),
    ("request_epoch", "the caller's connection: what it names as request_epoch"),
    ("request_high_water", "the caller's highest request id so far: the next must be higher"),
    ("panes", f"those it may read, of each: {_PANE}"),
    ("tabs", "all of whose panes it may read, of each: id, active, title, cols, rows, panes (ids)"),
    ("binding", "how the target's verified session stands"),
    ("foreground_generation", "of the target: what input must name"),
    ("retention_seconds", "how long a reply can be read again"),
    ("requests_per_actor", "how many of one caller"),
    ("instance_request_limit", "how many in all"),
)  # fmt: skip

SNAPSHOT: Final = (
    *TARGET,
    ("foreground_generation", "without contents: what input must name"),
    *(row for row in BY_NAME["term.snapshot"].result if row[0] not in PLACE),
)

ACCEPTED: Final = (
    ("status", "accepted: it is in the queue of the pane"),
    ("outcome", "unknown: ask term.operation"),
    ("request_id", "as it was sent"),
    ("operation_id", "to ask term.operation for"),
)

NAMED: Final = (("operation_id", "its request id: to ask term.operation for"),)
"""Of every mutation that was carried out."""

OPENED_TAB: Final = (
    ("tab_id", "the new tab"),
    ("target", "of the pane in it once it is control-ready, else null: list the panes then"),
)
OPENED_PANE: Final = (("pane_id", "the new pane"), OPENED_TAB[1])
RESTARTED: Final = (
    ("target", "as it was named: its generation ends with it, list the panes for the next"),
    *NAMED,
)
SELECTED: Final = (("selected", "the target"),)
CLOSED: Final = (("closed", "the target"),)

EVENTS: Final = (*TARGET, *BY_NAME["term.events"].result)

OPERATION: Final = (
    ("operation_id", "as asked"),
    ("status", "pending, completed, or unknown; of other verbs than input their first reply"),
    ("boundary", "pty_write: that is what was completed, not that a command has run"),
    ("reason", "input_lease_ended when it did, before every byte was written"),
    ("delivered_bytes_lower_bound", "bytes that are known to have reached the terminal"),
)

PROPERTY: Final = (("…", "as the verb that it stands for"),)


def with_target(name: str) -> tuple[tuple[str, str], ...]:
    """The target, then what the verb of that name replies on the global lane beside it."""
    return (*TARGET, *(row for row in BY_NAME[name].result if row[0] not in PLACE))
