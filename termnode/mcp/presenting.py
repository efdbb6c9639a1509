"""Whether results have a typed part beside their text. No I/O.

Some clients show their model only the typed part of a result that has one (seen of Claude Code,
Codex, opencode and VS Code), and the screen is in the text. They get the facts as metadata instead:
the text's header has them too.
"""

from __future__ import annotations

from typing import Any, Final

from mcp.server import ServerRequestContext

from termnode.mcp.settings import Options

FACTS: Final = "termnode/facts"
"""The name of the facts in a result's metadata."""

_HIDE_TEXT: Final = ("claude-code", "claude code", "codex", "opencode", "visual studio code")
"""In the names by which those clients introduce themselves."""


def typed(options: Options, context: ServerRequestContext[Any, Any]) -> bool:
    """Whether this request's client gets structured content, and schemas of it."""
    return not options.text_only and not hides_text(_name(context))


def hides_text(client: str) -> bool:
    """Whether a client of that name shows no text beside structured content."""
    return any(each in client.lower() for each in _HIDE_TEXT)


def _name(context: ServerRequestContext[Any, Any]) -> str:
    params = context.session.client_params
    return "" if params is None else params.client_info.name
