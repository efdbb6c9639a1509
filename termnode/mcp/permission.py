"""Who says yes to a terminal: the settings, the client's person, or the person at a view.

The first of them that is there decides. Nobody's silence is a yes.
"""

from __future__ import annotations

from typing import Final

import trio
from mcp.shared.exceptions import MCPError
from mcp_types import (
    ClientCapabilities,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from brokerd.client import ErrorCode
from termnode.client import ServiceUnavailable
from termnode.mcp.call import Call
from termnode.mcp.limits import ASK_S, QUESTION_CHARS
from termnode.mcp.outcome import ToolError
from termnode.mcp.patience import patiently

TITLE: Final = "open an experimental terminal for a model"

_FIELD: Final = "open"

_SCHEMA: Final[dict[str, object]] = {
    "type": "object",
    "properties": {
        _FIELD: {
            "type": "boolean",
            "title": "Open this terminal",
            "description": "whatever the model types in it is not checked",
            "default": True,
        }
    },
    "required": [_FIELD],
}

_WAITING: Final = "a person is asked"

NOBODY: Final = (
    "nobody can be asked whether this terminal may be opened: attach a view (termnode attach), use "
    "a client that asks its user (elicitation), or let the person start the server with --yolo or "
    'config.toml say [approval] dont_ask = ["term_open"]'
)


def question(line: str, root: str) -> str:
    """What a person is asked; ``line`` is the exact command line."""
    return (
        "EXPERIMENTAL: nothing that the model types in a terminal is checked. It has your "
        f"privileges.\n\nThe model asks to open a terminal in {root} that runs:\n\n    {line}\n"
    )


async def permission(call: Call, line: str) -> InputRequiredResult | None:
    """None when the terminal may be opened; or the question that the client has to put first.

    Raises ToolError: FORBIDDEN when somebody said no, UNAVAILABLE when nobody could be asked,
    EXPIRED when nobody answered in time, INVALID_ARGUMENT for a command that cannot be shown whole.
    """
    options = call.house.options
    if options.unasked:
        return None
    if len(line) > QUESTION_CHARS:
        raise ToolError(
            ErrorCode.INVALID_ARGUMENT,
            f"a command line has {QUESTION_CHARS} characters at most, as a person has to read it: "
            "put the rest into a file",
        )
    words = question(line, str(options.root))
    if _elicits(call):
        if call.context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return _by_asking_again(call, line, words)
        _judge(await _elicited(call, words))
        return None
    await _overlay(call, words)
    return None


def _elicits(call: Call) -> bool:
    found: ClientCapabilities | None = call.context.session.client_capabilities
    if found is None or found.elicitation is None:
        return False
    # A client that names only the form of asking that opens an address cannot be asked this.
    return found.elicitation.form is not None or found.elicitation.url is None


def _by_asking_again(call: Call, line: str, words: str) -> InputRequiredResult | None:
    state, answers = call.params.request_state, call.params.input_responses or {}
    if state is None:
        asked = ElicitRequest(params=_form(words))
        token = call.house.questions.ask(call.client, line)
        return InputRequiredResult(input_requests={_FIELD: asked}, request_state=token)
    if not call.house.questions.take(state, call.client, line):
        raise ToolError(
            ErrorCode.EXPIRED,
            "that answer is to no open question about this command: call term_open again",
        )
    answer = answers.get(_FIELD)
    _judge(answer if isinstance(answer, ElicitResult) else None)
    return None


async def _elicited(call: Call, words: str) -> ElicitResult | None:
    """The client's answer; None when there was none."""
    session, about = call.context.session, call.context.request_id

    async def ask() -> ElicitResult | None:
        with trio.move_on_after(ASK_S):
            return await session.elicit_form(words, dict(_SCHEMA), about)
        return None

    try:
        return await patiently(call, ASK_S, _WAITING, ask)
    except (MCPError, ValidationError):
        return None


def _form(words: str) -> ElicitRequestFormParams:
    return ElicitRequestFormParams(message=words, requested_schema=dict(_SCHEMA))


def _judge(answer: ElicitResult | None) -> None:
    """Raises ToolError unless it is a yes."""
    if answer is None or answer.action == "cancel":
        raise _silence()
    said = (answer.content or {}).get(_FIELD)
    if answer.action != "accept" or said is not True:
        raise _no()


async def _overlay(call: Call, words: str) -> None:
    """Ask the person at an attached view of the service that runs."""
    reach = call.house.reach
    try:
        answer = await patiently(
            call,
            ASK_S,
            _WAITING,
            lambda: reach.use(lambda session: session.ask(TITLE, words, timeout=ASK_S)),
        )
    except ServiceUnavailable:
        raise ToolError(ErrorCode.UNAVAILABLE, NOBODY) from None
    if answer is None:
        raise _silence()
    if not answer:
        raise _no()


def _no() -> ToolError:
    return ToolError(
        ErrorCode.FORBIDDEN,
        "the person said no to this terminal: that is the answer; do it another way or ask them",
    )


def _silence() -> ToolError:
    return ToolError(
        ErrorCode.EXPIRED,
        "nobody answered whether this terminal may be opened: ask them, then call again",
    )
