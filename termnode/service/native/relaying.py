"""What is asked of a pane's shell for a caller, and what the caller is told of the answer. No I/O.

The shell's refusals are told as they are: each says what to do next. But that nobody knows what
became of a submission is said whenever it may have arrived and nothing came back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from brokerd.client import TERM, Principal, RecordView, Ref, Reply, parse_u64
from termnode.control.native.decisions import Go
from termnode.control.native.exec_table import EXECUTE, WAIT_MS
from termnode.control.native.fields import OPERATION_ID
from termnode.control.native.limits import FORWARDED_FIRST_WAIT_MS
from termnode.lanes.native_lane import RECORD_DIGITS
from termnode.service.native.refusing import ATTACHED_ANEW, lost, refusal_of, unknown
from termnode.service.state import Result

VERSION: Final = 1
"""Of what panes' shells are asked."""

FINISHED: Final = "finished"
RESULT: Final = "result"

ENDED: Final = frozenset({FINISHED, "settled"})
"""States of an operation that has ended."""

ADMISSION: Final = "admission"
"""The reason of BUSY while the shell decides about a command: of a repeat it may be that one."""

_OVER: Final = frozenset({"already_finished", "already_settled"})


class Ended(NamedTuple):
    """How a pane's program has ended (``code`` or ``signal``), and when, in monotonic seconds."""

    exit: Mapping[str, object]
    at: float


def child_target(record: RecordView, ref: Ref) -> dict[str, object]:
    """The attachment of a pane's shell, as what is asked of it must name it."""
    return {
        "broker_epoch": record.broker_epoch,
        "record": ref.to_json(),
        "instance_id": record.instance_id,
        "pane_id": str(record.pane_id),
        "pane_generation": str(record.pane_generation),
    }


def submission(go: Go, target: dict[str, object], number: int) -> dict[str, object]:
    """The body of a submission: the caller's own fields as they were sent, and no others.

    ``number`` is its id at the shell. The same for each repeat, as long as the target is the same.
    Of a wait the shell is told the beginning: that it was taken must be known here soon.
    """
    spec = go.spec.forwarded
    assert spec is not None, "only what is forwarded gets here"
    made: dict[str, object] = {
        "version": VERSION,
        "target": target,
        "request_id": str(number),
        **go.request.own,
    }
    if WAIT_MS in made:
        made[WAIT_MS] = first_wait_ms(go)
    if spec.family == EXECUTE:
        made["on_behalf_of"] = originator(go.principal)
    return made


def wait_ms(go: Go) -> int:
    """For how long its caller waits for an end; 0 when it does not."""
    wait = go.args.get(WAIT_MS, 0)
    return wait if isinstance(wait, int) else 0


def first_wait_ms(go: Go) -> int:
    """How much of that the pane's shell waits with its answer to a submission."""
    return min(wait_ms(go), FORWARDED_FIRST_WAIT_MS)


def without_result(body: Mapping[str, object]) -> Result:
    """What of a submission's answer may be told, or kept, in any case."""
    return {name: value for name, value in body.items() if name != RESULT}


def result_question(target: dict[str, object], operation: int, wait: int) -> dict[str, object]:
    """The body of a request for the result of a command, waited for ``wait`` milliseconds."""
    return {"version": VERSION, "target": target, OPERATION_ID: str(operation), WAIT_MS: wait}


def question(go: Go, target: dict[str, object]) -> dict[str, object]:
    """The body of a request about an operation."""
    operation = str(go.request.operation_id)
    return {"version": VERSION, "target": target, OPERATION_ID: operation, **go.request.own}


def originator(principal: Principal) -> str:
    """Who asks, for the announcement: from the broker's stamp alone."""
    session = principal.session
    if session is None:
        return f"uid {principal.unix_uid} pid {principal.peer_pid}"
    role = "Term" if session.role == TERM else "PaneShell"
    return f"{role} {session.record_id[:RECORD_DIGITS]}"


def taken(reply: Reply, *, again: bool = False) -> tuple[int, Result]:
    """The operation's id and the body, of a good reply to a submission.

    ``again``: it was sent before, and may still be under way there. Raises Refusal: the shell's
    own; UNKNOWN_OUTCOME for what is no reply to one.
    """
    if not reply.ok:
        refusal = refusal_of(reply, submits=True)
        reason = refusal.details.get("reason")
        if again and reason == ADMISSION:
            raise unknown("the pane's shell is still deciding about it", ADMISSION)
        if again and reason == ATTACHED_ANEW:
            raise unknown("the pane's shell was attached anew since", ATTACHED_ANEW)
        raise refusal
    body: dict[str, Any] = reply.body or {}
    operation = operation_of(body)
    if operation is None:
        raise unknown("the pane's shell answered what makes no sense", "malformed_answer")
    return operation, body


def told(reply: Reply) -> Result:
    """The body of a good reply to a question. Raises Refusal."""
    if not reply.ok:
        raise refusal_of(reply, submits=False)
    if reply.body is None:
        raise lost("the pane's shell answered what makes no sense")
    return {**reply.body}


def ended_with(operation: int, ended: Ended, sent: float) -> Result:
    """What its shell would have said of the command that ended it: it has gone with its program.

    What the command wrote is on the pane's screen.
    """
    how = {name: ended.exit[name] for name in ("code", "signal") if name in ended.exit}
    result = {
        "outcome": "completed",
        "exit": {"shell_exited": True, **how},
        "output": None,
        "cwd": None,
        "duration_ms": max(0, round((ended.at - sent) * 1000)),
    }
    known = {"version": VERSION, OPERATION_ID: str(operation)}
    return {**known, "state": FINISHED, RESULT: result}


def operation_of(fields: object) -> int | None:
    """The operation that a reply or the details of a refusal name; None when they name none."""
    value = fields.get(OPERATION_ID) if isinstance(fields, dict) else None
    return parse_u64(value) or None if isinstance(value, str) else None


def is_over(body: Mapping[str, object]) -> bool:
    """Whether a reply says that its operation has ended."""
    return body.get("state") in ENDED or body.get("outcome") in _OVER
