"""The views of one service, and what a person does at one: everything but the socket."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Final

from brokerd.client import Refusal, forbidden
from termnode.service.live_pane import LivePane
from termnode.service.opening import apply
from termnode.service.state import State
from termnode.service.viewing.doing import submit
from termnode.service.viewing.hub import Hub, View
from termnode.service.viewing.marks import Marks
from termnode.service.viewing.news import Feed, News
from termnode.service.viewing.pages import page
from termnode.service.viewing.person_env import taken
from termnode.service.viewing.scene import StateScene
from termnode.service.viewing.sizes import Sizes
from termnode.service.viewing.typing import press
from termnode.terminal.commands import Signal
from termnode.terminal.engine import Event, EventKind
from termnode.view.messages import (
    Ack,
    Answer,
    Attach,
    Do,
    Done,
    Focus,
    FromView,
    Input,
    Item,
    Mouse,
    PageWanted,
    Size,
    Welcome,
)

MAX_VIEWS: Final = 32

TICKET: Final = "view.ticket"
"""What an attached person can do besides the table's verbs: have a ticket made."""

ROOM: Final = 1 << 20
"""Bytes of answers that a view has not been sent; while there are more, it is not heard."""


class Views:
    """All views and what they share. ``clock`` is monotonic, in seconds."""

    def __init__(self, state: State, clock: Callable[[], float] = time.monotonic) -> None:
        self.state = state
        self.news = News()
        self.clock = clock
        self._marks = Marks()
        self._scene = StateScene(state, self._marks)
        self.hub = Hub(self._scene)
        self.feed = Feed(self.news, self.hub.shows)
        self._sizes = Sizes()
        state.people.on_news = self.news.ring
        state.asking.on_news = self.news.ring
        state.asking.can_answer = lambda: self.hub.answers

    @property
    def full(self) -> bool:
        """Whether there are as many as there may be."""
        return len(self.hub) >= MAX_VIEWS

    def attach(self, asked: Attach, who: str, *, trusted: bool) -> View:
        """A new view for the person ``who``; ``trusted`` when it came with a ticket."""
        workspace = self.state.workspace
        tab = asked.tab if asked.tab in workspace.tabs else None
        pinned = tab if asked.read_only else None
        view = self.hub.attach(read_only=asked.read_only, tab=pinned, trusted=trusted)
        if not asked.read_only:
            self.state.panes.person_environment = taken(asked.env)
            self._sizes.set(view.id, asked.cols, asked.rows)
            self._resize()
            if tab is not None:
                workspace.select_tab(tab)
                self.state.people.on_done("term.tab.select", None)
        self._note(who, "view.attach")
        self.feed.watch(somebody=True)
        self.hub.reply(view, self._welcome(view))
        self.news.ring()
        return view

    def detach(self, view: View, who: str) -> None:
        """The view is gone, however it went."""
        self.hub.detach(view)
        self._sizes.remove(view.id)
        self._resize()
        self._scene.forget(self.hub.shown)
        self.feed.watch(somebody=len(self.hub) > 0)
        self._note(who, "view.detach")
        self.news.ring()

    def take(self, view: View, message: FromView, who: str) -> bool:
        """Do what a view's message says; False when it makes no sense."""
        match message:
            case Ack():
                return view.pace.ack(message.n)
            case Size():
                self._size(view, message)
            case Input():
                self._input(view, message, who)
            case Do():
                self._do(view, message, who)
            case PageWanted():
                self.hub.reply(view, page(self.state, message))
            case Answer():
                if not view.read_only:
                    self.state.asking.answer(message.ask, message.yes)
            case _:
                return False
        self.news.ring()
        return True

    def has_room(self, view: View) -> bool:
        """Whether the view has read enough of the answers to what it asked."""
        return sum(map(len, view.replies)) < ROOM

    def heard(self, live: LivePane, signal: Signal) -> None:
        """A pane's program said something; quick, and never raises."""
        if isinstance(signal, Event) and signal.kind is EventKind.BELL:
            self._heard_bell(live)

    def _heard_bell(self, live: LivePane) -> None:
        placed = self.state.workspace.panes.get(live.id)
        if placed is not None and len(self.hub):
            self._marks.ring(placed.tab)
            self.hub.ring(live.id)
            self.news.ring()

    def pause(self, view: View, now: float) -> float:
        """Seconds after which to look again whether something is due, though nothing rings."""
        wait = self.hub.wait(view, now)
        if wait is None:
            return float("inf")
        people_due = self.state.people.news_due
        times = [wait if wait > 0.0 else None, self.hub.again(view, now)]
        times.append(None if people_due is None else max(0.0, people_due - now))
        return min((each for each in times if each is not None), default=float("inf"))

    # -- inside --------------------------------------------------------------------------------

    def _welcome(self, view: View) -> Welcome:
        state = self.state
        posture = "open" if state.is_open() else "strict"
        name, read_only = state.config.name, view.read_only
        return Welcome(name, os.getpid(), view.id, posture, state.emulator, read_only)

    def _size(self, view: View, size: Size) -> None:
        if not view.read_only:
            self._sizes.set(view.id, size.cols, size.rows)
            self._resize()

    def _lead(self, view: View) -> None:
        self._sizes.typed(view.id)
        self._resize()

    def _resize(self) -> None:
        """Give the terminal the leading view's size, if it has another."""
        workspace, wanted = self.state.workspace, self._sizes.wanted
        if wanted is None:
            return
        before = workspace.cols, workspace.rows
        if wanted == before:
            return
        apply(self.state, workspace.resize(*wanted))
        if (workspace.cols, workspace.rows) != before:
            self.state.people.on_done("term.resize", None)

    def _input(self, view: View, message: Input, who: str) -> None:
        if view.read_only:
            return
        if any(map(_is_typed, message.items)):
            self._lead(view)
            live = self.state.find_live(message.pane)
            if live is not None:
                self.hub.typed(view, message.pane, live.terminal.revision)
        press(self.state, message.pane, message.items, who=who)

    def _do(self, view: View, message: Do, who: str) -> None:
        # A ticket is worth nothing if whoever needs none now can have one made for later.
        if view.read_only or (message.verb == TICKET and not view.trusted):
            self.hub.reply(view, _refused(message, forbidden()))
        elif message.verb == TICKET:
            self.hub.reply(view, Done(message.req, 0, {"ticket": self.state.access.ticket()}))
            self._note(who, TICKET)
        else:
            self._lead(view)
            submit(self.state, message, lambda done: self._done(view, done), who=who)

    def _done(self, view: View, done: Done) -> None:
        self.hub.reply(view, done)
        self.news.ring()

    def _note(self, who: str, verb: str) -> None:
        wall_ms = time.time_ns() // 1_000_000
        self.state.audit.add(time=wall_ms, principal=who, verb=verb, outcome="ok")


def _is_typed(item: Item) -> bool:
    """Whether a person did it on purpose: a pointer also moves over a view that nobody uses."""
    return not isinstance(item, Focus) and not (isinstance(item, Mouse) and item.action == "move")


def _refused(message: Do, refusal: Refusal) -> Done:
    return Done(message.req, refusal.rc, refusal.body())
