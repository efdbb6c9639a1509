"""The checks of the gate that need nothing but the request and its caller (specs/control.md).

Each raises the Refusal of its step, or returns.
"""

from __future__ import annotations

from brokerd.client import ErrorCode, Refusal, forbidden, invalid
from termnode.control.native.callers import is_pane_shell
from termnode.control.native.case import Case
from termnode.control.native.fields import FOREGROUND, OPERATION_ID, REQUEST_EPOCH, REQUEST_ID
from termnode.control.native.spec import NativeSpec
from termnode.control.schema import Args
from termnode.control.spec import Capability


def check_continuity(case: Case) -> None:
    """Step 6: an ambient caller's ids are of this Term, not of one before it."""
    request, record = case.request, case.own.record
    if case.bound or (request.request_id is None and request.operation_id is None):
        return
    if request.target[:2] != (record.instance_id, record.incarnation):
        raise Refusal(
            ErrorCode.UNKNOWN_OUTCOME,
            "that was asked of a Term that is no more: look before you repeat it",
            reason="another_incarnation",
        )


def check_capability(case: Case) -> None:
    """Step 7: the capability on the target; what is no verb is judged as reading state."""
    request, spec = case.request, case.request.spec
    needs = (Capability.READ_STATE,) if spec is None else spec.needs(request.own)
    for capability in needs:
        if not case.may(capability, request.target):
            raise forbidden()


def known_verb(case: Case) -> NativeSpec:
    """Step 8: the verb, if there is one, and a pane shell opens nothing outside its grant."""
    spec = case.request.spec
    if spec is None:
        raise Refusal(
            ErrorCode.UNSUPPORTED, "there is no such verb here: ask HELP", reason="unknown_verb"
        )
    if spec.opens and case.strict and is_pane_shell(case.principal):
        raise forbidden()
    return spec


def check_own_lease(case: Case) -> None:
    """Step 9: the Term's own right is live."""
    if case.own.remaining_ms <= 0:
        raise forbidden()


def check_epoch(case: Case, spec: NativeSpec) -> None:
    """Step 14: a mutation's id counts on the connection that it comes from."""
    epoch = case.request.epoch
    if not spec.mutates or epoch == case.principal.connection_id:
        return
    if epoch is not None:
        raise Refusal(
            ErrorCode.UNKNOWN_OUTCOME,
            f"{REQUEST_EPOCH} is of another connection: look before you repeat it",
            reason="stale_request_epoch",
        )
    executes = Capability.EXECUTE in spec.needs(case.request.own)
    if case.strict or case.bound or executes or spec.needs_epoch:
        raise invalid(REQUEST_EPOCH, f"{REQUEST_EPOCH} is required: term.session says it")


def checked_args(case: Case, spec: NativeSpec) -> Args:
    """Step 15: what a mutation must have, and the verb's own fields."""
    request = case.request
    if spec.mutates and not request.request_id:
        raise invalid(REQUEST_ID, f"{REQUEST_ID} is required, from 1 upward")
    if spec.forwarded and not spec.mutates and request.operation_id is None:
        raise invalid(OPERATION_ID, f"{OPERATION_ID} is required: the submission's reply says it")
    if spec.input and request.foreground is None:
        raise invalid(FOREGROUND, f"{FOREGROUND} is required: term.session says it")
    return request.checked_args()
