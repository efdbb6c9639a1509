"""Input: text, keys, pastes and the mouse."""

from __future__ import annotations

from typing import Final

from brokerd.client import ErrorCode
from termnode.control.fields import (
    ACTION,
    BUTTON,
    CONFIRM,
    ENTER,
    KEYS,
    MODIFIERS,
    MORE,
    OPERATION,
    PANE,
    PASTE_OFFSET,
    PASTED,
    PLAIN,
    TEXT,
    WITHIN,
    X,
    Y,
)
from termnode.control.spec import Capability, Kind, VerbSpec
from termnode.control.verbs.checks import one_line, operation_and_offset

_ERRORS: Final = (
    ErrorCode.NOT_FOUND,
    ErrorCode.BUSY,
    ErrorCode.EXPIRED,
    ErrorCode.DISCONNECTED,
    ErrorCode.CANCELLED,
)

_TO_PANE: Final = (("pane", "its id"), ("generation", "of the pane"))
_REVISION: Final = (
    "revision",
    "of the screen before the first byte: wait after it for what the input does",
)
_WRITTEN: Final = "written: every byte reached the terminal; not that a program acted on it"

INPUT_VERBS: Final = (
    VerbSpec(
        "term.type",
        "Type text into a pane, as a person would.",
        Kind.MUTATION,
        Capability.INPUT,
        (TEXT, PANE, ENTER, CONFIRM),
        (
            *_TO_PANE,
            (
                "outcome",
                (
                    f"{_WRITTEN}; with confirm also echoed: the text was then seen on the screen; "
                    "or submitted: it was, and the screen answered to Enter"
                ),
            ),
            ("bytes", "how many were written"),
            ("echo", "with confirm: false when the terminal was told not to show what is typed"),
            _REVISION,
        ),
        _ERRORS,
        "8,192 bytes; two seconds to reach the terminal",
        {"text": "make test", "enter": True, "request_id": "r-8"},
        check=one_line,
    ),
    VerbSpec(
        "term.keys",
        "Press keys in a pane, encoded as the program has asked for.",
        Kind.MUTATION,
        Capability.INPUT,
        (KEYS, PANE, WITHIN),
        (*_TO_PANE, ("outcome", _WRITTEN), ("bytes", "how many were written"), _REVISION),
        _ERRORS,
        "200 keys; two seconds to reach the terminal, or within_ms",
        {"keys": ["Escape", "C-w", "Down"], "request_id": "r-18"},
    ),
    VerbSpec(
        "term.paste",
        "Paste text into a pane, in brackets when the program has asked for them.",
        Kind.MUTATION,
        Capability.INPUT,
        (PASTED, PANE, MORE, OPERATION, PASTE_OFFSET, PLAIN, WITHIN),
        (
            *_TO_PANE,
            ("outcome", f"received: more is to follow, nothing was written yet; or {_WRITTEN}"),
            ("operation", "of a text that is sent in parts: name it in the next one"),
            ("received", "bytes of the text so far: the next part's offset"),
            ("bytes", "how many were written, brackets included"),
            ("removed", "characters left out: control characters and paste markers"),
            ("bracketed", "whether the program had asked for brackets"),
            _REVISION,
        ),
        (*_ERRORS, ErrorCode.STALE_GENERATION),
        "8,192 bytes a body; 1 MiB in parts, 60 seconds from part to part; two seconds (or "
        "within_ms) in which the program reads nothing end it",
        {"text": "for x in a b; do\n\techo $x\ndone", "request_id": "r-19"},
        check=operation_and_offset,
    ),
    VerbSpec(
        "term.mouse",
        "Use the mouse in a pane, when its program has asked to be told of it.",
        Kind.MUTATION,
        Capability.INPUT,
        (ACTION, X, Y, BUTTON, MODIFIERS, PANE),
        (*_TO_PANE, ("outcome", _WRITTEN), ("bytes", "how many were written"), _REVISION),
        _ERRORS,
        "two seconds to reach the terminal",
        {"action": "click", "x": 10, "y": 4, "request_id": "r-20"},
    ),
)
