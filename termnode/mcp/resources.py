"""Screens as resources: ``termnode://terminal/t1`` and ``termnode://pane/3``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mcp_types import Resource, ResourceTemplate

from brokerd.client import ErrorCode
from termnode.client import Session, TermnodeError
from termnode.mcp.call import House
from termnode.mcp.limits import LISTED
from termnode.mcp.outcome import ToolError
from termnode.mcp.paging import part
from termnode.mcp.pane_screens import look_at, revision_of
from termnode.mcp.settings import Tier
from termnode.modelterm import Shown

TERMINAL: Final = "terminal"
PANE: Final = "pane"
MIME: Final = "text/plain"

_URI: Final = re.compile(
    r"termnode://(terminal)/(t[1-9][0-9]{0,8})|termnode://(pane)/([1-9][0-9]{0,8})"
)


@dataclass(frozen=True, slots=True)
class Named:
    """What a resource's address names."""

    kind: str
    name: str


def named(uri: str) -> Named:
    """Raises ToolError NOT_FOUND for any address that is not one of ours."""
    found = _URI.fullmatch(uri)
    if found is None:
        raise ToolError(
            ErrorCode.NOT_FOUND,
            "resources are termnode://pane/N and termnode://terminal/tN; list those there are",
        )
    kind, name = [each for each in found.groups() if each is not None]
    return Named(kind, name)


def templates(house: House) -> list[ResourceTemplate]:
    """The two kinds of them, as far as they are on."""
    made = [
        ResourceTemplate(
            uri_template="termnode://pane/{id}",
            name="pane",
            description="the screen of a shared pane, as text",
            mime_type=MIME,
        )
    ]
    if house.options.allows(Tier.TERMINAL):
        made.append(
            ResourceTemplate(
                uri_template="termnode://terminal/{id}",
                name="terminal",
                description="the screen of one of your terminals, as text",
                mime_type=MIME,
            )
        )
    return made


async def listed(house: House, client: str) -> list[Resource]:
    """The client's terminals, and the panes of the service if one runs."""
    desk = house.desks.known(client)
    found = [Named(TERMINAL, name) for name in (desk.ids if desk is not None else ())]
    return [_resource(each) for each in [*found, *await _panes(house)]]


async def read(house: House, client: str, uri: str) -> str:
    """The screen as text, cut as a result is. Raises ToolError, TermError, TermnodeError."""
    what = named(uri)
    if what.kind == PANE:
        text, _revision = await look_at(house, int(what.name))
    else:
        text = (await _terminal(house, client, what.name)).text
    return part(text).text


async def revision(house: House, client: str, what: Named) -> int:
    """The revision of its screen. Raises as `read`."""
    if what.kind == PANE:
        return await revision_of(house, int(what.name))
    return (await _terminal(house, client, what.name)).revision


async def _terminal(house: House, client: str, name: str) -> Shown:
    desk = house.desks.known(client)
    if desk is None:
        raise ToolError(ErrorCode.NOT_FOUND, "you have no terminal: term_open opens one")
    return await desk.terminals.screen(name)


async def _panes(house: House) -> list[Named]:
    async def numbers(session: Session) -> list[Named]:
        return [Named(PANE, str(pane.id)) for pane in (await session.panes)[:LISTED]]

    try:
        return await house.reach.use(numbers)
    except TermnodeError:
        return []  # no service: there are no panes


def _resource(what: Named) -> Resource:
    return Resource(
        uri=f"termnode://{what.kind}/{what.name}",
        name=f"{what.kind} {what.name}",
        mime_type=MIME,
    )
