"""What people do in their shells, as keys: each habit for the shells that have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.support.habits import persons, themes
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
from tests.support.integrated_shell import SHELLS

VI: Final = {
    "bash": "{}set -o vi\n",
    "zsh": "{}bindkey -v\n",
    "fish": "{}fish_vi_key_bindings\nfunction fish_mode_prompt; end\n",
}
THEME: Final = {
    "bash": (
        "theme() { local s=$?; "
        'PS1="\\[\\e[1;34m\\]\\W\\[\\e[0m\\] $s\\n\\[\\e[32m\\]>\\[\\e[0m\\] "; }\n'
        "PROMPT_COMMAND=theme\n"
    ),
    "zsh": (
        "setopt prompt_subst\n"
        "theme() { local s=$?; print; PROMPT=\"%F{blue}%1~%f $s\"$'\\n''%B%F{green}>%f%b '; "
        "RPROMPT='%F{red}right%f'; }\n"
        'precmd_functions+=(theme)\npreexec() { print "-- $1"; }\n'
    ),
    "fish": (
        "set -g fish_greeting\nfunction fish_prompt\n  set -l s $status\n  set_color blue\n"
        "  echo (basename $PWD) $s\n  set_color green\n  echo -n '> '\n  set_color normal\nend\n"
        "function fish_right_prompt; echo right; end\n"
    ),
}

PLAIN: Final[Mapping[str, Habit]] = {
    "a command": habit(line("echo done-1", SHOWN)),
    "an empty line": habit(("\r", r"\$\s*\n\$"), line("echo done-1", SHOWN)),
    "the line before": habit(
        line("echo done-1", SHOWN), ("\x1b[A", r"echo done-1$"), ("\r", r"done-1\n.*\ndone-1")
    ),
    "search in the history": habit(
        line("echo alpha-1", "(?m)^alpha-1$"),
        line("echo beta", "(?m)^beta$"),
        ("\x12alp", "echo alpha-1[^$]*$"),
        ("\r", r"(?s)\nalpha-1\n.*\nalpha-1"),
        on=POSIX,
    ),
    "search by what is typed": habit(
        line("echo alpha-1", "(?m)^alpha-1$"),
        line("echo beta", "(?m)^beta$"),
        ("alph", r"alph"),
        ("\x1b[A", r"echo alpha-1$"),
        ("\r", r"(?s)\nalpha-1\n.*\nalpha-1"),
        on=FISH,
    ),
    "the history listed": habit(
        line("echo alpha", "(?m)^alpha$"),
        line("fc -l", r"fc -l"),
        line("echo done-1", SHOWN),
        on=POSIX,
    ),
    "history expansion": habit(
        line("echo done-1", SHOWN), line("!!", r"(?s)done-1.*echo done-1\ndone-1"), on=BASH
    ),
    "history expansion of zsh": habit(
        line("echo done-1", SHOWN), line("!!", r"(?s)\ndone-1\n.*\ndone-1"), on=ZSH
    ),
    "history expansion that fails": habit(
        line("!nosuch", "not found"), line("echo done-1", SHOWN), on=POSIX
    ),
    "completion": habit(
        line("touch onlyone", "touch"), ("ls only\t", "ls onlyone"), ("\r", r"(?m)^onlyone")
    ),
    "completion with a choice": habit(
        line("touch file-a file-b", "touch"),
        ("ls file-\t\t", r"file-a +file-b"),
        Step("a\r", "(?m)^file-a$", "prompt"),
        line("echo done-1", SHOWN),
        on=BASH,
    ),
    "completion with a list": habit(
        line("touch file-a file-b", "touch"),
        ("ls file-\t\t", r"ls file-a *\n(.*\n)*.*file-a +file-b"),
        Step("\x03", r"ls file-a *(\^C)?\n", "prompt"),
        line("echo done-1", SHOWN),
        on=("zsh", "fish"),
    ),
    "jobs": habit(
        line("sleep 100 &", r"sleep 100"),
        line("jobs", r"(?i)running"),
        line("kill %1; wait", "(?i)terminated"),
        line("echo done-1", SHOWN),
        on=POSIX,
    ),
    "a stopped job": habit(
        program("cat"),
        ("mirror\r", r"mirror\nmirror"),
        Step("\x1a", r"(?i)stopped|suspended", "prompt"),
        program("fg"),
        ("again\r", r"again\nagain"),
        Step("\x03", r"\n\$$", "prompt"),
        line("echo done-1", SHOWN),
    ),
    "vi keys": Habit(
        (
            ("echo abc", "echo abc"),
            ("\x1b", ""),
            ("0cwprintf", "printf abc"),
            Step("\r", "(?m)^abc", "prompt"),
            line("echo; echo done-1", SHOWN),
        ),
        rc=VI,
    ),
    "an unfinished quote": habit(
        ("echo 'done-\r", r"'done-\n.*>$"),
        ("x'\r", r"\ndone-\nx\n"),
        line("echo done-1", SHOWN),
        on=POSIX,
    ),
    "an unfinished quote of fish": habit(
        ("echo 'done-\rx'", r"'done-\n +x'$"),
        ("\r", r"\ndone-\nx\n"),
        line("echo done-1", SHOWN),
        on=FISH,
    ),
    "a loop over lines": habit(
        ("for i in 1 2; do\r", r"do\n.*>$"),
        ("echo l-$i\r", r"l-\$i\n.*>$"),
        ("done\r", r"l-1\nl-2"),
        line("echo done-1", SHOWN),
        on=POSIX,
    ),
    "a here-document": habit(
        ("cat <<E\r", r"E\n.*>$"),
        ("body\r", r"body\n.*>$"),
        ("E\r", r"\nbody\n"),
        line("echo done-1", SHOWN),
        on=POSIX,
    ),
    "an unfinished line given up": habit(
        ("echo 'x\r", "(?m)>$"),
        Step("\x03", r"x\n.*>[^\n]*\n", "prompt"),
        line("echo done-1", SHOWN),
        on=POSIX,
    ),
    "an unfinished line of fish given up": habit(
        ("echo 'x\ry", r"'x\n +y$"),
        Step("\x03", r"\^C", "prompt"),
        line("echo done-1", SHOWN),
        on=FISH,
    ),
    "a paste": habit(("\x1b[200~echo done-1\x1b[201~", "echo done-1"), ("\r", SHOWN)),
    "a paste of lines": habit(
        ("\x1b[200~echo x\necho done-1\x1b[201~", "echo done-1"), ("\r", SHOWN)
    ),
    "another size": habit(
        ("echo a-rather-long-line-that-will-be-wrapped-soon", "soon"),
        (RESIZE, "soon"),
        ("\r", r"(?m)^a-rather"),
        line("echo done-1", SHOWN),
        on=POSIX,
    ),
    "another size of fish": habit(
        ("echo a-rather-long-line", "line"),
        (RESIZE, "line"),
        ("\r", r"(?m)^a-rather"),
        line("echo done-1", SHOWN),
        on=FISH,
    ),
    "a line given up": habit(
        ("echo never", "never"),
        Step("\x03", r"never[^\n]*\n", "prompt"),
        line("echo done-1", SHOWN),
    ),
    "a program interrupted": habit(
        program("sleep 100"), Step("\x03", r"\n\$$", "prompt"), line("echo done-1", SHOWN)
    ),
    "the status": habit(
        line("(exit 7)", r"\(exit 7\)"), line("echo status-$?", "(?m)^status-7$"), on=POSIX
    ),
    "the status of fish": habit(
        line("sh -c 'exit 7'", "7"), line("echo status-$status", "(?m)^status-7$"), on=FISH
    ),
    "all statuses": habit(
        line("false | true", "true"), line("echo p-${PIPESTATUS[*]}", "(?m)^p-1 0$"), on=BASH
    ),
    "all statuses of zsh": habit(
        line("false | true", "true"), line("echo p-$pipestatus", "(?m)^p-1 0$"), on=ZSH
    ),
    "all statuses of fish": habit(
        line("false | true", "true"), line("echo p-$pipestatus", "(?m)^p-1 p-0$"), on=FISH
    ),
    "the last word": habit(
        line("echo first second", "(?m)^first"),
        line("echo last-$_", "(?m)^last-second$"),
        on=POSIX,
    ),
    "DEBUG trap": habit(
        line("trap 'echo \"<$BASH_COMMAND>\"' DEBUG", "trap"),
        line("echo done-1", SHOWN),
        line("echo done-2", "(?m)^done-2$"),
        on=BASH,
    ),
    "traps of zsh": habit(
        line("TRAPZERR() { print failed }; trap 'n=$((n+1))' DEBUG", "TRAP"),
        line("false", "(?m)^failed$"),
        line("n=0; true; echo n-$n", r"(?m)^n-\d$"),
        on=ZSH,
    ),
    "DEBUG trap in functions": habit(
        line("set -T; shopt -s extdebug; trap 'n=$((n+1))' DEBUG", "trap"),
        line("n=0; echo done-1; echo n-$n", "n-2"),
        on=BASH,
    ),
    "ERR and EXIT traps": habit(
        line("trap 'echo failed' ERR; trap 'echo bye' EXIT", "trap"),
        line("false", "(?m)^failed$"),
        ("\x04", r"bye"),
        on=BASH,
    ),
    "CHLD trap": habit(
        line("trap 'echo child' CHLD", "trap"),
        line("/bin/true", "(?m)^child$"),
        line("echo done-1", SHOWN),
        on=BASH,
    ),
    "traces": habit(
        line("set -x", "set -x"),
        line("echo done-1", SHOWN),
        line("echo done-2", "(?m)^done-2$"),
        on=POSIX,
    ),
    "unset names are errors": habit(
        line("set -u", "set -u"),
        line("echo $nosuch", "nosuch:"),
        line("echo done-1", SHOWN),
        on=POSIX,
    ),
    "a failure ends it": habit(
        line("set -e", "set -e"), line("echo done-1", SHOWN), ("\r", r"\$\s*\n\$"), on=POSIX
    ),
    "no files overwritten": habit(
        line("set -C; set -f", "set"), line("echo done-1", SHOWN), on=POSIX
    ),
    "another IFS": habit(
        line("IFS=1234567890", "IFS"),
        line("echo done-1", SHOWN),
        line("echo done-2", "(?m)^done-2$"),
        on=POSIX,
    ),
    "clear the screen": habit(
        line("echo before", "(?m)^before$"),
        ("typed\x0c", r"^\$ typed\s*$"),
        ("\x15echo done-1\r", SHOWN),
    ),
    "cut and yank": habit(("echo done-1 x\x17\x17\x19\x08\x08", "done-1"), ("\r", SHOWN), on=POSIX),
    "aliases": habit(line("alias e=echo", "alias"), line("e done-1", SHOWN)),
    "own names": habit(
        line("printf() { echo mine; }; local() { echo mine; }; read() { echo mine; }", "mine"),
        line("echo done-1", SHOWN),
        ("\r", r"\$\s*\n\$"),
        on=BASH,
    ),
    "aliases of keywords in the startup file": habit(
        line("echo done-1", SHOWN),
        on=POSIX,
        bash="{}alias builtin='echo A' local='echo B' printf='echo C'\n",
        zsh="{}alias builtin='echo A' local='echo B' print='echo C'\nalias -g D=E\n",
    ),
    "a question of fish": habit(
        ("read x; echo got-$x\r", "read>$"), ("word\r", "(?m)^got-word$"), on=FISH
    ),
    "a question": habit(
        Step("read x; echo got-$x\r", "read x", "builtin"), ("word\r", "(?m)^got-word$"), on=POSIX
    ),
    "a pager": habit(
        ("seq 100 | less\r", r"(?m)^20$"),
        ("G", r"(?m)^100$"),
        ("q", r"\$ *$"),
        line("echo done-1", SHOWN),
    ),
    "no newline at the end": habit(line("printf abc", r"abc"), line("echo done-1", SHOWN)),
    "a long line": habit(
        ("echo " + "w" * 100, "w{20}\n?w{20}"),
        Step("\x01\x05\r", "w{60}", "prompt"),
        line("echo done-1", SHOWN),
    ),
    "other alphabets": habit(
        line("echo día 中文 é", "(?m)^día 中文 é"), line("echo done-1", SHOWN)
    ),
    "a title": habit(line(r"printf '\033]0;mine\007'", "printf"), line("echo done-1", SHOWN)),
    "a shell in it": Habit(
        (
            line("sh", "sh"),
            line("echo done-1; echo p=$PS1", "(?m)^done-1$"),
            line("exit", "exit"),
            line("echo out-2", "(?m)^out-2$"),
        ),
    ),
    "a bash in it": Habit(
        (
            line("bash --norc", "bash-5"),
            line("echo ${PROMPT_COMMAND}${PS0}.", r"(?m)^\.$"),
            line("exit", "exit"),
            line("echo done-1", SHOWN),
        )
    ),
    "the same shell in it": habit(
        line("zsh", "zsh"),
        line("echo in-$SHLVL-$ZDOTDIR.", r"(?m)^in-2-\.$"),
        line("exit", "exit"),
        line("echo done-1", SHOWN),
        on=ZSH,
    ),
    "replaced by another": Habit((line("exec sh", "sh"), line("echo done-1", SHOWN))),
    "left": habit(("\x04", r"exit"), on=BASH),
    "the environment": habit(
        line(
            "env | grep -ci -e termnode -e ^ZDOTDIR -e ^ENV= -e POSIXLY; echo done-1",
            r"(?m)^0\ndone-1$",
        )
    ),
    "own prompt command, text": Habit(
        (line("echo done-1", SHOWN), ("\r", r"pc\n")),
        BASH,
        {"bash": "{}PROMPT_COMMAND='echo pc'\n"},
    ),
    "own prompt commands, list": Habit(
        (line("false", "pc-1"), ("\r", r"pc-")),
        BASH,
        {"bash": "{}PROMPT_COMMAND=('echo pc-$?' 'echo q-$?; false')\n"},
    ),
    "own prompt command, changed": habit(
        line("PROMPT_COMMAND='echo pc'", "(?m)^pc$"),
        line("echo done-1", SHOWN),
        line("PROMPT_COMMAND=(true)", "true"),
        line("echo done-2", "(?m)^done-2$"),
        line("unset PROMPT_COMMAND", "unset"),
        line("echo done-3", "(?m)^done-3$"),
        on=BASH,
    ),
    "own prompts": habit(
        line("PS0='[run]' PS2='more> ' PS1='new% '", "new% "),
        line("echo done-1", "(?m)^.run.done-1$"),
        ("echo '\r", "(?m)^more>$"),
        ("'\r", "new%$"),
        on=BASH,
    ),
    "prompts as they are": habit(
        line("shopt -u promptvars", "shopt"),
        line("echo done-1", SHOWN),
        ("echo '\r", ">$"),
        ("'\r", r"\$$"),
        line("echo done-2", "(?m)^done-2$"),
        on=BASH,
    ),
    "a prompt with colours and history": Habit(
        (line("echo done-1", SHOWN), line("false", "false"), ("\r", "3")),
        BASH,
        {"bash": "PS1='\\[\\e[35m\\]\\! \\# \\W \\j $?\\[\\e[0m\\] \\$ '\n"},
    ),
    "a theme": Habit(
        (
            line("echo done-1", SHOWN),
            line("false", "[~e] 1"),
            Step("\r", r"[~e] [01]\n.*\n+.*[~e] [01]\n>( +right)?$", "prompt"),
            ("typed", "typed"),
            Step("\x15", r">( +right)?$", "prompt"),
        ),
        rc=THEME,
    ),
    "right prompt and vi mode shown": Habit(
        (("abc", "abc"), ("\x1b", "NORMAL"), ("ddi", "INSERT"), line("echo done-1", SHOWN)),
        ZSH,
        {
            "zsh": "{}bindkey -v\nRPS1=INSERT\nzle-line-init zle-keymap-select() {"
            " [[ $KEYMAP == vicmd ]] && RPS1=NORMAL || RPS1=INSERT; zle reset-prompt }"
            "\nzle -N zle-line-init; zle -N zle-keymap-select\n"
        },
    ),
    "prompt hooks set anew": Habit(
        (line("echo done-1", SHOWN), ("\r", r"hook\n")),
        ZSH,
        {"zsh": "{}mine() { print hook }\nprecmd_functions=(mine)\n"},
    ),
    "arrays from zero": Habit(
        (line("a=(x y); echo ${a[1]}-$#a", "(?m)^y"), line("echo done-1", SHOWN)),
        ZSH,
        {"zsh": "{}setopt ksh_arrays sh_word_split null_glob glob_subst\n"},
    ),
    "a broken startup file": Habit(
        (line("echo done-1", SHOWN),),
        POSIX,
        {"bash": "PS1='$ '\nif then fi\n", "zsh": "PS1='$ '\nif then fi\n"},
    ),
    "a startup file that returns": Habit(
        (line("echo done-1", SHOWN),),
        SHELLS,
        {
            "bash": "PS1='$ '\nreturn 3\n",
            "zsh": "PS1='$ '\nreturn 3\n",
            "fish": "function fish_prompt; echo '$ '; end\nset -g fish_greeting\nreturn 3\n",
        },
    ),
    "an abbreviation": Habit((("e done-1\r", SHOWN),), FISH, {"fish": "{}abbr -a e echo\n"}),
    "suggestions": habit(
        line("echo done-1", SHOWN),
        ("echo d", r"\ndone-1\n.*echo done-1$"),
        ("\x1b[C", r"\ndone-1\n.*echo done-1$"),
        ("\r", r"(?s)\ndone-1\n.*\ndone-1"),
        on=FISH,
    ),
    "a loop of fish": habit(
        ("for i in 1 2\r", "for"), ("echo l-$i\r", "echo"), ("end\r", r"l-1\nl-2"), on=FISH
    ),
    "a login shell": Habit(
        (line("echo done-1; shopt login_shell", "login_shell *.*on"), ("logout\r", "logout")),
        BASH,
        {},
        ("-l",),
    ),
    "a login shell of zsh": Habit(
        (line("[[ -o login ]] && echo done-1", SHOWN), ("logout\r", "logout")), ZSH, {}, ("-l",)
    ),
    "an editor for the line": Habit(
        (("echo never", "never"), ("\x18\x05", SHOWN)),
        BASH,
        {
            "bash": "{}ed() { echo 'echo done-1' >\"$1\"; }; export -f ed\n"
            "export EDITOR='bash -c '\\''ed \"$0\"'\\'''\n"
        },
    ),
    "a menu": habit(
        ("select x in a b; do echo got-$x; break; done\r", r"#\?$|\?#$"),
        ("2\r", "(?m)^got-b$"),
        on=POSIX,
    ),
}

HABITS: Final[Mapping[str, Habit]] = {**PLAIN, **persons.HABITS, **themes.HABITS}
"""By name."""
