"""Callers that send, resend and misbehave, over a network that loses, doubles and reorders."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any, Final

from tests.support.ledger_values import (
    BAD_IDS,
    NO_ID,
    VERBS,
    Client,
    Message,
    pane_shell,
    principal,
    target,
)

MOST_CLIENTS: Final = 5


class Traffic:
    """All that happens before a request arrives. Every action takes a number that picks."""

    def __init__(self) -> None:
        self.serial = 0
        self.clients: list[Client] = []
        self.wire: list[Message] = []
        self.seen: Counter[str] = Counter()

    def fresh(self) -> int:
        self.serial += 1
        return self.serial

    def ended(self, key: str) -> None:
        """A connection or record is no more."""
        raise NotImplementedError

    # -- connections ------------------------------------------------------------------------------

    def connect(self, pick: int) -> None:
        """A new connection, perhaps that of a pane's shell."""
        if len(self.clients) < MOST_CLIENTS:
            session = pane_shell(self.fresh()) if pick % 3 == 0 else None
            self.clients.append(Client(principal(self.fresh(), session)))

    def reconnect(self, pick: int) -> None:
        """The broker gives a caller another connection; what it sent may still be on its way."""
        client = self.client(pick)
        if client is None:
            return
        old = client.principal
        session = old.session
        if session is None:
            self.clients.remove(client)
            self.clients.append(Client(principal(self.fresh(), None), old_epoch=old.connection_id))
            self.ended(old.connection_id)
        else:
            again = replace(session, binding_generation=session.binding_generation + 1)
            client.principal, client.old_epoch = principal(self.fresh(), again), old.connection_id
        self.seen["reconnect"] += 1

    def end_record(self, pick: int) -> None:
        """A pane's shell and its record are no more."""
        client = self.client(pick)
        if client is not None and client.principal.session is not None:
            self.clients.remove(client)
            self.ended(client.principal.session.record_id)

    def client(self, pick: int) -> Client | None:
        return self.clients[pick % len(self.clients)] if self.clients else None

    # -- requests ---------------------------------------------------------------------------------

    def send(self, pick: int) -> None:
        """A new mutation, sometimes with a gap before its id or an odd epoch."""
        client = self.client(pick)
        if client is None:
            return
        client.last += 1 + (pick // 7 % 4 == 0)
        connection = client.principal.connection_id
        odd = {0: None, 1: client.old_epoch}
        epoch = odd.get(pick // 11 % 11, connection)
        self.put(client, VERBS[pick // 5 % len(VERBS)], str(client.last), epoch, pick)

    def send_lower(self, pick: int) -> None:
        """A lower id, with a body of its own."""
        client = self.client(pick)
        if client is not None and client.last:
            number = 1 + pick // 5 % client.last
            self.put(client, VERBS[pick % 2], str(number), client.principal.connection_id, pick)

    def send_odd(self, pick: int) -> None:
        """Something that is no id."""
        client = self.client(pick)
        if client is not None:
            bad = (*BAD_IDS, *NO_ID)[pick % (len(BAD_IDS) + len(NO_ID))]
            self.put(client, VERBS[0], bad, client.principal.connection_id, pick)

    def send_again(self, pick: int) -> None:
        """An earlier request, byte for byte, on the connection that there is now."""
        client = self.client(pick)
        if client is not None and client.sent:
            message = client.sent[pick // 5 % len(client.sent)]
            self.wire.append(replace(message, principal=client.principal))

    def send_reworded(self, pick: int) -> None:
        """An earlier request in other bytes that mean the same."""
        client = self.client(pick)
        if client is not None and client.sent:
            message = client.sent[-1 - pick // 5 % len(client.sent)]
            self.wire.append(replace(message, principal=client.principal, raw=message.raw + b" "))

    def put(
        self, client: Client, verb: str, request_id: str | None, epoch: str | None, pick: int
    ) -> None:
        pane = 1 if client.principal.session else 1 + pick % 3
        fields: dict[str, Any] = {"target": target(pane)}
        if request_id is not None:
            fields["request_id"] = request_id
        if epoch is not None:
            fields["request_epoch"] = epoch
        if verb == "term.pane.rename":
            fields["title"] = f"t{pick % 3}"
        if verb == "term.type":
            fields |= {"text": f"x{pick % 3}", "foreground_generation": "1"}
        raw = json.dumps(fields).encode()
        message = Message(client, client.principal, verb, raw, request_id, epoch, pane)
        client.sent.append(message)
        self.wire.append(message)

    # -- the network ------------------------------------------------------------------------------

    def double(self, pick: int) -> None:
        if self.wire:
            self.wire.append(self.wire[pick % len(self.wire)])

    def lose(self, pick: int) -> None:
        if self.wire:
            del self.wire[pick % len(self.wire)]
