"""The experimental terminal's tools: each asks the client's own set and says what it shows."""

from __future__ import annotations

from mcp_types import InputRequiredResult

from brokerd.client import ErrorCode
from termnode.mcp import arguments as of
from termnode.mcp.call import Call
from termnode.mcp.facts import ScreenFacts, WaitFacts
from termnode.mcp.limits import LONGEST_WAIT_S
from termnode.mcp.outcome import Outcome, ToolError
from termnode.mcp.paging import part
from termnode.mcp.patience import patiently
from termnode.mcp.permission import permission
from termnode.modelterm import Shown, command_line, has_credential

DEADLINE = "deadline"
STILL_WAITING = "still waiting"


async def term_open(call: Call, args: of.TermOpen) -> Outcome | InputRequiredResult:
    """Ask whether it may be, then start the program."""
    argv = [args.cmd, *args.args]
    if has_credential(argv):
        raise ToolError(
            ErrorCode.FORBIDDEN,
            "something in the command line looks like a credential, which a person and the process "
            "list would see: let the program read it from a file or ask for it",
        )
    asked = await permission(call, command_line(argv))
    if asked is not None:
        return asked
    desk = await call.desk()
    return _screen(desk.opened(await desk.terminals.open(argv, args.cols, args.rows)))


async def term_type(call: Call, args: of.TermType) -> Outcome:
    """Type a text."""
    desk = await call.desk()
    return _screen(
        await desk.terminals.type(args.id, args.text, paste=args.paste, since=args.since)
    )


async def term_keys(call: Call, args: of.TermKeys) -> Outcome:
    """Press keys."""
    desk = await call.desk()
    return _screen(await desk.terminals.keys(args.id, args.keys, since=args.since))


async def term_screen(call: Call, args: of.TermScreen) -> Outcome:
    """Look."""
    desk = await call.desk()
    shown = await desk.terminals.screen(
        args.id, offset=args.offset, since=args.since, style=args.style
    )
    again: dict[str, object] = {
        "offset": args.offset or None,
        "since": args.since,
        "style": args.style or None,
    }
    return _screen(shown, args.from_line, again)


async def term_wait(call: Call, args: of.TermWait) -> Outcome:
    """Wait; a long one in parts, of which each says how to go on."""
    desk = await call.desk()
    how, shown = await patiently(
        call,
        min(args.seconds, LONGEST_WAIT_S),
        "waiting for the program",
        lambda: desk.terminals.wait(
            args.id, args.seconds, args.until, since=args.since, most=LONGEST_WAIT_S
        ),
    )
    if how == DEADLINE and args.seconds > LONGEST_WAIT_S:
        how = STILL_WAITING
    return waited(how, _screen(shown), args.since)


async def term_close(call: Call, args: of.OfTerminal) -> Outcome:
    """Hang up."""
    desk = await call.desk()
    shown = await desk.terminals.close(args.id)
    desk.closed(args.id)
    return _screen(shown)


async def term_resize(call: Call, args: of.TermResize) -> Outcome:
    """Give it another size."""
    desk = await call.desk()
    return _screen(await desk.terminals.resize(args.id, args.cols, args.rows))


async def term_click(call: Call, args: of.TermClick) -> Outcome:
    """Press and release a mouse button."""
    desk = await call.desk()
    return _screen(await desk.terminals.click(args.id, args.row, args.col, args.button, args.since))


def waited(how: str, screen: Outcome, since: int | None) -> Outcome:
    """How the wait ended, above the screen; ``since`` is what a wait that goes on counts from."""
    assert isinstance(screen.facts, ScreenFacts)
    facts = screen.facts.model_dump()
    go_on = (screen.facts.revision if since is None else since) if how == STILL_WAITING else None
    told = f"{how}: wait again with since={go_on}" if go_on is not None else how
    return Outcome(f"{told}\n{screen.text}", WaitFacts(**facts, outcome=how, since=go_on))


def _screen(shown: Shown, from_line: int = 1, again: dict[str, object] | None = None) -> Outcome:
    """The text of a screen and its facts; the rest of a long one is asked for with `next`."""
    text, next_line = part(shown.text, from_line)
    rest = None if next_line is None else more("term_screen", shown.id, next_line, again)
    facts = ScreenFacts(
        id=shown.id,
        state=shown.state,
        cols=shown.cols,
        rows=shown.rows,
        cursor=shown.cursor,
        full_screen=shown.full_screen,
        revision=shown.revision,
        person_typed=shown.person_typed,
        next=rest,
        untrusted=True,
    )
    return Outcome(text if rest is None else f"{text}\n... {rest}", facts)


def more(tool: str, name: object, next_line: int, again: dict[str, object] | None = None) -> str:
    """The call that gives the rest of a long text."""
    given = {key: value for key, value in (again or {}).items() if value is not None}
    words = [f"id={name}" if tool == "term_screen" else f"pane={name}"]
    words += [f"{key}={str(value).lower()}" for key, value in given.items()]
    return f"{tool} {' '.join(words)} from_line={next_line} gives the rest"
