"""A terminal service with one guard off, to see that a check of that guard can fail.

``python -m tests.support.broken_service GUARD SETTINGS ...`` is ``termnode ...`` without that guard
(``none``: with all). SETTINGS are a JSON object: fields of the service's configuration by name, and
``faults``: what is wrong with the launch of which pane's shell. The keys of pane shells are written
to ``seeds`` beside the runtime directory, so that a test can be a pane shell.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import termnode.cli.main
import termnode.cli.up  # all of it is there before anything is replaced
from brokerd.client import CAPABILITIES
from termnode.paneshell import descriptor
from termnode.service.config import Config
from tests.support.s4.faults import with_faults
from tests.support.s4.guards import GUARDS


def _configure(settings: Mapping[str, Any]) -> None:
    """Have ``termnode up`` make its configuration with these."""
    changed = {
        key: value for key, value in settings.items() if key not in ("faults", "capabilities")
    }
    granted = settings.get("capabilities", {})
    changed["child_capabilities"] = lambda pane: granted.get(str(pane), CAPABILITIES)
    made = Config.from_environment

    def from_environment(**given: Any) -> Config:  # noqa: ANN401
        return replace(made(**given), **changed)

    Config.from_environment = staticmethod(from_environment)  # type: ignore[method-assign]


def _tell_keys() -> None:
    """Write each pane shell's key down before it is launched."""
    seeds = Path(os.environ["COSMIX_RUNTIME_DIR"]).parent / "seeds"
    write = descriptor.write

    def told(bundle: descriptor.LaunchBundle) -> int:
        record = bundle.record
        seeds.joinpath(f"{record['pane_id']}-{record['pane_generation']}").write_text(
            bundle.seed.hex()
        )
        return write(bundle)

    descriptor.write = told


def main() -> int:
    """Take the guard off and be the command."""
    guard, settings = sys.argv.pop(1), json.loads(sys.argv.pop(1))
    _configure(settings)
    _tell_keys()
    with_faults({int(pane): fault for pane, fault in settings.get("faults", {}).items()})
    if guard != "none":
        GUARDS[guard]()
    return termnode.cli.main.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
