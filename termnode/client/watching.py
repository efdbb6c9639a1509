"""One function for each verb about input and looking; as in `termnode.client.requests`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from termnode.client import seen
from termnode.client.calls import REPLY_S, Call, call
from termnode.control.spec import Kind

PASTE_S: Final = 120.0
"""Seconds for the end of a paste: a slow program takes its time as long as it goes on reading."""


def type_(
    *, text: str, pane: int | None = None, enter: bool = False, confirm: bool = False
) -> Call[seen.Typed]:
    """term.type"""
    return call(
        "term.type", seen.Typed, Kind.MUTATION, text=text, pane=pane, enter=enter, confirm=confirm
    )


def keys(
    *, keys: Sequence[str], pane: int | None = None, within_ms: int | None = None
) -> Call[seen.Sent]:
    """term.keys"""
    return call("term.keys", seen.Sent, Kind.MUTATION, keys=keys, pane=pane, within_ms=within_ms)


def paste(
    *,
    text: str,
    pane: int | None = None,
    more: bool = False,
    operation: str | None = None,
    offset: int | None = None,
    plain: bool = False,
    within_ms: int | None = None,
) -> Call[seen.Pasted]:
    """term.paste"""
    return call(
        "term.paste",
        seen.Pasted,
        Kind.MUTATION,
        timeout=REPLY_S if more else PASTE_S,
        text=text,
        pane=pane,
        more=more,
        operation=operation,
        offset=offset,
        plain=plain,
        within_ms=within_ms,
    )


def mouse(
    *,
    action: str,
    x: int,
    y: int,
    button: str = "left",
    modifiers: Sequence[str] | None = None,
    pane: int | None = None,
) -> Call[seen.Sent]:
    """term.mouse"""
    return call(
        "term.mouse",
        seen.Sent,
        Kind.MUTATION,
        action=action,
        x=x,
        y=y,
        button=button,
        modifiers=modifiers,
        pane=pane,
    )


def snapshot(
    *,
    pane: int | None = None,
    format_: str = "text",
    since: int | None = None,
    offset: int | None = None,
    line: int | None = None,
    lines: int | None = None,
    command: bool = False,
) -> Call[seen.Screen]:
    """term.snapshot"""
    return call(
        "term.snapshot",
        seen.Screen,
        pane=pane,
        format_=format_,
        since=since,
        offset=offset,
        line=line,
        lines=lines,
        command=command,
    )


def wait(
    *,
    until: str | None = None,
    quiet_ms: int | None = None,
    prompt: bool = False,
    changed: bool = False,
    exit_: bool = False,
    alternate: bool = False,
    after: int | None = None,
    pane: int | None = None,
    timeout_ms: int = 30_000,
) -> Call[seen.Waited]:
    """term.wait"""
    return call(
        "term.wait",
        seen.Waited,
        Kind.WAIT,
        timeout=timeout_ms / 1000 + REPLY_S,
        until=until,
        quiet_ms=quiet_ms,
        prompt=prompt,
        changed=changed,
        exit_=exit_,
        alternate=alternate,
        after=after,
        pane=pane,
        timeout_ms=timeout_ms,
    )


def events(
    *,
    pane: int | None = None,
    kinds: Sequence[str] | None = None,
    after: int | None = None,
    stop: bool = False,
) -> Call[seen.Subscribed]:
    """term.events"""
    return call(
        "term.events",
        seen.Subscribed,
        Kind.SUBSCRIPTION,
        pane=pane,
        kinds=kinds,
        after=after,
        stop=stop,
    )
