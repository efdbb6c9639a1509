"""Tabs and panes: which there are, where they are, and what runs in them."""

from __future__ import annotations

from typing import Final

from brokerd.client import ErrorCode
from termnode.control.fields import (
    BESIDE,
    CLOSED_WAIT,
    COLS,
    DIR,
    ID,
    LAYOUT,
    NEW_TITLE,
    ON,
    OWN_COLS,
    OWN_ROWS,
    PANE,
    PROGRAM,
    ROWS,
    TAB,
    WITH,
)
from termnode.control.spec import Capability, Kind, VerbSpec
from termnode.control.verbs.checks import a_size

_NOT_FOUND: Final = (ErrorCode.NOT_FOUND,)

_TAB_ENTRY: Final = (
    "of each: id, active, title (its own, else its active pane's), panes (ids), active_pane, cols, "
    "rows"
)

_PANE_ENTRY: Final = (
    "of each: id, tab, active, generation, title, x, y, cols, rows, zoomed (true where it hides "
    "the others of its tab), hidden (true behind a zoomed one; place and size are then those "
    "without zoom), state (starting, running or exited), binding (of its verified session: state, "
    "reason, generation, ready; specs/identity.md), and what is known of pid, command, cwd, "
    "integration (bash, zsh or fish, where commands can be run at its prompt), phase (of such a "
    "shell: starting, prompt-ready, evaluating, foreground-child), idle_ms, typed_last (who, "
    "verb), person_inputs, exit, duration_ms, held_by"
)

