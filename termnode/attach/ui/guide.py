"""The tables of keys as help, and as the tables of `specs/attach.md`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from termnode.attach.ui.bindings import COMMANDS, COPY, QUESTION, Binding, keymap, name_of
from termnode.attach.ui.core import Core
from termnode.terminal.input.names import Key


def help_lines(core: Core) -> tuple[str, ...]:
    """The keys as they are set now."""
    prefix = core.config.prefix
    return (
        f"After {prefix}:",
        *_lines(COMMANDS, core.commands),
        "",
        f"In copy mode ({prefix} [ or the wheel; q leaves it):",
        *_lines(COPY, core.copy_keys),
        "",
        f"While a question is shown, after {prefix}:",
        *_lines(QUESTION, keymap(QUESTION, {})),
    )


def table(bindings: Iterable[Binding]) -> list[str]:
    """Markdown: the default keys, the action's name, and what it does."""
    rows = [
        f"| {_code(binding)} | `{binding.action}` | {_words(binding)} |" for binding in bindings
    ]
    return ["| keys | action | what it does |", "| --- | --- | --- |", *rows]


def _lines(bindings: Iterable[Binding], keys: Mapping[Key, Binding]) -> list[str]:
    names: dict[str, list[str]] = {}
    for key, binding in keys.items():
        names.setdefault(binding.action, []).append(name_of(key))
    return [
        f"  {' '.join(names[binding.action]):<20} {binding.help}"
        for binding in bindings
        if binding.action in names
    ]


def _code(binding: Binding) -> str:
    """Backquotes in a key would end the code."""
    return " ".join(f"`{key}`" for key in binding.keys) or "(none)"


def _words(binding: Binding) -> str:
    return binding.help + ("; repeats" if binding.repeat else "")
