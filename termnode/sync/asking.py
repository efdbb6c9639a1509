# Made from termnode/client/asking.py by python -m termnode.client.generate.
"""What a session, its tabs and its panes have in common."""

from __future__ import annotations

from typing import TypeVar

from termnode.client import requests
from termnode.client.anchors import Anchors
from termnode.client.calls import Call
from termnode.client.errors import NotFound
from termnode.client.link import Link
from termnode.client.pane_replies import PaneInfo
from termnode.client.replies import TabInfo
from termnode.client.seen import Waited
from termnode.sync.runner import Runner

R = TypeVar("R")


class Asking:
    """Asks the service for things and remembers what was sent to which pane."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.anchors = Anchors()

    def ask(self, call: Call[R]) -> R:
        """What the service answers. Raises TermnodeError."""
        return self.runner.run(Link.ask, call)

    def wait(self, call: Call[Waited], timeout: float | None) -> Waited:
        """How a wait ended. Raises TermnodeError."""
        return self.runner.run(Link.wait, call, timeout)

    def pane_info(self, pane: int) -> PaneInfo:
        """What is known of a pane. Raises NotFound."""
        for info in (self.ask(requests.panes())).panes:
            if info.id == pane:
                return info
        raise NotFound(f"there is no pane {pane}")

    def tab_info(self, tab: int) -> TabInfo:
        """What is known of a tab. Raises NotFound."""
        for info in (self.ask(requests.tabs())).tabs:
            if info.id == tab:
                return info
        raise NotFound(f"there is no tab {tab}")
