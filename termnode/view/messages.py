"""Every message of the protocol, as frozen values. Bounds and wire names are in `shapes`.

Sizes are cells, from 1 to MAX_COLS by MAX_ROWS; places are zero-based cells. A view's size is the
room that it has for a tab: without its own status line.
"""

from __future__ import annotations

from typing import TypeAlias

from termnode.terminal.engine import Cursor, Modes
from termnode.view.from_service import (
    Asked,
    AskedGone,
    Bell,
    Bye,
    Done,
    Interrupted,
    LastInput,
    Layout,
    Page,
    PaneGone,
    PaneState,
    PlacedPane,
    Status,
    TabInfo,
    Tabs,
    Welcome,
)
from termnode.view.from_view import (
    Ack,
    Answer,
    Attach,
    Detach,
    Do,
    FromView,
    Input,
    PageWanted,
    Size,
)
from termnode.view.items import Focus, Item, Key, Mouse, Pasted, Raw, Text
from termnode.view.parts import VERSION, Line, Reason, Row, Run3
from termnode.view.watched import (
    Ended,
    Keyframe,
    Output,
    Resized,
)

__all__ = [
    "VERSION",
    "Ack",
    "Answer",
    "Asked",
    "AskedGone",
    "Attach",
    "Bell",
    "Bye",
    "Cursor",
    "Detach",
    "Do",
    "Done",
    "Ended",
    "Focus",
    "FromService",
    "FromView",
    "Input",
    "Interrupted",
    "Item",
    "Key",
    "Keyframe",
    "LastInput",
    "Layout",
    "Line",
    "Message",
    "Modes",
    "Mouse",
    "Output",
    "Page",
    "PageWanted",
    "PaneGone",
    "PaneState",
    "Pasted",
    "PlacedPane",
    "Raw",
    "Reason",
    "Resized",
    "Row",
    "Run3",
    "Size",
    "Status",
    "TabInfo",
    "Tabs",
    "Text",
    "Welcome",
]

FromService: TypeAlias = (
    Welcome | Tabs | Layout | PaneState | PaneGone | Status | Bell | Page | Done | Asked | AskedGone
    | Bye | Output | Resized | Keyframe | Ended
)  # fmt: skip

Message: TypeAlias = FromView | FromService
