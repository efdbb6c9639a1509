"""Settings for all tests."""

from __future__ import annotations

import os
import signal

from hypothesis import settings

# The same examples in every run, so that a change is judged and not its luck. To search for new
# ones: TERMNODE_HYPOTHESIS=random scripts/test tests/props
settings.register_profile("fixed", derandomize=True, database=None, deadline=None)
settings.register_profile("random", deadline=None, print_blob=True)
settings.load_profile(os.environ.get("TERMNODE_HYPOTHESIS", "fixed"))

# A shell has what it runs in the background ignore these two, and so would all that tests start. A
# view, for one, leaves ignored what it was started to ignore: Ctrl-C would not end it.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
