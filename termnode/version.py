"""The version of this distribution, as the package metadata has it."""

from __future__ import annotations

from typing import Final

VERSION: Final = "0.1.0"
