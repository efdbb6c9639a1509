"""Keys, hooks and settings that some people have, and how fish is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.support.habits.steps import (
    BASH,
    FISH,
    POSIX,
    RESIZE,
    SHOWN,
    ZSH,
    Habit,
    Step,
    habit,
    line,
    program,
)

SHARED: Final[Mapping[str, Habit]] = {
    "the last word by a key": habit(
        line("echo first second", "(?m)^first"),
        ("echo \x1b.", "echo second$"),
        ("\r", "(?m)^second$"),
    ),
    "undo": habit(("echo done-1 x", "x$"), ("\x1f\x1f\x1f\x15echo done-1\r", SHOWN)),
    "an unknown command": habit(
        line("nosuch-command", "(?i)nosuch-command.*\n.*(not found|unknown)"),
        line("echo done-1", SHOWN),
    ),
    "a syntax error": habit(line("echo )", "(?i)error"), line("echo done-1", SHOWN), on=POSIX),
    "a syntax error of fish": habit(
        ("echo )\r", r"Unexpected '\)'"),
        Step("\x03", "", "prompt"),
        line("echo done-1", SHOWN),
        on=FISH,
    ),
    "a program quit": habit(program("sleep 100"), Step("\x1c", "(?i)quit", "prompt")),
    "a program killed": habit(
        line("sh -c 'kill -9 $$'", "SIGKILL"), line("echo done-1", SHOWN), on=FISH
    ),
    "the last program killed": habit(
        line("sh -c 'kill -9 $$'; echo s-$?", "(?m)^s-137$"), line("echo done-1", SHOWN), on=POSIX
    ),
    "a full screen and back": habit(
        line("echo before", "(?m)^before$"),
        ("printf '\\033[?1049h'; cat\r", r"^\s*$"),
        Step("\x04", "", ""),
        line("printf '\\033[?1049l'", "(?m)^before$"),
        line("echo done-1", SHOWN),
    ),
    "left by a key": habit(Step("\x04", "", "ended"), on=("zsh", "fish")),
    "the directory before": habit(
        line("mkdir d; cd d; pwd", "(?m)/home/d$"),
        line("cd -; pwd", "(?m)/home$"),
        line("echo done-1", SHOWN),
    ),
    "operate and get next": habit(
        line("echo alpha-1", "(?m)^alpha-1$"),
        line("echo beta", "(?m)^beta$"),
        ("\x1b[A\x1b[A", "echo alpha-1$"),
        ("\x0f", r"(?s)\nalpha-1\n.*\nalpha-1\n.*echo beta$"),
        ("\r", r"(?s)\nbeta\n.*\nbeta"),
        on=POSIX,
    ),
    "an INT trap": habit(
        line("trap 'echo got' INT", "trap"),
        ("typed", "typed"),
        Step("\x03", "", ""),
        Step("\x15\r", r"\n\$$", "prompt"),
        line("echo done-1", SHOWN),
        on=POSIX,
    ),
    "a WINCH trap": habit(
        line("trap 'echo other' WINCH", "trap"),
        (RESIZE, ""),
        line("echo done-1", SHOWN),
        on=POSIX,
    ),
    "an EXIT trap": habit(
        line("trap 'echo bye' EXIT", "trap"), Step("exit\r", "(?m)^bye$", "ended"), on=POSIX
    ),
    "the first command told by a DEBUG trap": Habit(
        (
            line("echo done-1", r"\[echo done-1\] \$"),
            Step("\r", r"\[.*\] \$\n\[.*\] \$$", "prompt"),
            line("false", r"\[false\] \$$"),
        ),
        BASH,
        {
            "bash": "trap 'first=${first:-$BASH_COMMAND}' DEBUG\n"
            "PROMPT_COMMAND='shown=$first; unset first'\nPS1='[$shown] $ '\n"
        },
        prompt=r"\[.*\] \$",
    ),
    "vi mode in the prompt of bash": Habit(
        (
            ("abc", r"\(ins\).*abc"),
            ("\x1b", r"\(cmd\).*abc"),
            ("ddiecho done-1", r"\(ins\).*done-1$"),
            ("\r", SHOWN),
        ),
        BASH,
        {"bash": "{}set -o vi\nbind 'set show-mode-in-prompt on'\nbind 'set keyseq-timeout 50'\n"},
        prompt=r".*\$",
    ),
    "pastes without brackets": Habit(
        (("echo x\necho done-1\n", SHOWN),),
        BASH,
        {"bash": "{}bind 'set enable-bracketed-paste off'\n"},
    ),
    "a line kept for later": habit(
        ("echo done-1\x1bq", r"\$$"),
        ("echo between\r", r"\nbetween\n\$ echo done-1$"),
        Step("\r", SHOWN, "prompt"),
        on=ZSH,
    ),
    "a line before it is run": Habit(
        (
            line("echo done-1", SHOWN),
            ("!!\r", r"\$ echo done-1$"),
            ("\r", r"(?s)\ndone-1\n.*\ndone-1"),
        ),
        POSIX,
        {"bash": "{}shopt -s histverify\n", "zsh": "{}setopt hist_verify\n"},
    ),
    "a word corrected": Habit(
        (("ecoh done-1\r", "nyae"), ("y", SHOWN)), ZSH, {"zsh": "{}setopt correct\n"}
    ),
    "a variable edited": habit(
        line("x=abc", "abc"),
        ("vared x\r", "abc$"),
        ("d\r", ""),
        line("echo got-$x", "(?m)^got-abcd$"),
        on=ZSH,
    ),
    "a menu of completions": Habit(
        (
            line("touch file-a file-b", "touch"),
            ("ls file-\t\t", r"file-a +file-b"),
            ("\t", "ls file-[ab]"),
            ("\r", "ls file-[ab]"),
            Step("\r", r"(?m)^file-[ab]$", "prompt"),
        ),
        ZSH,
        {
            "zsh": "{}autoload -Uz compinit; compinit -D -u\nzmodload zsh/complist\n"
            "zstyle ':completion:*' menu select\n"
        },
    ),
}

SPOKEN: Final = """function before --on-event fish_preexec; echo "-- $argv"; end
function after --on-event fish_postexec; echo "== $status"; end
function each --on-event fish_prompt; echo "~~ $status"; end
"""

OF_FISH: Final[Mapping[str, Habit]] = {
    "jobs of fish": habit(
        line("sleep 100 &", "sleep 100"),
        line("jobs", "running"),
        line("kill (jobs -lp); wait", "(?i)terminated|sigterm|ended"),
        line("echo done-1", SHOWN),
        on=FISH,
    ),
    "a function over lines": habit(
        ("function f\r", "function"),
        ("echo done-1\r", "echo"),
        ("end\r", "end"),
        line("f", SHOWN),
        on=FISH,
    ),
    "another line by a key": habit(
        ("echo done-1\x1b\recho done-2", r"done-1\n +echo done-2$"),
        Step("\r", r"(?m)^done-1\ndone-2$", "prompt"),
        on=FISH,
    ),
    "search in the history of fish": habit(
        line("echo alpha-1", "(?m)^alpha-1$"),
        line("echo beta", "(?m)^beta$"),
        ("\x12alp", "search.*alp"),
        ("\r", "echo alpha-1$"),
        ("\r", r"(?s)\nalpha-1\n.*\nalpha-1"),
        on=FISH,
    ),
    "completion chosen from a list": habit(
        line("touch file-a file-b", "touch"),
        ("ls file-\t\t", r"file-a +file-b"),
        ("\t", "ls file-b"),
        ("\r", "ls file-b *$"),
        Step("\r", "(?m)^file-b$", "prompt"),
        on=FISH,
    ),
    "vi mode shown by fish": Habit(
        (
            ("abc", r"\[I\].*abc"),
            ("\x1b", r"\[N\].*abc"),
            ("ddi", r"\[I\]"),
            ("echo done-1\r", SHOWN),
        ),
        FISH,
        {"fish": "{}fish_vi_key_bindings\nset -g fish_escape_delay_ms 20\n"},
        prompt=r".*\$",
    ),
    "hooks of the person's own": Habit(
        (
            line("false", r"-- false\n== 1\n~~ 1"),
            line("echo done-1", r"done-1\n== 0\n~~ 0"),
            Step("\r", r"~~ 0\n\$$", "prompt"),
        ),
        FISH,
        {"fish": "{}" + SPOKEN},
    ),
    "traces of fish": habit(
        line("set fish_trace 1", "trace"), line("echo done-1", SHOWN), ("\r", r"\$$"), on=FISH
    ),
    "directories by keys": Habit(
        (
            line("mkdir d; cd d", r"d \$$"),
            Step("\x1b[1;3D", r"home \$$", "prompt"),
            Step("\x1b[1;3C", r"d \$$", "prompt"),
        ),
        FISH,
        {"fish": "{}function fish_prompt; echo (basename $PWD) '$ '; end\n"},
        prompt=r"\w+ \$",
    ),
    "keys of the person's own": Habit(
        (("abc\x07", "got-abc"), ("\x15echo done-1\r", SHOWN)),
        FISH,
        {"fish": "{}bind \\cg 'echo; echo got-(commandline); commandline -f repaint'\n"},
    ),
    "an editor for a line of fish": Habit(
        (("echo never", "never"), ("\x1be", "echo done-1$"), ("\r", SHOWN)),
        FISH,
        {
            "fish": "{}printf '#!/bin/sh\\necho echo done-1 >$1\\n' >ed; chmod +x ed\n"
            "set -gx EDITOR ~/ed\n"
        },
    ),
    "fish in it": habit(
        line("fish", r"fish"), line("echo in-$SHLVL", "(?m)^in-2$"), line("exit", "exit"), on=FISH
    ),
    "words cut and put back": habit(
        ("echo done-1 x\x17\x17\x19\x08\x08", "done-1"), Step("\r", SHOWN, "prompt"), on=FISH
    ),
    "a token from the history": habit(
        line("echo alpha-1 beta", "(?m)^alpha-1"),
        ("echo \x1b[1;3A", "echo beta$"),
        ("\x1b[1;3A\r", r"(?m)^alpha-1$"),
        on=FISH,
    ),
    "a comment": habit(
        Step("# nothing\r", r"nothing\n\$$", "prompt"), line("echo done-1", SHOWN), on=FISH
    ),
    "a list by a key": habit(
        line("touch one two", "touch"), ("echo done-1\x1bl", r"one +two"), ("\r", SHOWN), on=FISH
    ),
    "the time a command took": Habit(
        (line("echo done-1", SHOWN), line("false", r"1 1 \$$"), line("true | false", r"1 0 1 \$$")),
        FISH,
        {
            "fish": "{}function fish_prompt\n  echo $status $pipestatus '$ '\n"
            '  test -n "$CMD_DURATION"; or echo none\nend\n'
        },
        prompt=r"[\d ]+\$",
    ),
}

HABITS: Final[Mapping[str, Habit]] = {**SHARED, **OF_FISH}
"""By name."""
