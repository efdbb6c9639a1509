"""The shared endpoint's loop side: guests come, speak and go, a bounded amount of it per turn.

A turn takes one message of each of a few guests, as it takes one off the broker's own socket, so
that a crowd here delays nobody there for long.
"""

from __future__ import annotations

import contextlib
import select
import socket
from typing import Final

from brokerd.errors import Refusal
from brokerd.io.doorman import PAUSE_MS, Doorman
from brokerd.io.guest import READ_BYTES, Guest
from brokerd.io.pump import Pump
from brokerd.io.zmtp import Opened
from brokerd.io.zmtp_frames import ZmtpError
from brokerd.limits import MAX_MESSAGE_BYTES, Limits

_AT_MOST: Final = 8
"""Guests that are accepted, read or heard in one turn."""

_LEAVE_MS: Final = 1_000
"""How long the last message of a connection that is to end may wait to be taken."""

_HELD_AT_MOST: Final = 16 * MAX_MESSAGE_BYTES
"""Bytes of unfinished messages of one user; who adds to more is closed."""

_HELD_IN_ALL: Final = 2 * _HELD_AT_MOST
"""Of all users: one person may be many of them."""

_READ: Final = select.EPOLLIN | select.EPOLLRDHUP


class SharedLane:
    """Owns the listener and every connection to it. ``fileno`` is readable when there is work."""

    def __init__(self, listener: socket.socket, pump: Pump, limits: Limits) -> None:
        self._listener = listener
        self._door = listener.fileno()
        self._pump = pump
        self._doorman = Doorman(listener, limits)
        self._handshake_ms = limits.handshake_ms
        self._now_ms = 0
        self._guests: dict[int, Guest] = {}
        self._timed: dict[int, Guest] = {}
        """Those with a deadline: not let in yet, or leaving."""
        self._busy: dict[int, Guest] = {}
        """Those of whom something is here that has not been heard yet, in their turn."""
        self._open_at_ms: int | None = None
        """When to accept again after a pause."""
        self._epoll = select.epoll()
        self._epoll.register(self._door, select.EPOLLIN)

    def fileno(self) -> int:
        """What to poll for reading."""
        return self._epoll.fileno()

    def step(self, now_ms: int) -> None:
        """Do what is due and take what came in; wanted when readable and at ``next_deadline``."""
        self._now_ms = now_ms
        self._expire()
        for descriptor, events in self._epoll.poll(0, _AT_MOST):
            guest = self._guests.get(descriptor)
            if guest is not None:
                self._serve(guest, events)
            elif descriptor == self._door:
                self._accept()
        for descriptor in tuple(self._busy)[:_AT_MOST]:
            # What one says may end another: a message to who has gone is how that is noticed.
            guest = self._busy.pop(descriptor, None)
            if guest is not None:
                self._hear(guest)

    def next_deadline(self) -> int | None:
        """When to ``step`` without any event."""
        if self._busy:
            return self._now_ms
        due = [guest.deadline_ms for guest in self._timed.values()]
        if self._open_at_ms is not None:
            due.append(self._open_at_ms)
        return min(due, default=None)

    def close(self) -> None:
        """Close everything."""
        for guest in self._guests.values():
            guest.shut()
        self._guests.clear()
        self._epoll.close()
        self._listener.close()

    def _expire(self) -> None:
        """End those whose time is up, and open the door after a pause."""
        for guest in tuple(self._timed.values()):
            if guest.deadline_ms <= self._now_ms:
                self._end(guest)
        if self._open_at_ms is not None and self._open_at_ms <= self._now_ms:
            self._open_at_ms = None
            self._epoll.modify(self._door, select.EPOLLIN)

    def _accept(self) -> None:
        try:
            for connected, peer in self._doorman.accept(_AT_MOST):
                guest = Guest(connected, peer, self._now_ms + self._handshake_ms, self._changed)
                self._guests[guest.fileno()] = self._timed[guest.fileno()] = guest
                self._epoll.register(guest.fileno(), _READ)
                if not guest.greet():
                    self._end(guest)
        except OSError:  # no descriptors or no memory: those who wait go on waiting
            self._open_at_ms = self._now_ms + PAUSE_MS
            self._epoll.modify(self._door, 0)

    def _serve(self, guest: Guest, events: int) -> None:
        if guest.blocked and events & (select.EPOLLOUT | select.EPOLLHUP | select.EPOLLERR):
            self._unblock(guest)
        if guest.leaving or not self._here(guest):
            return
        # What is here is heard before more is read: that bounds it.
        if events & ~select.EPOLLOUT and guest.fileno() not in self._busy:
            if guest.read() and self._bearable(guest):
                self._busy[guest.fileno()] = guest
            else:
                self._end(guest)

    def _bearable(self, guest: Guest) -> bool:
        """Whether its user does not make the broker keep too much, nor do all together."""
        if guest.held <= READ_BYTES:
            return True
        guests = self._guests.values()
        alike = (each.held for each in guests if each.peer.uid == guest.peer.uid)
        in_all = (each.held for each in guests)
        return sum(alike) <= _HELD_AT_MOST and sum(in_all) <= _HELD_IN_ALL

    def _unblock(self, guest: Guest) -> None:
        if not guest.flush():
            self._end(guest)
        elif guest.blocked:
            return
        elif guest.leaving:
            self._end(guest)
        else:
            self._epoll.modify(guest.fileno(), _READ)
            self._pump.writable(guest.connection_id, self._now_ms)

    def _hear(self, guest: Guest) -> None:
        """One message, or the end of the handshake; the guest's next turn comes if it said more."""
        try:
            event = guest.next()
            if isinstance(event, Opened):
                self._admit(guest)
            elif event is not None:
                self._pump.heard(guest.connection_id, event.parts, self._now_ms)
        except (ZmtpError, Refusal):
            self._end(guest)
            return
        if guest.more and not guest.leaving and self._here(guest):
            self._busy[guest.fileno()] = guest

    def _admit(self, guest: Guest) -> None:
        connection_id = self._pump.join(guest.peer, guest, self._now_ms)
        del self._timed[guest.fileno()]
        if not guest.welcome(connection_id):
            self._end(guest)

    def _changed(self, guest: Guest) -> None:
        """It takes no more for now, or is to leave."""
        if not self._here(guest):
            return
        if guest.leaving and not guest.blocked:
            self._end(guest)
        elif guest.leaving:
            self._busy.pop(guest.fileno(), None)
            guest.deadline_ms = self._now_ms + _LEAVE_MS
            self._timed[guest.fileno()] = guest
            self._epoll.modify(guest.fileno(), select.EPOLLOUT)
        else:
            self._epoll.modify(guest.fileno(), _READ | select.EPOLLOUT)

    def _here(self, guest: Guest) -> bool:
        return self._guests.get(guest.fileno()) is guest

    def _end(self, guest: Guest) -> None:
        descriptor = guest.fileno()
        if self._guests.pop(descriptor, None) is None:
            return
        self._timed.pop(descriptor, None)
        self._busy.pop(descriptor, None)
        with contextlib.suppress(OSError):  # there was no room to register it
            self._epoll.unregister(descriptor)
        guest.shut()
        self._doorman.leave(guest.peer)
        if guest.connection_id:
            self._pump.left(guest.connection_id, self._now_ms)
