"""Styled rows in plain characters: what stands out is marked, for eyes and for models.

``«reverse» Open «/»`` is a run in reverse video. A mark that a program itself wrote is doubled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

_COLOURS: Final = ("fg", "bg", "underline_color")
_UNDERLINES: Final = {2: "double", 3: "curly", 4: "dotted", 5: "dashed"}


def marked(runs: Sequence[Mapping[str, Any]]) -> str:
    """A row's runs as one line."""
    return "".join(_run(run) for run in runs)


def _run(run: Mapping[str, Any]) -> str:
    text = str(run.get("text", "")).replace("«", "««")
    looks = " ".join(_look(name, value) for name, value in run.items() if name != "text")
    return f"«{looks}»{text}«/»" if looks else text


def _look(name: str, value: object) -> str:
    if name in _COLOURS:
        return f"{name}={value}"
    if name == "underline" and value in _UNDERLINES:
        return f"underline={_UNDERLINES[int(str(value))]}"
    return f"link={_address(str(value))}" if name == "link" else name


def _address(link: str) -> str:
    """A link as it may stand inside a mark: a program chose it, and must not end the mark."""
    return link.replace("«", quote("«")).replace("»", quote("»"))
