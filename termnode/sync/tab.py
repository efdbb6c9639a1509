# Made from termnode/client/tab.py by python -m termnode.client.generate.
"""A tab: panes that share one screen."""

from __future__ import annotations

from termnode.client import requests
from termnode.client.replies import TabInfo
from termnode.sync.asking import Asking
from termnode.sync.pane import Pane


class Tab:
    """One tab of a session. ``info`` and the attributes made of it are as of the last look::

    tab = session.new_tab("htop", title="load")
    pane = tab.active_pane
    """

    def __init__(self, asking: Asking, info: TabInfo) -> None:
        self._asking = asking
        self.info = info

    @property
    def id(self) -> int:
        """Its number."""
        return self.info.id

    @property
    def title(self) -> str:
        """Its name, or the title of its active pane."""
        return self.info.title

    @property
    def active(self) -> bool:
        """Whether it is the active tab."""
        return self.info.active

    def refresh(self) -> Tab:
        """Look again; returns the tab itself. Raises NotFound."""
        self.info = self._asking.tab_info(self.id)
        return self

    @property
    def panes(self) -> list[Pane]:
        """Its panes, as they are now."""
        found = (self._asking.ask(requests.panes())).panes
        return [Pane(self._asking, info) for info in found if info.tab == self.id]

    @property
    def active_pane(self) -> Pane:
        """Its active pane, as it is now. Raises NotFound."""
        self.refresh()
        return Pane(self._asking, self._asking.pane_info(self.info.active_pane))

    def select(self) -> None:
        """Make it the active tab."""
        self._asking.ask(requests.tab_select(id_=self.id))
        self.refresh()

    def rename(self, title: str) -> None:
        """Name it; an empty name goes back to the title of its active pane."""
        self._asking.ask(requests.tab_rename(id_=self.id, title=title))
        self.refresh()

    def layout(self, layout: str) -> None:
        """Arrange its panes: even-horizontal, even-vertical, main-horizontal, main-vertical or
        tiled. The main pane is the active one. Raises ResourceLimit where they have no room."""
        self._asking.ask(requests.tab_layout(id_=self.id, layout=layout))

    def close(self) -> None:
        """Close it and end the programs in it. Raises NotFound."""
        self._asking.ask(requests.tab_close(id_=self.id))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tab) and other._key() == self._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[int, int]:
        return id(self._asking), self.id

    def __repr__(self) -> str:
        return f"<Tab {self.id}, {len(self.info.panes)} panes>"
