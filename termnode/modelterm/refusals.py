"""What the service's refusals are for a model: our words for what is to be done."""

from __future__ import annotations

import re
import signal
from typing import Final

from brokerd.client import ErrorCode
from termnode.client import Exit, ServiceRestarted, ServiceUnavailable, TermnodeError
from termnode.modelterm.results import TermError

_OURS: Final = {
    "term.type": "term_type",
    "term.paste": "term_type",
    "term.keys": "term_keys",
    "term.snapshot": "term_screen",
    "term.wait": "term_wait",
    "term.pane.close": "term_close",
    "term.tab.new": "term_open",
}
_VERB: Final = re.compile("|".join(map(re.escape, _OURS)))

_ENDED: Final = frozenset({"not_registered", "service_restarted"})


def told(error: TermnodeError) -> TermError:
    """A refusal of the service, with the counts of a write that was not read."""
    code = error.code or str(ErrorCode.UNAVAILABLE)
    if code == ErrorCode.EXPIRED and "written_bytes" in error.details:
        return _unread(error.details["written_bytes"], error.details.get("bytes"))
    if is_over(error):
        return lost()
    words = _VERB.sub(lambda found: _OURS[found[0]], error.message)
    if "written_bytes" in error.details:
        words += (
            f" ({error.details['written_bytes']} of {error.details.get('bytes')} bytes went in)"
        )
    return TermError(code, words)


def is_over(error: TermnodeError) -> bool:
    """Whether the service has ended, and all of its terminals with it."""
    if isinstance(error, ServiceRestarted):
        return True
    return isinstance(error, ServiceUnavailable) and error.details.get("reason") in _ENDED


def gone(id_: str, state: str) -> TermError:
    """Input to a program that has ended, or to a terminal that is no more."""
    closed = state.startswith("closed")
    code = ErrorCode.NOT_FOUND if closed else ErrorCode.DISCONNECTED
    advice = "open another with term_open" if closed else "close it with term_close"
    return TermError(code, f"{id_} is gone ({state}): {advice}")


def lost() -> TermError:
    """The service went away under the terminals."""
    return TermError(
        ErrorCode.UNAVAILABLE,
        "the terminal service has ended, and its terminals with it: open another with term_open",
    )


def unknown(id_: str, known: list[str]) -> TermError:
    """No such terminal; an id of another shape is not repeated."""
    there = f"there are {', '.join(known)}" if known else "none is open: term_open opens one"
    named = f" {id_}" if re.fullmatch(r"t[0-9]{1,9}", id_) else ""
    return TermError(ErrorCode.NOT_FOUND, f"there is no terminal{named}: {there}")


def too_many(most: int, names: list[str]) -> TermError:
    """The limit of a set."""
    return TermError(
        ErrorCode.RESOURCE_LIMIT,
        f"{most} terminals are open ({', '.join(names)}), and more may not be: close one with "
        "term_close first",
    )


def _unread(written: object, total: object) -> TermError:
    return TermError(
        ErrorCode.EXPIRED,
        f"the program did not read it: {written} of {total} bytes went in, the rest was "
        "discarded; look at the screen, and press C-c or wait before you type again",
    )


def ended_as(how: Exit | None) -> str:
    """How a program ended, as a header says it."""
    if how is None:
        return "running"
    if how.signal is not None:
        return f"killed by {_signal_name(how.signal)}"
    return "exited" if how.code is None else f"exited {how.code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
