"""The command ``brokerd``: run a broker, or with ``keys`` look after those of other machines."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    # Late, both: neither needs what the other imports.
    if arguments[:1] == ["keys"]:
        from brokerd.commands import keys

        return keys.main(arguments[1:])
    from brokerd.commands import serve

    return serve.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
