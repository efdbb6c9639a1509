"""Settings for all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# The same examples in every run, so that a change is judged and not its luck. To search for new
# ones: TERMNODE_HYPOTHESIS=random scripts/test tests/props
settings.register_profile("fixed", derandomize=True, database=None, deadline=None)
settings.register_profile("random", deadline=None, print_blob=True)
settings.load_profile(os.environ.get("TERMNODE_HYPOTHESIS", "fixed"))
