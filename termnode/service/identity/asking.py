"""What to ask the broker for the children of this Term. No I/O, no clock of its own.

What the broker says is put in; what to ask is asked for (`next_call`), one thing at a time, and its
outcome put in again. Times are seconds of the clock of the broker's deadlines.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from brokerd.client import GrantView, RecordView, Ref, SessionKey
from termnode.service.identity.bundle import Bundle, Provision
from termnode.service.identity.child import Child, Shell, Stage
from termnode.service.identity.effects import Call, Mint, Reconcile, Revoke
from termnode.service.identity.roster import Roster

MAX_REVOKES: Final = 128
"""Revocations that wait; of more the oldest is left to the broker, which ends it in a minute."""

PROVISION_PAUSE_S: Final = 1.0
"""After a bundle that could not be made."""

RECONCILE_PAUSE_S: Final = 1.0
"""After records that could not be had."""


class Asking:
    """Grants, revocations and comparisons that are due."""

    def __init__(self, roster: Roster, now: float) -> None:
        self.provision: Final = Provision(now)
        self.parent: RecordView | None = None
        """What this Term holds now."""
        self.doubted = False
        """Whether notices were missed, and the broker was not asked since."""
        self._roster = roster
        self._generations: dict[int, int] = {}
        """The last generation asked for, of each pane there is or that a bundle is for."""
        self._known: tuple[str, str, str] | None = None
        """Broker and parent that the present records are of."""
        self._revokes: deque[Ref] = deque(maxlen=MAX_REVOKES)
        self._reconcile = False
        self._reconcile_at = now
        self._heard = 0
        """Notices about children."""
        self._calling: Call | None = None
        self._provision_at = now

    # -- what the broker says ----------------------------------------------------------------------

    def authority(self, parent: RecordView | None, now: float) -> None:
        """What this Term holds now: None when it holds nothing.

        Under another broker or record all children are granted anew; under the same one they may
        have changed unseen.
        """
        self.parent = parent
        if parent is None:
            return
        known = (parent.broker_epoch, parent.record_id, parent.incarnation)
        if known == self._known:
            self.gap(now)
            return
        self._known = known
        self._revokes.clear()
        self._reconcile = self.doubted = False
        self.provision.replace(None)
        for child in self._roster:
            child.forgotten(now)

    def notice(self, target: Ref, state: str, now: float) -> None:
        """The broker told of a record."""
        child = self._roster.of(target)
        if child is not None:
            self._heard += 1
            child.told(state, target.binding_generation, now)
        elif state != "pending" and isinstance(self._calling, Mint):
            # Perhaps of the very record whose grant has not come back yet. That it is pending is
            # told of each grant, ahead of its answer, and the answer says so too.
            self._reconcile = True

    def gap(self, now: float) -> None:
        """Notices were missed."""
        self._reconcile = self.doubted = True
        for child in self._roster:
            child.rearmed(now)

    # -- what to ask -------------------------------------------------------------------------------

    def next_call(self, next_pane: int, now: float) -> Call | None:
        """What to ask the broker; None for nothing now. Its outcome must be put in.

        ``next_pane`` is the pane that will be opened next.
        """
        if self.parent is None or self._calling is not None:
            return None
        self._calling = self._call(self.parent, next_pane, now)
        return self._calling

    def _call(self, parent: RecordView, next_pane: int, now: float) -> Call | None:
        if self._reconcile and now >= self._reconcile_at:
            self._reconcile = False
            return Reconcile(self._heard)
        for child in self._roster:
            due = self._due(child, now)
            if due is not None and due <= now:
                return self._mint(parent, child, now)
        if self._revokes:
            return Revoke(self._revokes.popleft())
        if now >= self._provide_at() and self.provision.wanted(next_pane, now):
            return self._provide(parent, next_pane)
        return None

    def _provide_at(self) -> float:
        """Not while panes are being opened: their programs come first."""
        return max(self._provision_at, self._roster.quiet_at)

    def _due(self, child: Child, now: float) -> float | None:
        """When to grant a child; a pane shell that cannot be started needs no grant yet."""
        if child.launched or self._roster.launching:
            return child.wants_grant(now, self._roster.quiet_at)
        return None

    def _mint(self, parent: RecordView, child: Child, now: float) -> Mint:
        if child.stage is Stage.GRANTED and not child.startable(now):
            # The grant before is still there for a moment, and a key has one record at a time.
            self.revoke(child)
            child.key = SessionKey.generate()
            child.stage = Stage.NONE
        return Mint(child, parent.ref, child.pane, self._generation(child.pane), child.key)

    def _provide(self, parent: RecordView, pane: int) -> Mint:
        for other in list(self._generations):
            if other not in self._roster and other != pane:
                del self._generations[other]
        self._stock(None)
        return Mint(None, parent.ref, pane, self._generation(pane), SessionKey.generate())

    def _generation(self, pane: int) -> int:
        self._generations[pane] = self._generations.get(pane, 0) + 1
        return self._generations[pane]

    def _stock(self, bundle: Bundle | None) -> None:
        before = self.provision.replace(bundle)
        if before is not None:
            self._revokes.append(before.record.ref)

    def revoke(self, child: Child) -> None:
        """Have a child's record ended, if it has one."""
        if child.ref is not None and child.stage not in {Stage.NONE, Stage.LOST}:
            self._revokes.append(child.ref)

    def forget(self, pane: int) -> None:
        """The pane is no more."""
        self._generations.pop(pane, None)

    # -- how it went -------------------------------------------------------------------------------

    def minted(self, mint: Mint, grant: GrantView, record: RecordView, now: float) -> None:
        """This was granted. It is revoked again if nobody is there for it any more."""
        self._calling = None
        if self._known is None or self._known[1:] != (
            mint.parent.record_id,
            mint.parent.incarnation,
        ):
            return  # by a record that this Term has no more
        bundle = Bundle(pane=mint.pane, key=mint.key, grant=grant, record=record)
        child = mint.child or self._opened_meanwhile(mint.pane)
        if child is not None and self._roster.has(child):
            child.granted(bundle, now)
        elif child is not None or mint.pane in self._roster:
            self._revokes.append(record.ref)
        else:
            self._stock(bundle)

    def _opened_meanwhile(self, pane: int) -> Child | None:
        """The child of the pane that a bundle was made for, if it has no grant of its own."""
        child = self._roster.get(pane)
        waits = child is not None and child.shell is Shell.WAITING and child.stage is Stage.NONE
        return child if waits else None

    def mint_failed(self, mint: Mint, reason: str, now: float) -> None:
        """Nothing was granted, for a reason in words."""
        self._calling = None
        if mint.child is not None:
            mint.child.failed(reason, now)
        else:
            self._provision_at = now + PROVISION_PAUSE_S

    def revoked(self) -> None:
        """A revocation was answered, or not: the broker ends in a minute what is left."""
        self._calling = None

    def reconciled(self, call: Reconcile, records: Iterable[RecordView] | None, now: float) -> None:
        """All records of this user; None when they could not be had."""
        self._calling = None
        if self.parent is None:
            return
        if records is None:
            self._reconcile, self._reconcile_at = True, now + RECONCILE_PAUSE_S
        elif call.heard != self._heard:
            self._reconcile = True  # what was told meanwhile may be newer than the list
        else:
            self._compare(self.parent.instance_id, records, now)
            self.doubted = self._reconcile

    def _compare(self, mine: str, records: Iterable[RecordView], now: float) -> None:
        found = {each.record_id: each for each in records if each.parent_instance == mine}
        for child in self._roster:
            if child.record is not None:
                seen = found.pop(child.record.record_id, None)
                state = "revoked" if seen is None else seen.state
                child.told(state, child.bound if seen is None else seen.binding_generation, now)
        stock = self.provision.bundle
        if stock is not None:
            found.pop(stock.record.record_id, None)
        self._revokes.extend(record.ref for record in found.values())

    # -- looking -----------------------------------------------------------------------------------

    def due(self, next_pane: int, now: float) -> list[float | None]:
        """When there will be something to ask, as far as time alone decides."""
        wanted = self.provision.wanted(next_pane, now)
        stock = self._provide_at() if wanted else self.provision.stale_at()
        again = self._reconcile_at if self._reconcile else None
        return [stock, again, *(self._due(child, now) for child in self._roster)]

    def refs(self) -> list[Ref]:
        """Every record there may be: to be revoked when this Term ends."""
        found = [child.ref for child in self._roster if child.stage is not Stage.LOST]
        return [*self._revokes, *(ref for ref in found if ref is not None)]
