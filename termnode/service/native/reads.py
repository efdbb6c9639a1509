"""The verbs of the native lane that only look, and the wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from termnode.control.native.decisions import Go
from termnode.control.native.fields import CONTENTS
from termnode.service.looking.snapshot import snapshot as contents_of
from termnode.service.native.parts import Native
from termnode.service.native.results import foreground, session
from termnode.service.native.targets import in_place
from termnode.service.state import Args, Result
from termnode.service.waiting.waits import wait as wait_for

Read: TypeAlias = Callable[[Native, Go], Result]


def snapshot(native: Native, go: Go) -> Result:
    """term.snapshot: what must be named for input, or what the pane shows."""
    if not go.args[CONTENTS.name]:
        return {
            "target": go.target.to_json(),
            "foreground_generation": foreground(native, go.target.pane_id),
        }
    return in_place(go.target, contents_of(native.state, _args(go)))


async def wait(native: Native, go: Go) -> Result:
    """term.wait. What it says is to be told only when the gate allows it then."""
    return in_place(go.target, await wait_for(native.state, _args(go)))


READS: Final[Mapping[str, Read]] = MappingProxyType(
    {
        **dict.fromkeys(("term.session", "term.list", "term.tabs", "term.panes"), session),
        "term.snapshot": snapshot,
    }
)


def _args(go: Go) -> Args:
    return {**go.args, "pane": go.target.pane_id}
