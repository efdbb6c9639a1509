"""What a call came to, and how a refusal reads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, ValidationError

from brokerd.client import ErrorCode
from termnode.client.errors import TermnodeError
from termnode.mcp.presenting import FACTS
from termnode.modelterm import TermError

_TOOLS: Final = {
    "term.panes": "panes",
    "term.snapshot": "screen",
    "term.wait": "wait",
    "term.keys": "keys",
    "term.type": "type",
    "term.paste": "paste",
    "term.pane.close": "close",
    "term.pane.split": "split",
    "term.tab.new": "new_tab",
}
"""What a remedy that names a verb means here."""

_VERB: Final = re.compile("|".join(rf"{re.escape(verb)}(?![a-z.])" for verb in _TOOLS))

NAME_CHARS: Final = 40
"""Of a caller's own argument name that a refusal repeats."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A good answer: one short text, and the typed facts, which do not repeat it."""

    text: str
    facts: BaseModel

    def result(self, note: str | None = None, *, typed: bool = True) -> CallToolResult:
        """As the protocol has it; ``note`` stands below the text.

        The facts are structured content if ``typed``, else metadata.
        """
        text = self.text if note is None else f"{self.text}\n{note}"
        facts = self.facts.model_dump(mode="json", exclude_defaults=True)
        if typed:
            return CallToolResult(content=[_text(text)], structured_content=facts)
        return CallToolResult(content=[_text(text)], _meta={FACTS: facts})


class ToolError(Exception):
    """A call that is refused: ``code`` of the closed vocabulary, and what to do about it."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def refusal(error: Exception) -> tuple[str, str] | None:
    """The code and words of an error that is foreseen; None for any other."""
    match error:
        case ToolError() | TermError():
            return str(error.code), error.message
        case TermnodeError():
            return error.code or str(ErrorCode.UNAVAILABLE), _with_remedy(error)
        case ValidationError():
            return str(ErrorCode.INVALID_ARGUMENT), _first(error)
    return None


def refused(code: str, message: str, note: str | None = None) -> CallToolResult:
    """A tool error: the model reads it and can do better."""
    text = f"{code}: {message}" if note is None else f"{code}: {message}\n{note}"
    return CallToolResult(content=[_text(text)], is_error=True)


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def _with_remedy(error: TermnodeError) -> str:
    """What the service said; what the code means besides, where no remedy is in it."""
    words = _VERB.sub(lambda found: _TOOLS[found[0]], error.message)
    return words if {":", ";"} & set(words) or not error.remedy else f"{words}: {error.remedy}"


def _first(error: ValidationError) -> str:
    """The first thing that is wrong, with nothing of what was sent but a name."""
    wrong = error.errors(include_url=False, include_context=False, include_input=False)[0]
    name = ".".join(str(part) for part in wrong["loc"])[:NAME_CHARS]
    shown = "".join(char if char.isprintable() else "?" for char in name)
    if wrong["type"] == "extra_forbidden":
        return f"{shown}: there is no such argument; tools/list has those there are"
    said = wrong["msg"].removeprefix("Value error, ")
    return f"{shown}: {said[:1].lower()}{said[1:]}" if shown else said
