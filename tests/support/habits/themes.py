"""Themes in the style of common ones: colours, a branch, hooks, own keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.support.habits.steps import BASH, FISH, RESIZE, SHOWN, ZSH, Habit, Step, line

GIT: Final = {
    # Looks for the branch as a theme does, without git.
    "zsh": r"""
branch() {
  local at=$PWD head
  while [[ $at != / && ! -r $at/.git/HEAD ]]; do at=${at:h}; done
  [[ -r $at/.git/HEAD ]] || return 1
  head=$(<$at/.git/HEAD)
  print -r -- "${head##*/}"
}
""",
    "bash": r"""
branch() {
  local at=$PWD head
  while [[ -n $at && ! -r $at/.git/HEAD ]]; do at=${at%/*}; done
  [[ -n $at ]] || return 1
  read -r head <"$at/.git/HEAD"
  printf %s "${head##*/}"
}
""",
    "fish": r"""
function branch
    set -l at $PWD
    while test $at != /; and not test -r $at/.git/HEAD
        set at (string replace -r '/[^/]*$' '' $at)
        test -n "$at"; or return 1
    end
    string replace -r '.*/' '' <$at/.git/HEAD
end
""",
}

ARROW: Final = (
    GIT["zsh"]
    + r"""
setopt prompt_subst
autoload -Uz add-zsh-hook
git_part() {
  local name
  name=$(branch) && print -n "%F{blue}git:(%F{red}$name%F{blue})%f "
  [[ -e .git/dirty ]] && print -n '%F{yellow}✗%f '
}
PROMPT='%(?:%B%F{green}➜ :%B%F{red}➜ )%b%F{cyan}%c%f $(git_part)%(!.#.$) '
RPROMPT='%(?..%F{red}%? ↵ %f)%F{242}$took%f'
began() { ran=${1%% *}; print -n "\e]0;$ran\a" }
ended() { took=${ran:-nothing}; unset ran; print -Pn '\e]0;%1~\a' }
moved() { print "now in ${PWD:t}" }
add-zsh-hook preexec began
add-zsh-hook precmd ended
add-zsh-hook chpwd moved
"""
)
"""One line: arrow in the status's colour, directory, branch; at the right what was run last."""

PURE: Final = (
    GIT["zsh"]
    + r"""
setopt prompt_subst
autoload -Uz add-zsh-hook
ask() { name=$(branch || print none) }
full() {
  PROMPT=$'\n%F{blue}%1~%f %F{242}$name%f\n%(?.%F{magenta}.%F{red})$keys%f '
}
add-zsh-hook precmd ask
add-zsh-hook precmd full
keys='»'
bindkey -v
KEYTIMEOUT=1
zle-keymap-select() {
  [[ $KEYMAP == vicmd ]] && keys='«' || keys='»'
  zle reset-prompt
}
zle-line-finish() {
  keys='»'
  PROMPT='%F{242}»%f '
  zle reset-prompt
}
zle -N zle-keymap-select
zle -N zle-line-finish
"""
)
"""Two lines: the branch comes later, the mode of the keys shown, a prompt left behind is short."""

FILLED: Final = r"""
setopt prompt_subst transient_rprompt no_prompt_sp
zmodload zsh/parameter
fill() {
  local left="%K{blue}%F{black} %1~ %k%F{blue}%f " right="%F{yellow}%(1j.%j job.idle)%f"
  local bare=${(S%%)${:-$left$right}//(\%([KF1]|)\{*\}|\%[kf])}
  local -i room=$(( COLUMNS - ${#bare} - 1 ))
  PROMPT="$left%F{240}${(l:room::─:):-}%f$right"$'\n''%(?.%F{green}.%F{red})╰─%f$ '
  RPROMPT='%K{240} %? %k'
}
precmd_functions+=(fill)
TRAPWINCH() { fill; zle && zle reset-prompt; return 0 }
PS2='%F{blue}%_%f> '
RPS2='%F{240}%^%f'
SPROMPT='really %r? '
"""
"""A line filled to the width of the terminal, and a right prompt that leaves with its line."""

PLUGINS: Final = r"""
look() {
  region_highlight=()
  POSTDISPLAY=
  [[ -n $BUFFER ]] || return 0
  local word=${BUFFER%% *}
  (( $+commands[$word] || $+builtins[$word] )) && region_highlight=("0 ${#word} fg=green") ||
    region_highlight=("0 ${#word} fg=red,bold")
  local found=${history[(R)${(b)BUFFER}*]}
  if [[ -n $found && $found != $BUFFER ]]; then
    POSTDISPLAY=${found#$BUFFER}
    region_highlight+=("$#BUFFER $(( $#BUFFER + $#POSTDISPLAY )) fg=8")
  fi
}
take() {
  if [[ -n $POSTDISPLAY ]]; then BUFFER+=$POSTDISPLAY; POSTDISPLAY=; CURSOR=$#BUFFER
  else zle .forward-char; fi
}
wipe() { POSTDISPLAY=; region_highlight=(); zle .accept-line }
zle -N accept-line wipe
zle -N take
bindkey '^[[C' take
autoload -Uz add-zle-hook-widget
add-zle-hook-widget line-pre-redraw look
"""
"""A line coloured as it is typed, and what may follow it from the history."""

