# Hooks for an interactive fish (3.3 or newer), read after the person's configuration. Names begin
# with __termnode_.
#
# The person's prompt is left alone: D, A and B are printed before it.

set -g __termnode_dir "$TERMNODE_SHELL_DIR"
set -e TERMNODE_SHELL_DIR
set -g __termnode_gen 0
set -g __termnode_run 1
# Whether the line that runs was told; whether a line ran since the operation was taken.
set -g __termnode_told 0
set -g __termnode_ran 0
set -g __termnode_op ''
set -g __termnode_nonce ''

function __termnode_say # a record: one write, to a pipe that is there
    builtin test -p $__termnode_dir/ctl
    and builtin printf '%s\0' "$argv" >>$__termnode_dir/ctl 2>/dev/null
end

function __termnode_op_or_dash
    builtin test -n "$__termnode_op"
    and builtin echo $__termnode_op
    or builtin echo -
end

function __termnode_prompt --on-event fish_prompt
    set -l rc $status
    set -g __termnode_gen (builtin math $__termnode_gen + 1)
    set -g __termnode_run 0
    set -g __termnode_told 0
    builtin printf '\e]133;D;%s;n=%s;g=%s;op=%s\a\e]133;A;n=%s\a\e]133;B;n=%s\a' $rc \
        $__termnode_nonce $__termnode_gen "$__termnode_op" $__termnode_nonce $__termnode_nonce >/dev/tty
    __termnode_say "PROMPT $__termnode_gen $rc $(__termnode_op_or_dash) $PWD"
    set -g __termnode_op ''
end

function __termnode_cancel --on-event fish_cancel # the line was given up: as a new prompt
    __termnode_prompt
end

function __termnode_preexec --on-event fish_preexec
    # A prompt that an interrupt kept from being told has left this behind: the line is another one.
    builtin test "$__termnode_ran" = 1
    and set -g __termnode_op ''
    set -g __termnode_ran 1
    set -g __termnode_run 1
    __termnode_tell_run
    builtin printf '\e]133;C;n=%s\a' $__termnode_nonce >/dev/tty
end

function __termnode_tell_run
    __termnode_say "RUN $__termnode_gen $(__termnode_op_or_dash)"
    set -g __termnode_told 1
end

function __termnode_postexec --on-event fish_postexec # an interrupt may have ended the one before it
    set -g __termnode_ran 1
    builtin test "$__termnode_told" = 1
    or __termnode_tell_run
end

function __termnode_judge --argument-names id want label src
    if not functions -q __termnode_prompt; or not functions -q __termnode_preexec
        builtin echo HOOKS_LOST
    else if builtin test "$__termnode_run" = 1
        builtin echo RUNNING
    else if builtin commandline --search-mode; or builtin commandline --paging-mode
        builtin echo BUSY
    else if builtin test -n "$(builtin commandline -b | builtin string collect)"
        builtin echo BUSY
    else if builtin test -z "$src"
        builtin echo READY
    else if builtin test "$want" != "$__termnode_gen"
        builtin echo STALE_GENERATION
    else if not builtin echo -n >?$__termnode_dir/claim.$id
        builtin echo EXPIRED
    else
        builtin echo ADMITTED
    end
end

function __termnode_announce
    builtin test -z "$argv[1]"
    or builtin printf '\r\e[J%s\n' "$argv[1]" >/dev/tty
end

function __termnode_key # the trigger was pressed
    set -l fields (builtin string split0 <$__termnode_dir/req)
    builtin test -n "$fields[1]"
    or return
    set -l length (builtin string length -- "$(builtin commandline -b | builtin string collect)")
    set -l word (__termnode_judge $fields 2>/dev/null)
    if builtin test "$word" = ADMITTED
        # First: after an interrupt, which ends this function anywhere, the line is run as it is by
        # then, empty or whole, and the prompt is drawn anew. It is never left for the person's keys.
        builtin commandline -f repaint execute
        if __termnode_announce "$fields[3]" 2>/dev/null # whole, or nothing runs
            set -g __termnode_ran 0
            set -g __termnode_op $fields[1]
            # A blank before it: fish keeps no such line. The cursor there: no abbreviation is expanded.
            builtin commandline -r -- " $fields[4]"
            builtin commandline -C 0
        else
            set word BUSY
        end
    end
    __termnode_say "REPLY $fields[1] $word $__termnode_gen $length"
end

function __termnode_start
    builtin test -n "$__termnode_dir"
    and builtin string match -qr '^(3\.([3-9]|\d\d)|[4-9])' -- $version
    or return
    set -g __termnode_nonce (builtin string split0 <$__termnode_dir/nonce)[1]
    builtin test -n "$__termnode_nonce"
    or return
    builtin echo -n >$__termnode_dir/nonce
    command rm -f -- $__termnode_dir/nonce
    for mode in default insert visual replace
        builtin bind -M $mode \x1e __termnode_key
    end
    __termnode_say "HELLO fish $version $fish_pid"
end

__termnode_start 2>/dev/null
