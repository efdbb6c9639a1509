"""term.view.open: a token for the view socket."""

from __future__ import annotations

from termnode.lanes.calls import Caller
from termnode.service.state import Args, Result, State


def open_view(caller: Caller | None, state: State, args: Args) -> Result:
    """term.view.open. Raises Refusal: FORBIDDEN, UNAVAILABLE (`no_view_socket`)."""
    return state.access.open(caller, args.get("ticket"))
