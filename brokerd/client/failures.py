"""What to say, and not to say, of a handler that failed."""

from __future__ import annotations

import logging

from brokerd.client.messages import Request
from brokerd.errors import ErrorCode, Refusal

log = logging.getLogger("brokerd.client")


def request_failed(request: Request, error: BaseException) -> None:
    """Log the failure without the request's content, and answer that the service failed."""
    log.error("a handler of %s failed: %s", request.name, where(error))
    request.refuse(_handler_failed())


def _handler_failed() -> Refusal:
    return Refusal(
        ErrorCode.UNAVAILABLE,
        "the service failed on this request; its log says where",
        reason="handler_failed",
    )


def where(error: BaseException) -> str:
    """The error's type and place. Its text may quote the request, so it stays out of the log."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(error).__name__
    code = trace.tb_frame.f_code
    return f"{type(error).__name__} in {code.co_filename}:{trace.tb_lineno}"
