"""When two requests of the global lane are the same request.

Same verb and same parsed JSON: key order and white space are free, while `1`, `1.0` and `true`
differ (Python's `==` calls them equal). Text of JSON with sorted keys keeps exactly these apart.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from brokerd.client import Json


def digest(verb: str, body: Mapping[str, Json]) -> bytes:
    """SHA-256 over the verb and the canonical text of its body; equal for equal requests only."""
    text = json.dumps(body, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(f"{verb}\0{text}".encode()).digest()