LAYOUT_VERBS: Final = (
    VerbSpec(
        "term.tabs",
        "The tabs, in order.",
        Kind.READ,
        Capability.READ_STATE,
        (),
        (("tabs", _TAB_ENTRY),),
    ),
    VerbSpec(
        "term.tab.new",
        "Open a tab with one pane and make it the active one.",
        Kind.MUTATION,
        Capability.MANAGE_LAYOUT,
        (*PROGRAM, OWN_COLS, OWN_ROWS),
        (
            ("id", "the new tab"),
            ("pane", "the pane in it"),
            ("generation", "of the pane"),
            ("pid", "the program's process"),
        ),
        _NOT_FOUND,
        "64 tabs, 128 panes",
        {"argv": ["htop"], "title": "load", "request_id": "r-1"},
    ),
    VerbSpec(
        "term.tab.select",
        "Make a tab the active one.",
        Kind.MUTATION,
        Capability.MANAGE_LAYOUT,
        (ID,),
        (("id", "the tab"), ("pane", "its active pane")),
        _NOT_FOUND,
        example={"id": 2, "request_id": "r-2"},
    ),
    VerbSpec(
        "term.tab.close",
        "Close a tab and end the programs in it.",
        Kind.MUTATION,
        Capability.TERMINATE,
        (TAB,),
        (("id", "the tab"), ("closed", "ids of its panes"), ("remaining", "tabs still open")),
        _NOT_FOUND,
        example={"id": 2, "request_id": "r-3"},
    ),
    VerbSpec(
        "term.tab.rename",
        "Name a tab.",
        Kind.MUTATION,
        Capability.MANAGE_LAYOUT,
        (TAB, NEW_TITLE),
        (("id", "the tab"), ("title", "that it shows now")),
        _NOT_FOUND,
        example={"id": 2, "title": "build", "request_id": "r-10"},
    ),
    VerbSpec(
        "term.tab.layout",
        "Arrange the panes of a tab by a rule; main is the active pane, at the left or the top.",
        Kind.MUTATION,
        Capability.MANAGE_LAYOUT,
        (TAB, LAYOUT),
        (("id", "the tab"), ("panes", "of each: id, x, y, cols, rows")),
        _NOT_FOUND,
        "refused where a pane would be below 2 columns and 1 row",
        {"layout": "tiled", "request_id": "r-11"},
    ),
    VerbSpec(
        "term.panes",
        "The panes of all tabs, where they are and what runs in them.",
        Kind.READ,
        Capability.READ_STATE,
        (),
        (
            (
                "panes",
                _PANE_ENTRY,
            ),
        ),
    ),
    VerbSpec(
        "term.pane.split",
        "Halve a pane's room for a new pane and make that the active one.",
        Kind.MUTATION,
        Capability.MANAGE_LAYOUT,
        (DIR, PANE, *PROGRAM),
        (
            ("id", "the new pane"),
            ("tab", "its tab"),
            ("generation", "of the pane"),
            ("pid", "the program's process"),
        ),
        _NOT_FOUND,
        "128 panes; none below 2 columns and 1 row",
        {"dir": "h", "argv": ["make", "test"], "request_id": "r-4"},
    ),
    VerbSpec(
        "term.pane.close",
        "Close a pane and end its program; its neighbour takes the room.",
        Kind.MUTATION,
        Capability.TERMINATE,
        (PANE, CLOSED_WAIT),
        (
            ("id", "the pane"),
            ("tab", "its tab"),
            ("tab_closed", "whether the tab went with its last pane"),
            ("remaining", "panes still in the tab"),
            ("exit", "with wait: code, or signal and core, or unknown"),
            ("duration_ms", "with wait: how long the program ran"),
        ),
        _NOT_FOUND,
        example={"pane": 3, "request_id": "r-5"},
    ),
    VerbSpec(
        "term.pane.select",
        "Make a pane of the active tab the active one.",
        Kind.MUTATION,
        Capability.MANAGE_LAYOUT,
        (ID,),
        (("id", "the pane"), ("tab", "its tab")),
        _NOT_FOUND,
        example={"id": 3, "request_id": "r-6"},
    ),
    VerbSpec(
        "term.pane.restart",
        "Start the program of a pane again after it ended; the generation rises by one.",
        Kind.MUTATION,
        Capability.EXECUTE,
        (PANE,),
        (
            ("id", "the pane"),
            ("generation", "of the pane"),
            ("pid", "the program's process"),
        ),
        (ErrorCode.NOT_FOUND, ErrorCode.BUSY),
        example={"pane": 3, "request_id": "r-7"},
    ),
    VerbSpec(
        "term.pane.resize",
        "Give a pane more or less of its tab's room; its neighbours share the rest. One that is "
        "alone in a tab with a size of its own takes the tab along.",
        Kind.MUTATION,
        Capability.MANAGE_LAYOUT,
        (PANE, COLS, ROWS),
        (
            ("id", "the pane"),
            ("cols", "columns it has now: as near to what was asked as the others allow"),
            ("rows", "rows it has now"),
        ),
        _NOT_FOUND,
        example={"pane": 3, "cols": 100, "request_id": "r-12"},
        check=a_size,
    ),
    VerbSpec(
        "term.pane.rename",
        "Name a pane.",
        Kind.MUTATION,
        Capability.MANAGE_LAYOUT,
        (PANE, NEW_TITLE),
        (("id", "the pane"), ("title", "that it shows now")),
        _NOT_FOUND,
        example={"pane": 3, "title": "logs", "request_id": "r-13"},
    ),
    VerbSpec(
        "term.pane.swap",
        "Let two panes change places, in one tab or between two.",
        Kind.MUTATION,
        Capability.MANAGE_LAYOUT,
        (PANE, WITH),
        (("id", "the pane"), ("tab", "it is in now"), ("with", "the other one")),
        _NOT_FOUND,
        example={"pane": 3, "with": 1, "request_id": "r-14"},
    ),
    VerbSpec(
        "term.pane.break",
        "Move a pane into a tab of its own, which becomes the active one; its program goes on.",
        Kind.MUTATION,
        Capability.MANAGE_LAYOUT,
        (PANE,),
        (("id", "the pane"), ("tab", "the new tab; the old one when it had no other pane")),
        _NOT_FOUND,
        "64 tabs",
        {"pane": 3, "request_id": "r-15"},
    ),
    VerbSpec(
        "term.pane.join",
        "Move a pane beside another one, of any tab; its program goes on.",
        Kind.MUTATION,
        Capability.MANAGE_LAYOUT,
        (PANE, BESIDE, DIR),
        (
            ("id", "the pane"),
            ("tab", "it is in now"),
            ("tab_closed", "whether its old tab went, because it had no other pane"),
        ),
        _NOT_FOUND,
        "none below 2 columns and 1 row",
        {"pane": 3, "beside": 1, "dir": "v", "request_id": "r-16"},
    ),
    VerbSpec(
        "term.pane.zoom",
        "Let a pane fill its tab, or lay the panes out again.",
        Kind.MUTATION,
        Capability.MANAGE_LAYOUT,
        (PANE, ON),
        (
            ("id", "the pane"),
            ("tab", "its tab"),
            ("zoomed", "whether it hides the others now"),
        ),
        _NOT_FOUND,
        example={"pane": 3, "request_id": "r-17"},
    ),
)
