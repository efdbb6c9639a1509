"""Every limit of the native lane but those of the ledger, which has its own (specs/limits.md)."""

from __future__ import annotations

from typing import Final

from termnode.terminal import write_queue

AFFECTED_MOST: Final = 128
"""Further targets that one request may name, as far as they fit into its body."""

PERMIT_MS: Final = 2_000
"""Every right to act ends so long after its evaluation (seed: "two-second delivery deadline")."""

LEASES: Final = 256
"""Callers' leases that are remembered; the one checked longest ago goes first."""

LEASE_FRESH_MS: Final = 5_000
"""A check of a caller's lease is good for less than this (seed: "five-second lease window")."""

LEASE_CHECK_MS: Final = 2_000
"""A check of a caller's lease that takes longer has failed."""

DISPATCH_QUEUE: Final = 64
"""Requests of all callers that may wait for their turn; more are RESOURCE_LIMIT
dispatch_queue_full."""

LEASE_CHECKS: Final = 64
"""Requests of all callers that may wait for the check of a lease."""

WAITS: Final = 64
"""Waits of all callers at a time."""

INPUT_QUEUE_BYTES: Final = write_queue.MAX_QUEUED_BYTES
"""Bytes that may wait to be written to one pane."""

FORWARDED_IDS: Final = 4_096
"""Submissions to panes' shells that are remembered; more are RESOURCE_LIMIT forwarded_ids."""

FORWARDED_MS: Final = 960_000
"""For which one is, from its end on: longer than its shell's pane remembers it (900,000)."""

FORWARDED_CALLS: Final = 64
"""Submissions, cancellations and reads without a wait that are with panes' shells at a time."""

FORWARDED_WAITS: Final = 64
"""Reads of a result, and submissions that were taken, that wait for an end, at a time."""

FORWARDED_ANSWER_MS: Final = 5_000
"""For a pane's shell to answer, beyond what it was asked to wait."""

FORWARDED_WAIT_MS: Final = 45_000
"""The longest wait for a result."""

FORWARDED_FIRST_WAIT_MS: Final = 100
"""For so long a pane's shell keeps the answer to a submission back, for its end to go with it."""

REVOKED_NOTICES: Final = 256
"""Notices of input whose right ended that wait to be sent; the oldest goes first."""

REVOKED_PER_TURN: Final = 16
"""Of them sent at a time."""

REVOKED_SEND_MS: Final = 100
"""For one of them to be sent; what fails is put back."""

REVOKED_TURN_MS: Final = 200
"""For those sent at a time together."""

SHARE: Final = 0.5
"""Of the places for lease checks, of the queue, of waits and of what is with panes' shells: the
most that one caller may have. Of a lease it is who holds it, of the others it is the process that
asks."""


def share(most: int) -> int:
    """How many of ``most`` places one caller may have; one at least."""
    return max(1, int(most * SHARE))
