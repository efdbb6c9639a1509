"""One tool of the table, and how the protocol lists it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mcp_types import Tool, ToolAnnotations
from pydantic import BaseModel

from termnode.mcp.arguments import Arguments
from termnode.mcp.call import Handler
from termnode.mcp.settings import Tier


@dataclass(frozen=True, slots=True)
class Row:
    """One tool: who may call it, what the model reads of it, and who carries it out.

    ``destructive`` holds for what is not ``read_only``; only a close can be repeated safely, and
    that is refused the second time. ``open_world``: what it starts or types can do anything.
    """

    name: str
    tier: Tier
    description: str
    arguments: type[Arguments]
    result: type[BaseModel]
    handler: Handler
    read_only: bool = False
    destructive: bool = True

    def tool(self, *, typed: bool = True) -> Tool:
        """As the protocol lists it; with the schema of its results if those are ``typed``."""
        return Tool(
            name=self.name,
            description=self.description,
            input_schema=schema(self.arguments),
            output_schema=schema(self.result) if typed else None,
            annotations=ToolAnnotations(
                read_only_hint=self.read_only,
                destructive_hint=self.destructive and not self.read_only,
                idempotent_hint=self.read_only,
                open_world_hint=True,
            ),
        )


def schema(model: type[BaseModel]) -> dict[str, Any]:
    """Its JSON schema in few words: what may be left out is never null."""
    made: dict[str, Any] = _shorter(model.model_json_schema())
    made.pop("description", None)
    return made


def _shorter(value: Any) -> Any:  # noqa: ANN401  # any JSON
    """Without titles, which repeat the names, and without null beside a type."""
    if isinstance(value, list):
        return [_shorter(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {
        key: _shorter(each)
        for key, each in value.items()
        if not (key == "title" and isinstance(each, str))
    }
    types = [each for each in kept.get("anyOf", ()) if each != {"type": "null"}]
    if len(types) == 1 and len(kept["anyOf"]) > 1:
        del kept["anyOf"]
        kept.pop("default", None)
        return types[0] | kept
    return kept
