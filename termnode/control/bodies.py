"""Request bodies of both lanes: size and strict JSON."""

from __future__ import annotations

from brokerd.client import MAX_REQUEST_BODY, Json, decode_object, invalid


def decode(raw: bytes, *, empty_ok: bool = False) -> dict[str, Json]:
    """The body as an object. Raises Refusal INVALID_ARGUMENT, field "body".

    ``empty_ok`` takes no bytes at all for an empty object: what a verb needs is then missing, and
    refused by its name.
    """
    if len(raw) > MAX_REQUEST_BODY:
        message = f"the body is over {MAX_REQUEST_BODY} bytes: send less at a time"
        raise invalid("body", message, limit=MAX_REQUEST_BODY)
    return decode_object(raw, empty_ok=empty_ok)
