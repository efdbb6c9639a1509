"""``termnode panes --native``: the targets of the panes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from termnode.cli import native
from termnode.cli.exits import OK
from termnode.cli.output import DIM, paint, table
from termnode.cli.remote import print_json

if TYPE_CHECKING:
    import argparse

    from termnode.client.native_replies import NativePaneInfo, NativeSession


def run(arguments: argparse.Namespace) -> int:
    """Print the Term and the targets of its panes."""
    session = native.look(arguments)
    if arguments.json:
        print_json(as_json(session))
    else:
        print("\n".join(lines(session)))
    return OK


def as_json(session: NativeSession) -> dict[str, object]:
    """Targets as they are on the wire."""
    return {
        "instance_id": session.instance_id,
        "incarnation": session.incarnation,
        "policy": session.policy,
        "panes": [_pane(info) for info in session.panes],
    }


def lines(session: NativeSession) -> list[str]:
    """A table, and under it what all the targets have in common."""
    rows = [
        [
            str(info.target.pane_id),
            str(info.target.pane_generation),
            str(info.tab_id),
            f"{info.cols}x{info.rows}",
            info.state,
            "ready" if info.ready else "-",
            info.title or "-",
        ]
        for info in session.panes
    ]
    head = ("PANE", "GENERATION", "TAB", "SIZE", "STATE", "CONTROL", "TITLE")
    under = (
        f"instance {session.instance_id}",
        f"incarnation {session.incarnation}",
        f"policy {session.policy}",
    )
    return [table(head, rows), *(paint(line, DIM) for line in under)]


def _pane(info: NativePaneInfo) -> dict[str, object]:
    return {
        "target": info.target.to_json(),
        "tab_id": info.tab_id,
        "cols": info.cols,
        "rows": info.rows,
        "child_pid": info.child_pid,
        "title": info.title,
        "state": info.state,
        "ready": info.ready,
    }
