"""Commands for what was copied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from termnode.attach.ui.core import Core
from termnode.attach.ui.overlays import Choice, Overlays
from termnode.view.messages import Pasted


class ClipboardCommands:
    """Paste, list and forget."""

    def __init__(self, core: Core, overlays: Overlays) -> None:
        self._core = core
        self._overlays = overlays
        self.actions: Mapping[str, Callable[[], object]] = MappingProxyType(
            {
                "paste": lambda: self.paste(core.facts.pane),
                "choose-buffer": self._choose,
                "delete-buffer": self._delete,
            }
        )

    def paste(self, pane: int | None) -> None:
        """Paste what was copied last into a pane."""
        self._paste(pane, self._core.buffers.newest())

    def _paste(self, pane: int | None, text: str | None) -> None:
        if text is None:
            self._core.say(f"nothing was copied yet: {self._core.config.prefix} [ copies")
        elif pane is not None:
            self._core.typed(pane, Pasted(text))

    def _choose(self) -> None:
        buffers, pane = self._core.buffers, self._core.facts.pane
        if buffers.newest() is None:
            self._paste(pane, None)
            return
        self._overlays.choose(
            Choice(
                "copied",
                buffers.listed,
                lambda index: self._paste(pane, buffers.texts[index]),
                buffers.drop,
            )
        )

    def _delete(self) -> None:
        self._core.buffers.drop(0)
        left = len(self._core.buffers.texts)
        self._core.say(f"forgotten; {left} left", 1.5)
