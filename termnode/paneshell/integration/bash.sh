# Hooks for an interactive bash (5.1 or newer): the startup file of a pane's shell, which reads the
# person's own startup files first. Everything is defined before them, so that no alias of theirs
# becomes part of it; names begin with __termnode_.

if [[ -z ${TERMNODE_SHELL_DIR-} || ${BASH_VERSINFO[0]}${BASH_VERSINFO[1]} -lt 51 ]]; then
  __termnode_dir=
else
  __termnode_dir=$TERMNODE_SHELL_DIR
fi
unset TERMNODE_SHELL_DIR

# Generation of the newest prompt; whether a command runs; whether more of a line is asked for.
__termnode_gen=0 __termnode_run=1 __termnode_more=0
# The operation under way; how many more lines of it come without a prompt; what its line switched
# off: the person's HISTIGNORE (1: it is kept, in what declares it again), and ! (H).
__termnode_op= __termnode_lines=0 __termnode_hist=0 __termnode_kept= __termnode_bang=
# The person's options (set -o, as $- says them) while ours are set.
__termnode_held=
__termnode_none= __termnode_quiet=0 __termnode_mute=0 __termnode_nonce= __termnode_telling=(1 '')

# The output goes nowhere: traces (set -x) and DEBUG traps of the person would else show our hooks.
__termnode_hook='{ __termnode_prompt; } >/dev/null 2>&1'
__termnode_a='\[\e]133;A;n=${__termnode_nonce-}\a\]'
__termnode_b='\[\e]133;B;n=${__termnode_nonce-}\a\]'
# Arithmetic in a prompt string is the one place where bash lets a variable be set at that moment.
# An accepted line is past the history, so HISTIGNORE may already stop to match it (0 hardly does).
__termnode_c='${__termnode_none:$((__termnode_run=1,__termnode_hist?HISTIGNORE=0:0,0)):0}'
__termnode_c+='${__termnode_telling[__termnode_mute]:+$(__termnode_tell_run)}'
__termnode_d='\e]133;C;n=${__termnode_nonce-}\a'
# bash makes this prompt for each line of an operation too, but shows none of them.
__termnode_p='${__termnode_none:$((__termnode_quiet=__termnode_lines>0,__termnode_quiet?'
__termnode_p+='(__termnode_lines-=1):(__termnode_gen+=1,__termnode_more=1),0)):0}'
__termnode_p+='${__termnode_telling[__termnode_quiet||__termnode_mute]:+$(__termnode_tell_more)}'

__termnode_say() { # a record: one write, to a pipe that is there
  [[ -p $__termnode_dir/ctl ]] && builtin printf '%s\0' "$1" 1<>"$__termnode_dir/ctl"
} 2>/dev/null

__termnode_tell_run() {
  { builtin set +ex; __termnode_say "RUN $__termnode_gen ${__termnode_op:--}"; } >/dev/null 2>&1
}

__termnode_tell_more() {
  { builtin set +ex; __termnode_say "CONT $__termnode_gen"; } >/dev/null 2>&1
}

__termnode_no_history() { # neither list nor ! for the line to come
  __termnode_bang=
  if [[ $__termnode_held == *H* ]]; then
    __termnode_bang=H
    builtin set +H
  fi
  [[ ${HISTIGNORE@a} == *r* ]] && builtin return 0
  __termnode_kept=${HISTIGNORE@A}
  __termnode_hist=1 # before it is changed: an interrupt may end this anywhere
  builtin unset HISTIGNORE
  HISTIGNORE=*
}

__termnode_history() { # as the person has it
  [[ -z $__termnode_bang ]] || builtin set -H
  __termnode_bang=
  ((__termnode_hist)) || builtin return 0
  builtin unset HISTIGNORE
  [[ -z $__termnode_kept ]] || builtin eval "${__termnode_kept/#declare /builtin declare -g }"
  __termnode_hist=0
}

