"""term.snapshot: what a pane shows, has shown, or shows anew since a revision."""

from __future__ import annotations

from termnode.service.live_pane import LivePane
from termnode.service.looking.reply_fields import ending, known, typing
from termnode.service.looking.snapshot_command import last_command
from termnode.service.looking.snapshot_part import Part, choose, read
from termnode.service.looking.snapshot_reply import (
    Form,
    Joined,
    Listed,
    Paged,
    ansi_line,
    colored,
    fill,
    plain,
    styled_line,
    text_line,
)
from termnode.service.state import Args, Result, State
from termnode.terminal.engine import Modes
from termnode.terminal.pty_terminal import Terminal
from termnode.terminal.render.cells import width_of


def snapshot(state: State, args: Args) -> Result:
    """term.snapshot"""
    pane = state.workspace.pane(args.get("pane"))
    live = state.live(pane.id)
    revision = live.terminal.log.revision
    about: Result = {"pane": pane.id, "generation": pane.generation, "revision": revision}
    result = known({**about, **typing(live)})
    since = args.get("since")
    if since == revision:
        return {**result, **_ended(live), "lines": []}
    if since is None:
        return {**result, **_whole(live, args)}
    return {**result, **_changes(live, args, since)}


def _whole(live: LivePane, args: Args) -> Result:
    """The screen, a page, or the last command's output, with all that is known of the pane."""
    terminal = live.terminal
    about: Result | None = None
    if args.get("command"):
        part, about = last_command(terminal)
    else:
        part = choose(terminal.log, terminal.rows, args)
    form = _form(live, args["format"], listed=args["format"] == "styled")
    log, frame = terminal.log, _frame(terminal)
    _seen(live, frame)
    return known(
        {
            **frame,
            **_place(terminal),
            "history": log.base - log.first,
            "screen_line": log.base,
            "first_line": part.lines[0] if part.lines else None,
            **_rows(terminal, part, form, args.get("lines")),
            "command": about,
            **ending(live),
        }
    )


def _changes(live: LivePane, args: Args, since: int) -> Result:
    """The lines newer than ``since``; of everything else only what is newer too."""
    terminal = live.terminal
    part = choose(terminal.log, terminal.rows, args)
    form = _form(live, args["format"], listed=True)
    return known(
        {
            **_news(live, since, full=part.full),
            **_place(terminal),
            "full": part.full or None,
            **_rows(terminal, part, form, args.get("lines")),
            **_ended(live),
        }
    )


def _rows(terminal: Terminal, part: Part, form: Form, limit: int | None) -> Result:
    """The fields that hold the rows, and those that say what is not in them."""
    count = len(part.lines) if limit is None else limit
    given = Part(
        part.lines[:count],
        start_column=part.start_column,
        end_column=part.end_column if count >= len(part.lines) else None,
    )
    beyond = part.lines[count] if count < len(part.lines) else None
    rows = read(terminal.engine, terminal.log, given, styled=form.styled)
    left_out = fill(form, rows)
    return {
        **form.result(),
        "lines_missed": part.missed or None,
        "next_line": beyond if left_out is None else left_out,
    }


def _form(live: LivePane, name: str, *, listed: bool) -> Form:
    if name == "html":
        terminal = live.terminal
        engine = terminal.engine
        return Paged(width_of(engine.name), engine.title, engine.cursor)
    if name == "styled":
        return Listed(styled_line, styled=True)
    if name == "ansi":
        return Listed(ansi_line, styled=True) if listed else Joined(colored, styled=True)
    return Listed(text_line, styled=False) if listed else Joined(plain, styled=False)


def _frame(terminal: Terminal) -> Result:
    """What seldom changes."""
    engine = terminal.engine
    return {
        "cols": engine.cols,
        "rows": engine.rows,
        "alternate": engine.modes.alternate,
        "modes": _set_modes(engine.modes),
        "title": engine.title or None,
    }


def _place(terminal: Terminal) -> Result:
    cursor = terminal.engine.cursor
    return {
        "cursor": {
            "x": cursor.x,
            "y": cursor.y,
            "visible": cursor.visible,
            "shape": cursor.shape,
        }
    }


def _set_modes(modes: Modes) -> list[str]:
    states = {
        "bracketed_paste": modes.bracketed_paste,
        "mouse": modes.mouse,
        "app_cursor": modes.app_cursor,
        "app_keypad": modes.app_keypad,
        "focus": modes.focus_events,
    }
    return [name for name, on in states.items() if on]


def _news(live: LivePane, since: int, *, full: bool) -> Result:
    """The frame, when it may be another than it was at ``since``; nothing when it surely is not."""
    frame = _frame(live.terminal)
    return frame if full or since < _seen(live, frame) else {}


def _seen(live: LivePane, frame: Result) -> int:
    """The revision of the look that first saw this frame; later looks saw no other."""
    if live.shown is None or live.shown[0] != frame:
        live.shown = (frame, live.terminal.revision)
    return live.shown[1]


def _ended(live: LivePane) -> Result:
    """How the program ended, in every reply from then on; nothing while it runs."""
    return known(ending(live)) if live.ended is not None else {}
