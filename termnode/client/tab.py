"""A tab: panes that share one screen."""

from __future__ import annotations

from termnode.client import requests
from termnode.client.asking import Asking
from termnode.client.pane import Pane
from termnode.client.replies import TabInfo


class Tab:
    """One tab of a session. ``info`` and the attributes made of it are as of the last look::

    tab = await session.new_tab("htop", title="load")
    pane = await tab.active_pane
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

    async def refresh(self) -> Tab:
        """Look again; returns the tab itself. Raises NotFound."""
        self.info = await self._asking.tab_info(self.id)
        return self

    @property
    async def panes(self) -> list[Pane]:
        """Its panes, as they are now."""
        found = (await self._asking.ask(requests.panes())).panes
        return [Pane(self._asking, info) for info in found if info.tab == self.id]

    @property
    async def active_pane(self) -> Pane:
        """Its active pane, as it is now. Raises NotFound."""
        await self.refresh()
        return Pane(self._asking, await self._asking.pane_info(self.info.active_pane))

    async def select(self) -> None:
        """Make it the active tab."""
        await self._asking.ask(requests.tab_select(id_=self.id))
        await self.refresh()

    async def rename(self, title: str) -> None:
        """Name it; an empty name goes back to the title of its active pane."""
        await self._asking.ask(requests.tab_rename(id_=self.id, title=title))
        await self.refresh()

    async def layout(self, layout: str) -> None:
        """Arrange its panes: even-horizontal, even-vertical, main-horizontal, main-vertical or
        tiled. The main pane is the active one. Raises ResourceLimit where they have no room."""
        await self._asking.ask(requests.tab_layout(id_=self.id, layout=layout))

    async def close(self) -> None:
        """Close it and end the programs in it. Raises NotFound."""
        await self._asking.ask(requests.tab_close(id_=self.id))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tab) and other._key() == self._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[int, int]:
        return id(self._asking), self.id

    def __repr__(self) -> str:
        return f"<Tab {self.id}, {len(self.info.panes)} panes>"
