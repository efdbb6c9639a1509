"""Records of verified sessions as a table, and what changed between two looks at them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from brokerd.client import CAPABILITIES
from termnode.cli.output import span, table

Record = dict[str, Any]
"""As `session.list` gives it, and ``service``: the name of the service it belongs to, or None."""

_SHORT: Final = {
    "read_state": "state",
    "read_contents": "contents",
    "manage_layout": "layout",
    "terminate": "end",
}
_HEAD: Final = (
    "NAME",
    "ROLE",
    "SERVICE",
    "PANE",
    "STATE",
    "GENERATION",
    "CAPABILITIES",
    "POLICY",
    "LEASE",
)
_PASSING: Final = frozenset({"lease_remaining_ms", "service"})
"""Fields whose new values are no change of the record."""


def with_service(records: Sequence[Record], service: str, term: str | None) -> list[Record]:
    """The records, marked where they are the service's: that named ``term``, and its panes'."""
    own = next((record for record in records if term and record["name"] == term), None)
    return [
        {**record, "service": service if own is not None and _of(record, own) else None}
        for record in records
    ]


def _of(record: Record, own: Record) -> bool:
    return own["instance_id"] in {record["instance_id"], record["parent_instance"]}


def lines(records: Sequence[Record]) -> list[str]:
    """The table, line by line; a Term comes before the pane shells of its panes."""
    if not records:
        return ["no session: a terminal service has one while it runs"]
    return table(_HEAD, [_row(record) for record in sorted(records, key=_order)]).split("\n")


def _order(record: Record) -> tuple[str, int, str]:
    family = record["parent_instance"] or record["instance_id"]
    return family, int(record["pane_id"] or 0), record["name"]


def _row(record: Record) -> list[str]:
    lease = record["lease_remaining_ms"]
    return [
        record["name"],
        record["role"],
        record["service"] or "-",
        record["pane_id"] or "-",
        record["state"],
        str(record["binding_generation"]),
        capabilities(record["capabilities"]),
        record["policy"] or "-",
        "-" if lease is None else span(int(lease)),
    ]


def capabilities(tokens: Sequence[str]) -> str:
    """The capabilities in short: ``all``, or a word for each."""
    if len(tokens) == len(CAPABILITIES):
        return "all"
    return " ".join(_SHORT.get(token, token) for token in tokens)


def changes(
    before: Mapping[str, Record], after: Mapping[str, Record]
) -> Iterator[tuple[str, Record]]:
    """What happened to records, by their ids: ``new``, ``changed`` or ``gone``, and the record."""
    for record_id, record in after.items():
        known = before.get(record_id)
        if known is None:
            yield "new", record
        elif _lasting(known) != _lasting(record):
            yield "changed", record
    for record_id, record in before.items():
        if record_id not in after:
            yield "gone", record


def _lasting(record: Record) -> Record:
    return {name: value for name, value in record.items() if name not in _PASSING}


def words(change: str, record: Record) -> str:
    """A change for a person, in one line."""
    pane = "" if record["pane_id"] is None else f"  pane {record['pane_id']}"
    state = "" if change == "gone" else f"  {record['state']}"
    generation = f"  generation {record['binding_generation']}"
    return f"{change:<7}  {record['name']}  {record['role']}{pane}{state}{generation}"
