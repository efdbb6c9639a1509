"""One function for each verb about the session, tabs and panes: arguments in, a `Call` out.

They do no I/O and check nothing: the service does, by its verb table. Parameters are the table's
fields; None leaves one out. Those for input and looking are in `termnode.client.watching`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from termnode.client import pane_replies, replies
from termnode.client.calls import REPLY_S, Call, call
from termnode.control.spec import Kind


def info() -> Call[replies.About]:
    """INFO"""
    return call("INFO", replies.About)


def help_() -> Call[replies.Help]:
    """HELP"""
    return call("HELP", replies.Help)


def session() -> Call[replies.SessionInfo]:
    """term.session"""
    return call("term.session", replies.SessionInfo)


def resize(*, cols: int, rows: int) -> Call[replies.Size]:
    """term.resize"""
    return call("term.resize", replies.Size, Kind.MUTATION, cols=cols, rows=rows)


def view_open(*, ticket: str | None = None) -> Call[replies.OpenedView]:
    """term.view.open"""
    return call("term.view.open", replies.OpenedView, Kind.SUBSCRIPTION, ticket=ticket)


def ask(*, title: str, text: str, timeout_ms: int = 120_000) -> Call[replies.Asked]:
    """term.ask"""
    return call(
        "term.ask",
        replies.Asked,
        Kind.WAIT,
        timeout=timeout_ms / 1000 + REPLY_S,
        title=title,
        text=text,
        timeout_ms=timeout_ms,
    )


def log(*, limit: int = 100) -> Call[replies.Log]:
    """term.log"""
    return call("term.log", replies.Log, limit=limit)


def tabs() -> Call[replies.Tabs]:
    """term.tabs"""
    return call("term.tabs", replies.Tabs)


def tab_new(
    *,
    argv: Sequence[str] | None = None,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    title: str | None = None,
    remain: int = 600,
    background: bool = False,
    clean_env: bool = False,
    with_caller: bool = False,
    cols: int | None = None,
    rows: int | None = None,
) -> Call[replies.NewTab]:
    """term.tab.new"""
    return call(
        "term.tab.new",
        replies.NewTab,
        Kind.MUTATION,
        argv=argv,
        cwd=cwd,
        env=env,
        title=title,
        remain=remain,
        background=background,
        clean_env=clean_env,
        with_caller=with_caller,
        cols=cols,
        rows=rows,
    )


def tab_select(*, id_: int) -> Call[replies.SelectedTab]:
    """term.tab.select"""
    return call("term.tab.select", replies.SelectedTab, Kind.MUTATION, id_=id_)


def tab_close(*, id_: int | None = None) -> Call[replies.ClosedTab]:
    """term.tab.close"""
    return call("term.tab.close", replies.ClosedTab, Kind.MUTATION, id_=id_)


def tab_rename(*, id_: int | None = None, title: str) -> Call[replies.Renamed]:
    """term.tab.rename"""
    return call("term.tab.rename", replies.Renamed, Kind.MUTATION, id_=id_, title=title)


def tab_layout(*, id_: int | None = None, layout: str) -> Call[replies.Arranged]:
    """term.tab.layout"""
    return call("term.tab.layout", replies.Arranged, Kind.MUTATION, id_=id_, layout=layout)


def panes() -> Call[pane_replies.Panes]:
    """term.panes"""
    return call("term.panes", pane_replies.Panes)


def pane_split(
    *,
    dir_: str,
    pane: int | None = None,
    argv: Sequence[str] | None = None,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    title: str | None = None,
    remain: int = 600,
    background: bool = False,
    clean_env: bool = False,
    with_caller: bool = False,
) -> Call[pane_replies.NewPane]:
    """term.pane.split"""
    return call(
        "term.pane.split",
        pane_replies.NewPane,
        Kind.MUTATION,
        dir_=dir_,
        pane=pane,
        argv=argv,
        cwd=cwd,
        env=env,
        title=title,
        remain=remain,
        background=background,
        clean_env=clean_env,
        with_caller=with_caller,
    )


def pane_close(*, pane: int | None = None, wait: bool = False) -> Call[pane_replies.ClosedPane]:
    """term.pane.close"""
    return call("term.pane.close", pane_replies.ClosedPane, Kind.MUTATION, pane=pane, wait=wait)


def pane_select(*, id_: int) -> Call[pane_replies.Placed]:
    """term.pane.select"""
    return call("term.pane.select", pane_replies.Placed, Kind.MUTATION, id_=id_)


def pane_restart(*, pane: int | None = None) -> Call[pane_replies.Restarted]:
    """term.pane.restart"""
    return call("term.pane.restart", pane_replies.Restarted, Kind.MUTATION, pane=pane)


def pane_resize(
    *, pane: int | None = None, cols: int | None = None, rows: int | None = None
) -> Call[pane_replies.Resized]:
    """term.pane.resize"""
    return call(
        "term.pane.resize", pane_replies.Resized, Kind.MUTATION, pane=pane, cols=cols, rows=rows
    )


def pane_rename(*, pane: int | None = None, title: str) -> Call[replies.Renamed]:
    """term.pane.rename"""
    return call("term.pane.rename", replies.Renamed, Kind.MUTATION, pane=pane, title=title)


def pane_swap(*, pane: int | None = None, with_: int) -> Call[pane_replies.Swapped]:
    """term.pane.swap"""
    return call("term.pane.swap", pane_replies.Swapped, Kind.MUTATION, pane=pane, with_=with_)


def pane_break(*, pane: int | None = None) -> Call[pane_replies.Placed]:
    """term.pane.break"""
    return call("term.pane.break", pane_replies.Placed, Kind.MUTATION, pane=pane)


def pane_join(*, pane: int | None = None, beside: int, dir_: str) -> Call[pane_replies.Joined]:
    """term.pane.join"""
    return call(
        "term.pane.join", pane_replies.Joined, Kind.MUTATION, pane=pane, beside=beside, dir_=dir_
    )


def pane_zoom(*, pane: int | None = None, on: bool = True) -> Call[pane_replies.Zoomed]:
    """term.pane.zoom"""
    return call("term.pane.zoom", pane_replies.Zoomed, Kind.MUTATION, pane=pane, on=on)
