"""The styles of what the view draws itself, from the person's colours."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from termnode.attach.ui.state import Colours
from termnode.terminal.engine import Style


class Looks(NamedTuple):
    """A style for each thing."""

    border: Style
    active_border: Style
    filler: Style
    status: Style
    active_tab: Style
    message: Style
    overlay: Style
    overlay_title: Style
    selected: Style


@lru_cache(8)
def looks(colours: Colours) -> Looks:
    """The styles of these colours."""
    status = Style(fg=colours.status_fg, bg=colours.status_bg)
    overlay = Style(fg=colours.overlay_fg, bg=colours.overlay_bg)
    return Looks(
        border=Style(fg=colours.border),
        active_border=Style(fg=colours.active_border),
        filler=Style(fg=colours.border),
        status=status,
        active_tab=Style(fg=colours.status_fg, bg=colours.status_bg, bold=True, reverse=True),
        message=Style(fg=colours.message_fg, bg=colours.message_bg),
        overlay=overlay,
        overlay_title=Style(fg=colours.overlay_fg, bg=colours.overlay_bg, bold=True),
        selected=Style(fg=colours.overlay_fg, bg=colours.overlay_bg, reverse=True),
    )
