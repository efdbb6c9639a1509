"""The keys: one table each for after the prefix, for copy mode and for questions.

key -> action name -> help text. What an action does is in the modules beside this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from termnode.terminal.input.names import Key, parse_key

PREFIX: Final = "C-b"
"""The prefix, unless the configuration says another."""

REPEAT_S: Final = 0.5
"""Seconds after a repeatable command in which its kind needs no prefix, as tmux has it."""

SEND_PREFIX: Final = "send-prefix"


@dataclass(frozen=True, slots=True)
class Binding:
    """An action, the keys that it has unless configured, and what it does in a few words."""

    action: str
    keys: tuple[str, ...]
    help: str
    repeat: bool = False
    """Its keys go on working without the prefix for REPEAT_S."""
    writes: bool = True
    """Changes something for others: not in a read-only view."""


def _look(action: str, keys: Iterable[str], text: str) -> Binding:
    return Binding(action, tuple(keys), text, writes=False)


def _directed(name: str, prefix: str, text: str) -> tuple[Binding, ...]:
    return tuple(
        Binding(f"{name}-{word.lower()}", (f"{prefix}{word}",), text.format(words), repeat=True)
        for word, words in (
            ("Up", "up"), ("Down", "down"), ("Left", "to the left"), ("Right", "to the right"),
        )
    )  # fmt: skip


LAYOUTS: Final = (
    "even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled",
)  # fmt: skip

COMMANDS: Final = (
    Binding("new-tab", ("c",), "open a tab"),
    Binding("next-tab", ("n",), "next tab"),
    Binding("previous-tab", ("p",), "previous tab"),
    Binding("last-tab", ("l",), "the tab that was active before"),
    *(Binding(f"select-tab-{n}", (str(n),), f"the tab with the number {n}") for n in range(10)),
    Binding("ask-tab", ("'",), "ask for the number of a tab"),
    Binding("choose-tab", ("w",), "choose a tab from a list"),
    Binding("rename-tab", (",",), "rename the tab; empty: its own title again"),
    Binding("close-tab", ("&",), "close the tab (asks)"),
    Binding("split-right", ("%",), "split: a new pane to the right"),
    Binding("split-below", ('"',), "split: a new pane below"),
    Binding("next-pane", ("o",), "next pane of the tab"),
    Binding("last-pane", (";",), "the pane that was active before"),
    *_directed("select", "", "the pane {}"),
    *_directed("resize", "C-", "move the pane's border {} by one cell"),
    *_directed("resize-5", "M-", "move the pane's border {} by five cells"),
    Binding("zoom", ("z",), "the pane fills the tab, or no longer"),
    Binding("close-pane", ("x",), "close the pane (asks)"),
    Binding("swap-previous", ("{",), "swap with the previous pane"),
    Binding("swap-next", ("}",), "swap with the next pane"),
    Binding("break-pane", ("!",), "move the pane into a tab of its own"),
    Binding("next-layout", ("Space",), "next of the five layouts"),
    *(Binding(name, (f"M-{n}",), f"layout {name}") for n, name in enumerate(LAYOUTS, start=1)),
    Binding("rename-pane", (), "rename the pane"),
    Binding("restart-pane", ("R",), "start the pane's program again, once it has ended"),
    _look("copy-mode", ["["], "scroll, search and copy"),
    _look("copy-mode-up", ["PageUp"], "the same, one page up at once"),
    Binding("paste", ("]",), "paste what was copied last"),
    Binding("choose-buffer", ("=", "#"), "list what was copied, and paste one of it"),
    _look("delete-buffer", ["-"], "forget what was copied last"),
    _look("detach", ["d"], "leave; everything goes on"),
    _look("redraw", ["r"], "draw everything again"),
    _look("help", ["?"], "this help"),
    Binding(SEND_PREFIX, (), "send the prefix key itself", writes=False),
)
"""After the prefix."""

COPY: Final = (
    _look("left", ["h", "Left"], "left"),
    _look("down", ["j", "Down", "C-n", "C-j"], "down"),
    _look("up", ["k", "Up", "C-p"], "up"),
    _look("right", ["l", "Right"], "right"),
    _look("line-start", ["0", "Home", "C-a"], "start of the line"),
    _look("line-text", ["^"], "first text of the line"),
    _look("line-end", ["$", "End"], "end of the line"),
    _look("next-word", ["w"], "next word"),
    _look("word-end", ["e"], "end of the word"),
    _look("previous-word", ["b"], "previous word"),
    _look("previous-paragraph", ["{"], "previous empty line"),
    _look("next-paragraph", ["}"], "next empty line"),
    _look("screen-top", ["H"], "first line shown"),
    _look("screen-middle", ["M"], "middle line shown"),
    _look("screen-bottom", ["L"], "last line shown"),
    _look("scroll-up", ["C-y", "C-Up", "K"], "scroll up by a line"),
    _look("scroll-down", ["C-e", "C-Down", "J"], "scroll down by a line"),
    _look("half-up", ["C-u"], "half a page up"),
    _look("half-down", ["C-d"], "half a page down"),
    _look("page-up", ["PageUp", "C-b", "M-v"], "a page up"),
    _look("page-down", ["PageDown", "C-f"], "a page down"),
    _look("top", ["g", "M-<"], "the oldest line"),
    _look("bottom", ["G", "M->"], "the newest line"),
    _look("search-forward", ["/", "C-s"], "search down (RE2; else plain text)"),
    _look("search-backward", ["?", "C-r"], "search up"),
    _look("search-again", ["n"], "search on"),
    _look("search-reverse", ["N"], "search on in the other direction"),
    _look("select", ["v", "Space", "C-Space"], "begin a selection"),
    _look("select-line", ["V"], "select whole lines"),
    _look("rectangle", ["C-v", "R"], "select a rectangle, or no longer"),
    _look("other-end", ["o"], "to the other end of the selection"),
    _look("clear", ["Escape", "C-g"], "give up the selection; without one, leave"),
    _look("copy", ["Enter", "y", "M-w", "C-w"], "copy the selection and leave"),
    _look("refresh", ["r"], "take up what has come since"),
    _look("leave", ["q", "C-c", "i"], "leave"),
)
"""In copy mode."""

QUESTION: Final = (
    Binding("answer-yes", ("y",), "answer yes to a question"),
    Binding("answer-no", ("n", "N"), "answer no to a question"),
)
"""After the prefix, while a question is shown."""


def keymap(bindings: Iterable[Binding], changed: Mapping[Key, str | None]) -> dict[Key, Binding]:
    """Which key does what; ``changed`` gives keys another action's name, or None for none.

    Raises KeyError for a name that no binding has.
    """
    actions = {binding.action: binding for binding in bindings}
    keys = {parse_key(key): binding for binding in actions.values() for key in binding.keys}
    for key, action in changed.items():
        if action is None:
            keys.pop(key, None)
        else:
            keys[key] = actions[action]
    return keys


def name_of(key: Key) -> str:
    """The name of a key as `parse_key` takes it, shortest form."""
    char = "Space" if key.char == " " else key.char
    held = ("C-" * key.ctrl) + ("M-" * key.alt) + ("S-" * key.shift)
    return held + (char or key.code)
