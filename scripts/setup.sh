# Sourced by scripts/run, scripts/test and scripts/bench: makes .venv and installs the locked set once.
# $1 names the lock: "requirements" or "requirements-dev". Nothing is fetched when the stamp says
# that this very set is installed already, so later runs work without a network.

say() { printf '%s\n' "$*" >&2; }

find_python() {
  for candidate in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11 python; do
    [ -n "$candidate" ] || continue
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
  return 1
}

make_venv() {
  [ -x .venv/bin/python ] && .venv/bin/python -c 'import sys' 2>/dev/null && return 0
  python=$(find_python) || {
    say "Python 3.11 or newer was not found. Install it, or name it: PYTHON=/path/to/python3 $0"
    exit 2
  }
  say "making .venv with $("$python" --version)"
  rm -rf .venv
  "$python" -m venv .venv || {
    say "the venv module failed. On Debian and Ubuntu: apt-get install python3-venv"
    exit 2
  }
}

pip_install() { .venv/bin/python -m pip install --quiet --disable-pip-version-check "$@"; }

# The fast emulator has wheels for common platforms only; without it the built-in one serves.
install_native() {
  pip_install --only-binary :all: --require-hashes -r scripts/requirements-native.lock 2>/dev/null || {
    say "no wheel of the fast emulator for this machine: the built-in one will be used (termnode doctor tells more)"
  }
}

# The libraries that "scripts/bench exec" measures beside; nothing else needs them.
install_bench() {
  if [ "$(.venv/bin/python -c '
import hashlib, pathlib, sys
from importlib.util import find_spec
there = find_spec("libtmux") and find_spec("pexpect")
print(there and hashlib.sha256(pathlib.Path(sys.argv[1]).read_bytes()).hexdigest())
' scripts/requirements-bench.lock)" = "$(cat .venv/.termnode-bench 2>/dev/null)" ]; then return 0; fi
  say "installing libtmux and pexpect, to measure beside them (once)"
  pip_install --require-hashes -r scripts/requirements-bench.lock || {
    say "they could not be fetched: run scripts/bench exec once where there is a network"
    exit 2
  }
  sha256sum scripts/requirements-bench.lock | cut -d" " -f1 >.venv/.termnode-bench
}

setup() {
  lock="scripts/$1.lock"
  make_venv
  stamp=$(.venv/bin/python -c '
import hashlib, pathlib, sys
paths = [pathlib.Path(p) for p in (sys.argv[1], "scripts/requirements-native.lock", "pyproject.toml")]
digest = hashlib.sha256(sys.version.encode() + str(pathlib.Path.cwd()).encode())
for path in paths:
    digest.update(path.read_bytes())
print(digest.hexdigest())' "$lock")
  # The test set contains the run set, so either of the two stamps of this state will do for a run.
  if [ "$(cat .venv/.termnode-"$1" 2>/dev/null)" = "$stamp" ]; then return 0; fi
  say "installing the locked packages (once)"
  pip_install --require-hashes -r "$lock"
  install_native
  pip_install --no-deps --no-build-isolation --editable .
  printf '%s\n' "$stamp" > ".venv/.termnode-$1"
}