POWER: Final = (
    GIT["bash"]
    + r"""
theme() {
  local s=$? mark='\[\e[32m\]'
  ((s == 0)) || mark='\[\e[1;31m\]'
  printf '\e]0;%s\a' "${PWD##*/}"
  printf '\e7\e[%dG\e[36m%4s\e[0m\e8' "$((COLUMNS - 5))" "$s"
  PS1="\[\e[44;97m\] \W \[\e[0;34m\]\[\e[0m\] \[\e[33m\]$(branch)\[\e[0m\]\n$mark»\[\e[0m\] "
  history -a
  return $s
}
PROMPT_COMMAND="theme${PROMPT_COMMAND:+; $PROMPT_COMMAND}"
PS2='\[\e[90m\]…\[\e[0m\] '
PROMPT_DIRTRIM=1
"""
)
"""A title, the status at the right, a segment with a background, a branch."""

LINES: Final = """
for name in normal command keyword quote redirection end error param option comment operator escape
    set -g fish_color_$name normal
end
for name in autosuggestion valid_path search_match selection cancel
    set -g fish_color_$name normal
end
set -g fish_greeting
"""
"""Of fish: what is typed has no colours."""

TIDE: Final = (
    LINES
    + GIT["fish"]
    + r"""
function fish_prompt
    set -l all $pipestatus
    set -l last $status
    set_color -b blue black
    echo -n " $(basename $PWD) "
    set_color normal
    set_color yellow
    echo " $(branch)" $all
    set_color (test $last = 0; and echo green; or echo red)
    echo -n '» '
    set_color normal
end
function fish_right_prompt
    set -l last $status
    set_color brblack
    test $last = 0; or echo -n "$last ↵ "
    echo -n $ran
    set_color normal
end
function fish_title; echo mine (basename $PWD); end
function fish_mode_prompt; end
function remember --on-event fish_preexec; set -g ran (string split ' ' -- $argv[1])[1]; end
function finished --on-event fish_postexec; set -g took $CMD_DURATION; end
"""
)
"""Two lines with a background, branch, all statuses, and the last command at the right."""

REPOSITORY: Final = line(
    "mkdir -p p/.git; echo ref: refs/heads/topic-x >p/.git/HEAD; cd p", r"(?s)HEAD; cd p.*topic-x"
)

HABITS: Final[Mapping[str, Habit]] = {
    "an arrow and a branch": Habit(
        (
            line("echo done-1", SHOWN),
            REPOSITORY,
            line("touch .git/dirty", r"git:\(topic-x\) ✗ [$#]"),
            Step("false\r", r"1 ↵ false$", "prompt"),
            ("typed", "typed"),
            Step("\x15", r"1 ↵ false$", "prompt"),
            line("cd ..; sleep 100 &", "now in home"),
        ),
        ZSH,
        {"zsh": ARROW},
        prompt=r"➜ .*[$#]( +.*)?",
    ),
    "a short prompt left behind": Habit(
        (
            Step("", "none", "prompt"),
            line("echo done-1", r"(?s)» echo done-1\ndone-1\n.*none"),
            REPOSITORY,
            ("abc", "» abc"),
            ("\x1b", "« abc"),
            Step("ddi\x7f", "»$", "prompt"),
            line("false", r"» false\n+p topic-x"),
        ),
        ZSH,
        {"zsh": PURE},
        prompt="»",
    ),
    "a line filled to its width": Habit(
        (
            line("echo done-1", SHOWN),
            line("false", r"╰─\$ +1$"),
            ("typed", "typed"),
            (RESIZE, "typed"),
            Step("\x15", r"╰─\$ +1$", "prompt"),
            ("if true; then\r", r"then> +then$"),
            Step("echo done-2; fi\r", "(?m)^done-2$", "prompt"),
            line("printf abc", r"printf abc\n ~ "),
            line("sleep 100 &", "1 job"),
        ),
        ZSH,
        {"zsh": FILLED},
        prompt=r"╰─\$( +\d+)?",
    ),
    "a prompt drawn again as a line begins": Habit(
        (line("echo done-1", SHOWN), line("now=later", r"later \$$")),
        ZSH,
        {
            "zsh": "setopt prompt_subst\nnow=first\nPROMPT='$now $ '\n"
            "zle-line-init() { zle reset-prompt }\nzle -N zle-line-init\n"
        },
        prompt=r"(first|later) \$",
    ),
    "lines coloured and suggested": Habit(
        (
            line("echo done-1", SHOWN),
            ("nosuch", "nosuch"),
            ("\x15ech", r"\necho? ?d?|ech"),
            Step("\x1b[C\r", r"(?s)\ndone-1\n.*\ndone-1\n", "prompt"),
            ("ls; echo 'd", "echo 'd"),
            Step("\x15", r"\n\$$", "prompt"),
        ),
        ZSH,
        {"zsh": "{}" + PLUGINS},
    ),
    "a segment and a branch": Habit(
        (
            line("echo done-1", SHOWN),
            REPOSITORY,
            line("(exit 7)", r"topic-x +7\n»$"),
            ("echo 'a\r", "…$"),
            Step("b'\r", r"a\nb\n", "prompt"),
            ("\x1b[A\x1b[A", r"» \(exit 7\)$"),
            Step("\x03", r"\^C", "prompt"),
        ),
        BASH,
        {"bash": POWER},
        prompt="»",
    ),
    "a segment and all statuses": Habit(
        (
            line("echo done-1", SHOWN),
            REPOSITORY,
            line("false | true", r"topic-x 1 0\n» +false$"),
            line("sh -c 'exit 7'", r"topic-x 7\n» +7 ↵ sh$"),
            ("abc", "» abc"),
            Step("\x15", r"» +7 ↵ sh$", "prompt"),
        ),
        FISH,
        {"fish": TIDE},
        prompt="»( +.*)?",
        styled=True,
    ),
}
"""By name."""
