"""Write `specs/attach.md`: ``python -m termnode.attach.ui.docs [--check] [DIR]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Final

from termnode.attach.ui.bindings import COMMANDS, COPY, PREFIX, QUESTION, REPEAT_S
from termnode.attach.ui.buffers import MAX_BUFFER, MAX_BUFFERS
from termnode.attach.ui.guide import table
from termnode.attach.ui.pointer import WHEEL_KEYS, WHEEL_LINES
from termnode.attach.ui.questions import UNREAD_S
from termnode.attach.ui.settings import COLOUR_NAMES, NONE
from termnode.attach.ui.state import MESSAGE_S, Colours

PAGE: Final = "attach.md"

_INTRO: Final = f"""\
# The keys of `termnode attach`

Made by `python -m termnode.attach.ui.docs` from the tables in `termnode/attach/ui/bindings.py`;
do not edit.

Keys go to the program in the active pane, but for the prefix, `{PREFIX}` unless configured: the
key after it is a command. The prefix twice sends it to the program (in copy mode: to copy
mode). A key that repeats works without the prefix for {REPEAT_S:g} s more. Messages and
refusals stand on the last line for {MESSAGE_S:g} s. In a read-only view what changes something
for others is refused.
"""

_MODES: Final = f"""\
**Prompts.** A prompt takes all keys: Enter takes the line, Escape gives up. Before a program is
ended it asks; only `y` means yes. A paste goes into the line and never says yes. Help and lists
take all keys too; `q` closes them.

**Questions.** A service may ask the person something. The text stands at the bottom, where no
pane draws. Keys and pastes go on to the program and never answer: that takes the prefix and
then `y` or `n`. A prefix pressed in the first {UNREAD_S * 1000:g} ms does not count. No answer
means no.

**Copy mode.** A pane's lines as they were when it began; the program goes on, and `r` takes up
what has come. Lines that are not here yet are asked for. A pattern is RE2, or plain text where
it is no RE2; without a capital, capitals count as small letters. A selection includes both
ends; rows full to the last column are taken to go on in the next one, blanks at the ends of
rows are left out. What is copied goes into the paste buffers (the last {MAX_BUFFERS},
{MAX_BUFFER:,} characters each, of this view) and, by OSC 52, into the clipboard of the person's
terminal. Programs in panes cannot put anything there.

**Mouse.** A program that asked for the mouse has it, unless Shift is held or its pane is in
copy mode; a button pressed in its pane is its own until it is released. Else: a press selects
the pane, a drag selects text and copies it, two presses copy a word, the middle button pastes.
The wheel scrolls by {WHEEL_LINES} lines and enters copy mode, which it leaves at the end; on
the alternate screen it sends {WHEEL_KEYS} arrow keys. A border is dragged; a press on a tab
selects it, and the wheel there goes from tab to tab.
"""

_CONFIG: Final = """\
## config.toml

`$XDG_CONFIG_HOME/termnode/config.toml`, else `~/.config/termnode/config.toml`; read when a view
begins. What it does not say is as above. A mistake is named with its line and what to write
instead.

```toml
prefix = "C-a"
mouse = true

[keys]            # after the prefix
"|" = "split-right"
"x" = "none"      # does nothing

[copy-keys]
"C-j" = "copy"

[colours]
active-border = "#00afff"
```

"""


def page() -> str:
    """The page."""
    names = ", ".join(f"`{each.name.replace('_', '-')}`" for each in fields(Colours))
    words = ", ".join(f"`{name}`" for name in COLOUR_NAMES)
    parts = [
        _INTRO,
        "## After the prefix\n",
        *table(COMMANDS),
        "",
        "## In copy mode\n",
        *table(COPY),
        "",
        "## After the prefix, while a question is shown\n",
        *table(QUESTION),
        "",
        "## Modes\n",
        _MODES,
        _CONFIG.rstrip("\n"),
        "",
        f"Keys are named as in `term.keys`; actions as in the tables, or `{NONE}`.",
        f"Colours: {names}.",
        f'Each is `"#rrggbb"`, 0 to 255, or one of {words}.',
    ]
    return "\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or with ``--check`` say whether it is stale; 0 when it is not, else 1."""
    parser = argparse.ArgumentParser(prog="python -m termnode.attach.ui.docs", description=__doc__)
    parser.add_argument("directory", nargs="?", type=Path, default=Path("specs"))
    parser.add_argument("--check", action="store_true", help="change nothing, say if it is stale")
    options = parser.parse_args(arguments)
    path = options.directory / PAGE
    if not options.check:
        path.write_text(page(), encoding="utf-8")
    if path.exists() and path.read_text(encoding="utf-8") == page():
        return 0
    sys.stderr.write(f"{PAGE} is stale: run python -m termnode.attach.ui.docs\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
