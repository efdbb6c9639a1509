# The first startup file of a pane's zsh (5.8 or newer). It puts ZDOTDIR back before anything else, so
# zsh reads the person's files itself; the hooks are put in place by the first prompt, after them.
# Every word is quoted: an alias of the system's zshenv must not become part of this.

'builtin' 'typeset' '-g' __termnode_dir="${TERMNODE_SHELL_DIR-}" __termnode_home="${${(%):-%x}:A:h}"
if [[ -n "${TERMNODE_ZDOTDIR+set}" ]]; then
  'builtin' 'export' ZDOTDIR="$TERMNODE_ZDOTDIR"
else
  'builtin' 'unset' 'ZDOTDIR'
fi
'builtin' 'unset' 'TERMNODE_SHELL_DIR' 'TERMNODE_ZDOTDIR'

if [[ -o interactive && -n "$__termnode_dir" ]]; then
  # Loaded like this, and whatever it defines too, a function runs with these options and no others.
  'builtin' 'emulate' '-R' 'zsh' '-o' 'no_err_exit' '-o' 'no_xtrace' '-c' \
    '"builtin" "autoload" "-Uz" "$__termnode_home/__termnode_first"'
  # These set or keep options of the person, so they must run with them.
  'builtin' 'autoload' '-Uz' "$__termnode_home/__termnode_key" "$__termnode_home/__termnode_comments" \
    "$__termnode_home/__termnode_begins"
  'builtin' 'typeset' '-ga' precmd_functions preexec_functions
  # Both: a startup file may set one of the lists anew.
  precmd_functions+=(__termnode_first __termnode_begins)
  preexec_functions+=(__termnode_first)
fi
'builtin' 'unset' '__termnode_home'

if [[ -r "${ZDOTDIR-$HOME}/.zshenv" ]]; then
  'builtin' 'source' "${ZDOTDIR-$HOME}/.zshenv"
fi
