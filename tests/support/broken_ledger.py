"""A ledger, gate or recipient with one guard removed, for tests of the tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from brokerd.client import ErrorCode, Principal, Refusal, forbidden
from termnode.control.native import answers
from termnode.control.native import case as case_module
from termnode.control.native.actors import Actor, Filter, Marks
from termnode.control.native.case import Case
from termnode.control.native.checks import check_epoch
from termnode.control.native.decisions import Go
from termnode.control.native.gate import Gate
from termnode.control.native.histories import Histories
from termnode.control.native.history import Entry, History
from termnode.control.native.ledger import Ledger
from termnode.control.native.request import Ask, NativeRequest
from termnode.control.native.reservation import Reservation
from termnode.control.native.spec import NativeSpec
from termnode.lanes.calls import Sealed
from tests.support.ledger_lab import Lab
from tests.support.ledger_recipient import Recipient
from tests.support.ledger_values import Message

Patch = pytest.MonkeyPatch


def mark_not_raised(patch: Patch) -> None:
    def begin(self: Histories[Sealed], entry: Entry[Sealed]) -> None:
        real(self, entry)
        entry.history.mark = entry.before

    real = Histories.begin
    patch.setattr(Histories, "begin", begin)
    patch.setattr(Histories, "verify", lambda self: None)


def mark_raised_when_recorded(patch: Patch) -> None:
    """A crash between the two would leave the id free."""

    def drop(self: Histories[Sealed], entry: Entry[Sealed]) -> None:
        entry.history.mark = max(entry.before, entry.history.mark - 1)
        real(self, entry)

    real = Histories.drop
    patch.setattr(Histories, "drop", drop)


def eviction_forgets_the_mark(patch: Patch) -> None:
    patch.setattr(Marks, "put", lambda *_: None)


def the_end_of_a_connection_forgets_at_once(patch: Patch) -> None:
    def ended(self: Marks, key: str, now: float) -> None:
        for marks in self._marks.values():
            marks.pop(key, None)

    patch.setattr(Marks, "ended", ended)


def marks_that_cannot_be_kept_are_lost(patch: Patch) -> None:
    patch.setattr(Filter, "add", lambda *_: None)


def digest_ignored(patch: Patch) -> None:
    def lookup(self: Ledger[Sealed], actor: Actor, number: int, _: bytes, now: float) -> object:
        entry = self._histories.entry(actor, number, now)
        return real(self, actor, number, b"" if entry is None else entry.digest, now)

    real = Ledger.lookup
    patch.setattr(Ledger, "lookup", lookup)


def digest_of_meaning(patch: Patch) -> None:
    """White space around the body would not matter."""
    real = Ask.request

    def request(self: Ask) -> NativeRequest:
        self.raw = self.raw.strip()
        return real(self)

    patch.setattr(Ask, "request", request)


def load_recorded(patch: Patch) -> None:
    patch.setattr(Sealed, "about_load", False)


def running_unknown(patch: Patch) -> None:
    def find(self: History[Sealed], number: int, now: float) -> Entry[Sealed] | None:
        entry = self.kept.get(number)
        return entry if entry is not None and entry.readable(now) else None

    patch.setattr(History, "find", find)


def running_unlocked(patch: Patch) -> None:
    """What runs is unknown, and its mark is raised with its reply."""

    def mark(self: Histories[Sealed], actor: Actor) -> int:
        history = self.find(actor)
        return min(
            [real(self, actor), *(number - 1 for number in (history.running if history else ()))]
        )

    real = Histories.mark
    patch.setattr(Histories, "mark", mark)
    patch.setattr(Histories, "verify", lambda self: None)
    running_unknown(patch)


def running_evicted(patch: Patch) -> None:
    patch.setattr(Histories, "_coldest", lambda self: next(self._all()))


def warmest_evicted(patch: Patch) -> None:
    def coldest(self: Histories[Sealed]) -> History[Sealed]:
        free = [each for each in self._all() if not each.running]
        if not free:
            raise answers.too_many_actors(self.max_actors)
        return free[-1]

    patch.setattr(Histories, "_coldest", coldest)


def a_turned_away_newcomer_costs_another_its_replies(patch: Patch) -> None:
    def room(self: Histories[Sealed], actor: Actor, now: float) -> History[Sealed]:
        history = real(self, actor, now)
        self._let_go()
        return history

    real = Histories.room
    patch.setattr(Histories, "room", room)


def cancel_leaves_it_spent(patch: Patch) -> None:
    patch.setattr(Histories, "cancel", Histories.drop)


def cancel_frees_earlier_ids(patch: Patch) -> None:
    def cancel(self: Histories[Sealed], entry: Entry[Sealed]) -> None:
        entry.before = 0
        real(self, entry)

    real = Histories.cancel
    patch.setattr(Histories, "cancel", cancel)


def kept_too_long(patch: Patch) -> None:
    patch.setattr(Entry, "readable", lambda self, now: self.reply is None or now <= self.until)


def kept_too_short(patch: Patch) -> None:
    patch.setattr(Entry, "readable", lambda self, now: self.reply is None or now < self.until - 1)


def newest_given_up(patch: Patch) -> None:
    def keep(self: Histories[Sealed], entry: Entry[Sealed], now: float) -> None:
        real(self, entry, now)
        kept = entry.history.kept
        if len(kept) == self.per_actor:
            self._give_up(next(reversed(kept.values())))

    real = Histories.keep
    patch.setattr(Histories, "keep", keep)


def full_gives_up_the_oldest(patch: Patch) -> None:
    def room(self: Histories[Sealed], actor: Actor, now: float) -> History[Sealed]:
        oldest = self._kept.oldest()
        if self._running + len(self._kept) >= self.max_entries and oldest is not None:
            self._give_up(oldest)
        return real(self, actor, now)

    real = Histories.room
    patch.setattr(Histories, "room", room)


def an_actor_at_its_cap_is_locked_out(patch: Patch) -> None:
    def in_place(self: Histories[Sealed], _history: object, _now: float) -> History[Sealed]:
        raise answers.too_many_entries(self.max_entries, None)

    patch.setattr(Histories, "_in_its_own_place", in_place)


def an_actor_below_its_cap_gives_up_its_own(patch: Patch) -> None:
    real = Histories._in_its_own_place

    def in_place(self: Histories[Sealed], history: History[Sealed], now: float) -> History[Sealed]:
        most, self.per_actor = self.per_actor, 1
        try:
            return real(self, history, now)
        finally:
            self.per_actor = most

    patch.setattr(Histories, "_in_its_own_place", in_place)


def a_cancelled_request_costs_its_own_reply(patch: Patch) -> None:
    def cancel(self: Histories[Sealed], entry: Entry[Sealed]) -> None:
        if self._leaving is not None and self._leaving.oldest is not None:
            self._let_go()
        real(self, entry)

    real = Histories.cancel
    patch.setattr(Histories, "cancel", cancel)


def replies_of_any_size(patch: Patch) -> None:
    patch.setattr(Histories, "_make_room", lambda *_: None)
    patch.setattr(Histories, "verify", lambda self: None)


def large_replies_push_out_the_oldest_of_all(patch: Patch) -> None:
    def make_room(self: Histories[Sealed], size: int, _now: float) -> None:
        while self._kept.bytes + size > self.max_bytes:
            oldest = self._kept.oldest()
            assert oldest is not None
            self._give_up(oldest)

    patch.setattr(Histories, "_make_room", make_room)


def a_large_reply_is_not_kept(patch: Patch) -> None:
    real = Histories.keep

    def keep(self: Histories[Sealed], entry: Entry[Sealed], now: float) -> None:
        crowded = self._kept.bytes + entry.size > self.max_bytes
        real(self, entry, now)
        if crowded:
            self._give_up(entry)

    patch.setattr(Histories, "keep", keep)


def marks_go_before_what_was_sent_has_its_turn(patch: Patch) -> None:
    patch.setattr(Recipient, "let_through", lambda *_: None)


def full_spends_the_id(patch: Patch) -> None:
    def room(self: Histories[Sealed], actor: Actor, now: float) -> History[Sealed]:
        try:
            return real(self, actor, now)
        except Refusal as refusal:
            history = self.find(actor)
            if history is not None and refusal.code is ErrorCode.RESOURCE_LIMIT:
                history.mark += 1
            raise

    real = Histories.room
    patch.setattr(Histories, "room", room)


def actors_confused(patch: Patch) -> None:
    patch.setattr(
        case_module, "actor_of", lambda who: ("ambient", who.unix_uid, "e" * 32, "1" * 32)
    )


def a_resumed_record_is_a_stranger(patch: Patch) -> None:
    def actor_of(who: Principal) -> Actor:
        return "ambient", who.unix_uid, who.broker_epoch, who.connection_id

    patch.setattr(case_module, "actor_of", actor_of)


def epoch_before_the_look_up(patch: Patch) -> None:
    def earlier(self: Gate[Sealed], case: Case, spec: NativeSpec, now: float) -> object:
        check_epoch(case, spec)
        return real(self, case, spec, now)

    real = Gate._earlier
    patch.setattr(Gate, "_earlier", earlier)


def pane_before_the_look_up(patch: Patch) -> None:
    def earlier(self: Gate[Sealed], case: Case, spec: NativeSpec, now: float) -> object:
        if self._world.pane(case.request.target.pane_id) is None:
            raise forbidden()
        return real(self, case, spec, now)

    real = Gate._earlier
    patch.setattr(Gate, "_earlier", earlier)


def no_look_up(patch: Patch) -> None:
    patch.setattr(Gate, "_earlier", lambda *_: None)


def no_second_evaluation(patch: Patch) -> None:
    """What waited for its turn is performed as it was allowed when it came."""

    def turn(self: Lab, pick: int) -> None:
        if self.queue:
            message = self.queue.popleft()
            decision = first.get(id(message)) or self.evaluate(message)
            if isinstance(decision, Go):
                self.perform(message, decision, pick)

    def take(self: Lab, message: Message) -> None:
        first[id(message)] = self.evaluate(message)
        real(self, message)

    first: dict[int, object] = {}
    real = Lab.take
    patch.setattr(Lab, "take", take)
    patch.setattr(Lab, "turn", turn)


def later_is_lost(patch: Patch) -> None:
    def record(self: Reservation[Sealed], reply: Sealed, now: float, later: object = None) -> None:
        real(self, reply, now)

    real = Reservation.record
    patch.setattr(Reservation, "record", record)


BROKEN: list[Callable[[Patch], None]] = [
    mark_not_raised,
    mark_raised_when_recorded,
    eviction_forgets_the_mark,
    the_end_of_a_connection_forgets_at_once,
    digest_ignored,
    digest_of_meaning,
    load_recorded,
    running_unknown,
    running_evicted,
    warmest_evicted,
    a_turned_away_newcomer_costs_another_its_replies,
    cancel_leaves_it_spent,
    cancel_frees_earlier_ids,
    kept_too_long,
    kept_too_short,
    newest_given_up,
    full_gives_up_the_oldest,
    an_actor_at_its_cap_is_locked_out,
    an_actor_below_its_cap_gives_up_its_own,
    a_cancelled_request_costs_its_own_reply,
    replies_of_any_size,
    large_replies_push_out_the_oldest_of_all,
    a_large_reply_is_not_kept,
    marks_go_before_what_was_sent_has_its_turn,
    full_spends_the_id,
    actors_confused,
    a_resumed_record_is_a_stranger,
    epoch_before_the_look_up,
    pane_before_the_look_up,
    no_look_up,
    no_second_evaluation,
    later_is_lost,
]
