"""``termnode completion``: scripts for bash, zsh and fish, made from the parser itself."""

from __future__ import annotations

import argparse
import shlex

from termnode.cli.exits import OK
from termnode.cli.parser import build
from termnode.terminal.input.names import key_names
from termnode.version import VERSION


def run(arguments: argparse.Namespace) -> int:
    """Print the completion script of the named shell."""
    commands = _commands()
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[arguments.shell](commands))
    return OK


_TAKES_PATH = frozenset(
    {"--runtime-dir", "--shell", "--cwd", "--record", "--ticket-file", "--shared", "--key"}
)


class _Words:
    """The words that may follow one command."""

    def __init__(self, summary: str, parser: argparse.ArgumentParser) -> None:
        self.summary = summary
        self.options: list[tuple[str, str]] = []
        self.choices: list[str] = []
        self.paths: list[str] = []
        self.values: list[str] = []
        self.takes_file = False
        self.option_choices: dict[str, list[str]] = {}
        for action in parser._actions:
            if action.help == argparse.SUPPRESS:
                continue
            if action.option_strings:
                self._add_option(action.option_strings[-1], action)
            elif action.choices:
                self.choices.extend(map(str, action.choices))
            elif action.dest == "keys":
                self.choices.extend(key_names())
            elif action.dest == "file":
                self.takes_file = True

    def _add_option(self, name: str, action: argparse.Action) -> None:
        self.options.append((name, action.help or ""))
        if action.choices:
            self.option_choices[name] = list(map(str, action.choices))
        elif action.nargs != 0:
            (self.paths if name in _TAKES_PATH else self.values).append(name)

    def all(self) -> list[str]:
        return [*self.choices, *(option for option, _help in self.options)]


def _commands() -> dict[str, _Words]:
    parser = build(VERSION)
    actions = parser._actions
    subparsers = next(a for a in actions if isinstance(a, argparse._SubParsersAction))
    summaries = {choice.dest: choice.help or "" for choice in subparsers._choices_actions}
    return {name: _Words(summaries[name], sub) for name, sub in subparsers.choices.items()}


def _takers(commands: dict[str, _Words]) -> tuple[str, str]:
    """The options that take a path, and those that take another value, as shell patterns."""
    paths = {option for words in commands.values() for option in words.paths}
    values = {option for words in commands.values() for option in words.values}
    return "|".join(sorted(paths)), "|".join(sorted(values))


def _worded(commands: dict[str, _Words]) -> dict[str, str]:
    """The options that take one of a few words, the same in every command that has them."""
    return {
        option: shlex.join(choices)
        for words in commands.values()
        for option, choices in words.option_choices.items()
    }


def _bash(commands: dict[str, _Words]) -> str:
    cases = "\n".join(
        f"    {name}) words={shlex.quote(' '.join(words.all()))}{' files=1' * words.takes_file} ;;"
        for name, words in commands.items()
    )
    files, values = _takers(commands)
    worded = "\n".join(
        f"    {option}) words={shlex.quote(words)} ;;"
        for option, words in _worded(commands).items()
    )
    return f"""_termnode() {{
  local words="" files=""
  local current="${{COMP_WORDS[COMP_CWORD]-}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  case " ${{COMP_WORDS[*]:0:COMP_CWORD}} " in *" -- "*) previous=--shell ;; esac
  case "$previous" in
    {files}) files=1 ;;
    {values}) ;;
{worded}
    *) case "${{COMP_WORDS[1]-}}" in
{cases}
    esac ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words={shlex.quote(" ".join(commands))}; fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  if [ -n "$files" ]; then
    compopt -o filenames 2>/dev/null
    mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -f -- "$current")
  fi
}}
complete -F _termnode termnode"""


def _zsh(commands: dict[str, _Words]) -> str:
    names = " ".join(
        shlex.quote(f"{name}:{words.summary.replace(':', ' -')}")
        for name, words in commands.items()
    )
    cases = "\n".join(
        f"    {name}) compadd -- {shlex.join(words.all())}{'; _files' * words.takes_file} ;;"
        for name, words in commands.items()
    )
    files, values = _takers(commands)
    worded = "\n".join(
        f"    {option}) compadd -- {words}; return ;;"
        for option, words in _worded(commands).items()
    )
    return f"""(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit; }}
_termnode() {{
  if (( CURRENT == 2 )); then
    local -a names=({names})
    _describe command names
    return
  fi
  if (( ${{words[(I)--]}} && ${{words[(I)--]}} < CURRENT )); then _files; return; fi
  case $words[CURRENT-1] in
    {files}) _files; return ;;
    {values}) return ;;
{worded}
  esac
  case $words[2] in
{cases}
  esac
}}
compdef _termnode termnode"""


def _fish(commands: dict[str, _Words]) -> str:
    lines = ["complete -c termnode -f"]
    for name, words in commands.items():
        about = _fish_quote(words.summary)
        lines.append(f"complete -c termnode -n __fish_use_subcommand -a {name} -d {about}")
        here = f"complete -c termnode -n '__fish_seen_subcommand_from {name}'"
        for option, text in words.options:
            takes = _fish_value(words, option)
            lines.append(f"{here} -l {option[2:]} {takes}-d {_fish_quote(text)}")
        if words.takes_file:
            lines.append(f"{here} -F")
        if words.choices:
            choices = " ".join(map(_fish_quote, words.choices))
            lines.append(f"{here} -a {_fish_quote(choices)}")
    return "\n".join(lines)


def _fish_value(words: _Words, option: str) -> str:
    """What follows the option: a path, one of a few words, some other value, or nothing."""
    if option in words.option_choices:
        return f"-x -a {_fish_quote(' '.join(words.option_choices[option]))} "
    return "-r -F " if option in words.paths else "-x " if option in words.values else ""


def _fish_quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
