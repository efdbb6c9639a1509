"""What each session command asks of ``Sessions``, and how its result is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from brokerd import bodies
from brokerd.bodies import Json
from brokerd.core.sessions.arguments import Args, an_id
from brokerd.core.sessions.model import Grant, Record, Ref
from brokerd.core.sessions.views import challenge_view, grant_view, record_view
from brokerd.errors import Refusal, limit_reached
from brokerd.peers import PeerCredentials

if TYPE_CHECKING:  # the bus holds the sessions, so it imports this package
    from brokerd.core.bus import Bus
    from brokerd.core.connections import Connection
    from brokerd.core.sessions.store import Sessions

Result: TypeAlias = "dict[str, object]"


@dataclass(frozen=True, slots=True)
class Call:
    """Who asks, and whom. All but ``session.hello`` is asked by local peers only."""

    bus: Bus
    sender: Connection

    @property
    def caller(self) -> tuple[str, int]:
        """Connection id and uid."""
        assert isinstance(self.sender.peer, PeerCredentials)
        return self.sender.id, self.sender.peer.uid

    @property
    def sessions(self) -> Sessions:
        """What is asked."""
        return self.bus.sessions

    def record(self, record: Record) -> Result:
        """The result that is a record."""
        return {"record": record_view(self.sessions, record)}

    def grant(self, grant: Grant) -> Result:
        """The result that is a grant and its record."""
        return {"grant": grant_view(grant), **self.record(grant.record)}


def hello(call: Call, _args: Args) -> Result:
    """Where and who the caller is."""
    bus = call.bus
    return {
        "broker_epoch": bus.epoch,
        "connection_id": call.sender.id,
        "node": bus.node,
        "uid": call.sender.peer.uid,
    }


def allocate(call: Call, args: Args) -> Result:
    """A Term record for the caller's key."""
    key, signature, policy = args["public_key"], args["signature"], args["policy"]
    return call.record(call.sessions.allocate(*call.caller, key, signature, policy))


def create_grant(call: Call, args: Args) -> Result:
    """Leave for a pane shell's key to enrol once."""
    known = {field: value for field, value in args.items() if field != "role"}
    return call.grant(call.sessions.create_grant(*call.caller, **known))


def fetch_grant(call: Call, args: Args) -> Result:
    """The newest grant that the caller gave a key."""
    return call.grant(call.sessions.fetch_grant(*call.caller, args["public_key"]))


def challenge(call: Call, args: Args) -> Result:
    """What to sign, for a record or for whatever a key may prove."""
    wake_error = None
    if "public_key" in args:
        found, wake_error = call.sessions.challenge_key(*call.caller, args["public_key"])
    else:
        found = call.sessions.challenge_record(*call.caller, **args)
    return {"challenge": challenge_view(call.sessions, found, wake_error)}


def prove(call: Call, args: Args) -> Result:
    """Hold the record whose challenge is signed."""
    challenge_id, signature = args["challenge_id"], args["signature"]
    return call.record(call.sessions.prove(*call.caller, challenge_id, signature))


def spend(call: Call, body: Mapping[str, Json]) -> None:
    """An attempt to prove that says for which challenge costs it, however wrong the rest is."""
    try:
        an_id("challenge_id", body.get("challenge_id"))
        call.sessions.prove(*call.caller, None, b"")
    except Refusal:
        return


def renew(call: Call, args: Args) -> Result:
    """Start the lease again."""
    return call.record(call.sessions.renew(*call.caller, _target(args)))


def revoke(call: Call, args: Args) -> Result:
    """End a record and its children."""
    return {"revoked": call.sessions.revoke(*call.caller, _target(args))}


def list_records(call: Call, _args: Args) -> Result:
    """Every record of the caller's uid."""
    _, uid = call.caller
    records = [record_view(call.sessions, record) for record in call.sessions.list(uid)]
    limit = call.bus.limits.sessions.list_bytes
    if len(bodies.encode(records)) > limit:
        raise limit_reached("snapshot_limit", limit, "there are too many records to list at once")
    return {"broker_epoch": call.bus.epoch, "records": records}


def self_record(call: Call, args: Args) -> Result:
    """One record of the caller's uid."""
    _, uid = call.caller
    return call.record(call.sessions.self_record(uid, args["record_id"]))


def check_lease(call: Call, args: Args) -> Result:
    """How long the sender of a delivery still has."""
    remaining = call.sessions.lease_check(*call.caller, _target(args))
    return {"lease_remaining_ms": str(remaining)}


def _target(args: Args) -> Ref:
    target: Ref = args["target"]
    return target
