"""``brokerd keys``: who of the other machines may come in."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from brokerd.commands import arguments
from brokerd.keysdir import KeysDir, KeysError, default_directory

DONE: Final = 0
FAILED: Final = 1

_EPILOG: Final = """\
exit codes: 0 done; 1 could not be done (says why); 2 wrong usage

On the machine that wants in:      brokerd keys new
On the broker's, as that prints:   brokerd keys allow NAME 'KEY'
Then start the broker with --tcp; its ready line (--json) has the key that clients must know. A
broker that runs sees what changes here within two seconds.
"""


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    chosen = _parser().parse_args(argv)
    try:
        done: int = chosen.run(KeysDir(chosen.dir or default_directory()), chosen)
    except KeysError as error:
        print(f"brokerd keys: {error}", file=sys.stderr)
        return FAILED
    return done


def _new(keys: KeysDir, chosen: argparse.Namespace) -> int:
    name = chosen.name or arguments.host_name()
    path, public = keys.new_secret(name)
    print(public)
    print(f"the secret key is in {path}; keep it here", file=sys.stderr)
    print("on the broker's machine run:", file=sys.stderr)
    print(f"  brokerd keys allow {name} {shlex.quote(public)}", file=sys.stderr)
    return DONE


def _allow(keys: KeysDir, chosen: argparse.Namespace) -> int:
    keys.allow(chosen.name, chosen.public)
    print(f"{chosen.name} may come in")
    return DONE


def _list(keys: KeysDir, chosen: argparse.Namespace) -> int:
    names = keys.names() if keys.path.exists() else {}
    if chosen.json:
        rows = [{"name": name, "public_key": key} for name, key in names.items()]
        print(json.dumps({"keys": rows}, separators=(",", ":")))
        return DONE
    for name, key in names.items():
        print(f"{name} {key}")
    if not names:
        print(f"no other machine may come in (nothing in {keys.path})", file=sys.stderr)
    return DONE


def _revoke(keys: KeysDir, chosen: argparse.Namespace) -> int:
    if not keys.revoke(chosen.name):
        raise KeysError("there is no key of that name; see: brokerd keys list")
    print(f"{chosen.name} may come in no more")
    return DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="brokerd keys",
        description="Say which other machines may come to the broker.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--dir", type=Path, metavar="DIR", help="default: cosmix/keys of the configuration"
    )
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    new = verbs.add_parser("new", parents=[common], help="make a key pair for this machine")
    new.add_argument("--name", type=arguments.node, metavar="NAME", help="default: the host's name")
    new.set_defaults(run=_new)
    allow = verbs.add_parser("allow", parents=[common], help="let the machine with that key in")
    allow.add_argument("name", type=arguments.node, metavar="NAME")
    allow.add_argument("public", metavar="KEY", help="what `brokerd keys new` printed there")
    allow.set_defaults(run=_allow)
    listing = verbs.add_parser("list", parents=[common], help="who may come in")
    listing.add_argument("--json", action="store_true", help="as JSON")
    listing.set_defaults(run=_list)
    revoke = verbs.add_parser("revoke", parents=[common], help="let a machine in no more")
    revoke.add_argument("name", type=arguments.node, metavar="NAME")
    revoke.set_defaults(run=_revoke)
    return parser
