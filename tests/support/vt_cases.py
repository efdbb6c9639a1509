"""All conformance cases, and where an engine is known to differ."""

from __future__ import annotations

from typing import Final

from tests.support.vt_case import Case
from tests.support.vt_cases_hard import HARD
from tests.support.vt_cases_screen import SCREEN
from tests.support.vt_cases_talk import TALK
from tests.support.vt_cases_text import TEXT

CASES: Final[tuple[Case, ...]] = (*SCREEN, *TEXT, *TALK, *HARD)

KNOWN_DIFFERENCES: Final[dict[str, dict[str, str]]] = {
    "ghostty": {
        "line_drawing_keeps_other_text": "the library blanks what the line drawing set has not",
        "column_in_origin_mode": "the library adds the top margin to the row again (CHA, DECOM)",
        "relative_column_of_zero": "the library takes 0 as 0 for HPR; xterm takes it as 1",
        "reset_keeps_history": "the library's full reset clears history; xterm's keeps it",
        "history_behind_the_alternate_screen": "the library shows the active screen's history only",
    },
    "pyte": {},
}
"""Engine, case, reason. A case named here must fail: the table is checked to stay true."""
