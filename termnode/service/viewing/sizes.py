"""Whose size the terminal has: that of the view that was last typed into. No I/O."""

from __future__ import annotations

from termnode.workspace.parts import Size


class Sizes:
    """The sizes of the views, by their ids. Until somebody types, the first one leads."""

    def __init__(self) -> None:
        self._sizes: dict[int, Size] = {}
        self._order: list[int] = []
        """Last the one that was typed into last."""

    @property
    def wanted(self) -> Size | None:
        """Columns and rows of a tab as the leading view has room for it; None without views."""
        return self._sizes[self._order[-1]] if self._order else None

    def set(self, view: int, cols: int, rows: int) -> None:
        """A view's room, also of a new one; that one leads only if there is no other."""
        if view not in self._sizes:
            self._order.insert(0, view)
        self._sizes[view] = cols, rows

    def typed(self, view: int) -> None:
        """The view was typed into."""
        if view in self._sizes:
            self._order.remove(view)
            self._order.append(view)

    def remove(self, view: int) -> None:
        """The view is gone."""
        if self._sizes.pop(view, None) is not None:
            self._order.remove(view)