__termnode_armed() { # whether a prompt and a command will be told
  [[ ${PROMPT_COMMAND[97]-} == "$__termnode_hook" || ${PROMPT_COMMAND[97]-} == __termnode_prompt ]] &&
    [[ ${PS0-} == *"$__termnode_c"*"$__termnode_d"* && ${PS2-} == *"$__termnode_p"* ]] && builtin shopt -q promptvars
}

__termnode_arm() { # put back what is not in place
  builtin local "__termnode_want=$__termnode_hook"
  # This library runs its hooks before any command that it does not find in PROMPT_COMMAND.
  builtin declare -F __bp_in_prompt_command && __termnode_want=__termnode_prompt
  [[ ${PROMPT_COMMAND@a} == *r* || ${PROMPT_COMMAND[97]-} == "$__termnode_want" ]] ||
    PROMPT_COMMAND[97]=$__termnode_want
  if ! builtin shopt -q promptvars; then # ours would be shown as they are written
    __termnode_disarm
    builtin return 0
  fi
  if [[ ${PS0@a} != *r* && ${PS0-} != "$__termnode_c"*"$__termnode_d" ]]; then
    PS0=${PS0//"$__termnode_c"/}
    PS0=$__termnode_c${PS0//"$__termnode_d"/}$__termnode_d
  fi
  [[ ${PS2@a} == *r* || ${PS2-} == "$__termnode_p"* ]] || PS2=$__termnode_p${PS2//"$__termnode_p"/}
  [[ ${PS1@a} == *r* || ${PS1-} == "$__termnode_a"*"$__termnode_b" ]] && builtin return 0
  PS1=${PS1//"$__termnode_a"/}
  PS1=$__termnode_a${PS1//"$__termnode_b"/}$__termnode_b
}

__termnode_disarm() {
  if [[ ${PS0@a} != *r* ]]; then
    PS0=${PS0//"$__termnode_c"/}
    PS0=${PS0//"$__termnode_d"/}
  fi
  [[ ${PS2@a} == *r* ]] || PS2=${PS2//"$__termnode_p"/}
  [[ ${PS1@a} == *r* ]] && builtin return 0
  PS1=${PS1//"$__termnode_a"/}
  PS1=${PS1//"$__termnode_b"/}
}

__termnode_prompt() { # a primary prompt comes
  builtin local "__termnode_rc=$?"
  __termnode_hold
  __termnode_history
  # That it ran is told at the latest now, when it could not be told before.
  ((__termnode_mute && __termnode_run)) && __termnode_say "RUN $__termnode_gen ${__termnode_op:--}"
  __termnode_gen=$((__termnode_gen + 1)) __termnode_run=0 __termnode_more=0 __termnode_lines=0
  builtin printf '\e]133;D;%s;n=%s;g=%s;op=%s\a' \
    "$__termnode_rc" "$__termnode_nonce" "$__termnode_gen" "$__termnode_op" >/dev/tty
  __termnode_say "PROMPT $__termnode_gen $__termnode_rc ${__termnode_op:--} $PWD"
  __termnode_op=
  __termnode_arm
  __termnode_listen
  __termnode_back
}

__termnode_listen() { # a subshell of ours would be traced, or set off the person's trap: then none
  __termnode_mute=0
  builtin trap -p CHLD >|"$__termnode_dir/traps"
  [[ $__termnode_held != *x* && ! -s $__termnode_dir/traps ]] || __termnode_mute=1
}

__termnode_hold() { # our options; after an interrupt the person's are still those of before
  [[ -n $__termnode_held ]] || __termnode_held=$-
  builtin set +exuC
}

__termnode_back() { # the person's options again
  builtin set +C
  [[ $__termnode_held == *u* ]] && builtin set -u
  [[ $__termnode_held == *C* ]] && builtin set -C
  [[ $__termnode_held == *x* ]] && builtin set -x
  [[ $__termnode_held == *e* ]] && builtin set -e
  __termnode_held=
}

__termnode_judge() { # what a request gets here, into the caller's $__termnode_word
  if ! __termnode_armed; then
    __termnode_word=HOOKS_LOST
    __termnode_arm
    __termnode_history
  elif ((__termnode_run)); then __termnode_word=RUNNING
  elif ((__termnode_more)); then __termnode_word=CONTINUATION
  elif [[ -n $READLINE_LINE ]]; then __termnode_word=BUSY
  elif [[ -z $__termnode_src ]]; then __termnode_word=READY
  elif [[ $__termnode_want != "$__termnode_gen" ]]; then __termnode_word=STALE_GENERATION
  elif __termnode_claim; then __termnode_admit
  else __termnode_word=EXPIRED
  fi
}

__termnode_claim() { # exactly one of the two sides gets it
  builtin set -C
  builtin : >"$__termnode_dir/claim.$__termnode_id"
}

__termnode_admit() { # announced whole, or it does not run
  __termnode_word=BUSY
  if [[ -n $__termnode_label ]]; then
    builtin printf '%s\n' "$__termnode_label" >/dev/tty || builtin return 0
  fi
  __termnode_word=ADMITTED __termnode_op=$__termnode_id
  __termnode_no_history
  builtin local "__termnode_breaks=${__termnode_src//[!$'\n']/}"
  __termnode_lines=${#__termnode_breaks}
  READLINE_LINE=$__termnode_src READLINE_POINT=${#__termnode_src}
  builtin bind '"\e[9997~": accept-line'
}

__termnode_key() { # the trigger was pressed
  builtin local "__termnode_rc=$?" __termnode_{id,want,label,src,word}=
  {
    __termnode_hold
    builtin bind '"\e[9997~": redraw-current-line'
    __termnode_answer
    __termnode_back
  } >/dev/null 2>&1
  builtin return "$__termnode_rc"
}

__termnode_answer() {
  builtin local "__termnode_length=${#READLINE_LINE}"
  {
    IFS= builtin read -r -d '' __termnode_id
    IFS= builtin read -r -d '' __termnode_want
    IFS= builtin read -r -d '' __termnode_label
    IFS= builtin read -r -d '' __termnode_src
  } <"$__termnode_dir/req"
  [[ -n $__termnode_id ]] || builtin return 0
  __termnode_judge
  __termnode_say "REPLY $__termnode_id $__termnode_word $__termnode_gen $__termnode_length"
}

__termnode_bind() {
  # The trigger is two private keys: the first looks, the second accepts the line or draws it again.
  # The first must be a plain word: inside an unfinished line bash knows no { here.
  builtin local __termnode_map
  for __termnode_map in emacs-standard vi-insert vi-command; do
    builtin bind -m $__termnode_map '"\e[9997~": redraw-current-line'
    builtin bind -m $__termnode_map -x '"\e[9999~": __termnode_key'
    builtin bind -m $__termnode_map '"\036": "\e[9999~\e[9997~"'
  done
}

__termnode_start() {
  __termnode_hold
  IFS= builtin read -r -d '' __termnode_nonce <"$__termnode_dir/nonce"
  builtin : >|"$__termnode_dir/nonce"
  builtin command -p rm -f -- "$__termnode_dir/nonce"
  if [[ -n $__termnode_nonce ]]; then
    builtin export -n __termnode_nonce __termnode_dir
    __termnode_bind
    __termnode_arm
    __termnode_say "HELLO bash $BASH_VERSION $$"
  fi
  __termnode_back
}

# What bash itself would have read.
if shopt -q login_shell; then
  set +o posix
  unset ENV
  if [[ -n ${TERMNODE_ENV+set} ]]; then export ENV=$TERMNODE_ENV; unset TERMNODE_ENV; fi
  [[ ${HISTFILE-} != ~/.sh_history ]] || HISTFILE=~/.bash_history
  if [[ -f /etc/profile ]]; then . /etc/profile; fi
  if [[ -f ~/.bash_profile ]]; then . ~/.bash_profile
  elif [[ -f ~/.bash_login ]]; then . ~/.bash_login
  elif [[ -f ~/.profile ]]; then . ~/.profile
  fi
elif [[ -f ~/.bashrc ]]; then . ~/.bashrc
fi

if [[ -n $__termnode_dir ]]; then { __termnode_start; } >/dev/null 2>&1; fi
