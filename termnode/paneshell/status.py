"""shell.status: what a request must be, and what the answer says. No I/O; the clock is handed in.

Without prompt integration only the process table speaks: whether the shell lives, whether another
program is in front of it, and where it is. ``Tracker`` says when that last changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from brokerd.client import ErrorCode, RecordView, Refusal, decode_object, invalid

VERB: Final = "shell.status"
VERSION: Final = 1
MAX_REQUEST: Final = 2_048
"""Bytes of a request's body."""

MAX_CWD: Final = 4_096
"""Bytes of a directory's path in an answer, as UTF-8."""

STARTING: Final = "starting"
FOREGROUND_CHILD: Final = "foreground-child"
EXITING: Final = "exiting"

SOURCE: Final = "process-table"
"""Where the phase comes from."""

UNSUPPORTED: Final = str(ErrorCode.UNSUPPORTED)

CAPABILITIES: Final[dict[str, str]] = {
    "shell_phase": "snapshot",
    "cwd": "last-observed-snapshot",
    "prompt_generation": UNSUPPORTED,
    "jobs": UNSUPPORTED,
    "job_signal": UNSUPPORTED,
    "foreground": UNSUPPORTED,
    "input": UNSUPPORTED,
    "events": UNSUPPORTED,
    "evaluation_submit": UNSUPPORTED,
    "evaluation_inspect": UNSUPPORTED,
    "isolated_task": UNSUPPORTED,
}

PROMPT_CAPABILITIES: Final[dict[str, str]] = {
    **CAPABILITIES,
    "prompt_generation": "snapshot",
    "evaluation_submit": "idle-prompt-admission",
    "evaluation_inspect": "result-and-cancel",
}
"""Of a shell with its integration."""

INTEGRATION: Final = "prompt-integration"
"""Where the phase comes from when the shell itself tells it."""

_UNSIGNED_64: Final = 2**64 - 1


@dataclass(frozen=True, slots=True)
class PromptView:
    """What is known of the prompt. ``source`` is none, integration, or lost.

    ``generation`` and ``binding_generation`` (of the record that it is told by) are 0 when nothing
    is known. ``command_id`` is the operation that runs.
    """

    source: str = "none"
    generation: int = 0
    binding_generation: int = 0
    continuation: bool = False
    command_id: str | None = None


NO_PROMPT: Final = PromptView()


@dataclass(frozen=True, slots=True)
class Observation:
    """One look at the shell's process. ``cwd`` is the path's bytes, None when it cannot be told."""

    phase: str
    cwd: bytes | None


class Tracker:
    """Remembers the last observation and when it changed. Times are milliseconds since boot."""

    def __init__(self, cwd: bytes, now_ms: int) -> None:
        self._phase = STARTING
        self._sequence = 0
        self._transition_ms = now_ms
        self._cwd = cwd
        self._cwd_observed_ms = now_ms

    def note(self, seen: Observation, now_ms: int) -> None:
        """Take an observation made now. A shell that has ended never comes back."""
        if self._phase not in (seen.phase, EXITING):
            self._phase = seen.phase
            self._sequence = min(self._sequence + 1, _UNSIGNED_64)
            self._transition_ms = now_ms
        if seen.cwd is not None:
            self._cwd, self._cwd_observed_ms = seen.cwd, now_ms

    def answer(
        self,
        now_ms: int,
        prompt: PromptView = NO_PROMPT,
        capabilities: Mapping[str, str] = CAPABILITIES,
    ) -> dict[str, object]:
        """The body of the reply."""
        cwd_age = max(0, now_ms - self._cwd_observed_ms)
        return {
            "version": VERSION,
            "status": {
                "snapshot": self._snapshot(prompt),
                "sampled_ms": str(now_ms),
                "transition_age_ms": str(max(0, now_ms - self._transition_ms)),
                "cwd_age_ms": str(cwd_age),
            },
            "capabilities": capabilities,
            "freshness": {
                "shell_phase": "sampled-on-request",
                "cwd": "last-observed" if cwd_age else "sampled-on-request",
            },
        }

    def _snapshot(self, prompt: PromptView) -> dict[str, object]:
        cwd, truncated = bounded_path(self._cwd)
        return {
            "version": VERSION,
            "source": INTEGRATION if prompt.source == "integration" else SOURCE,
            "sequence": str(self._sequence),
            "phase": self._phase,
            "cwd": cwd,
            "cwd_truncated": truncated,
            "cwd_observed_ms": str(self._cwd_observed_ms),
            "prompt_generation": str(prompt.generation),
            "prompt_binding_generation": str(prompt.binding_generation),
            "prompt_source": prompt.source,
            "continuation": prompt.continuation,
            "command_id": prompt.command_id,
            "transition_ms": str(self._transition_ms),
        }


def bounded_path(path: bytes) -> tuple[str, bool]:
    """A path as text of at most MAX_CWD bytes, and whether that is not the path itself.

    Cut only between characters; bytes that are no UTF-8 become replacement characters.
    """
    text = path[: MAX_CWD + 1].decode("utf-8", "replace")
    kept = text.encode()[:MAX_CWD].decode("utf-8", "ignore")
    return kept, kept.encode() != path


def read_target(raw: bytes) -> dict[str, Any]:
    """The target that a request names. Raises Refusal INVALID_ARGUMENT."""
    if len(raw) > MAX_REQUEST:
        raise invalid("body", f"a request has at most {MAX_REQUEST} bytes: shorten it")
    body = decode_object(raw)
    version = body.pop("version", None)
    target: Any = body.pop("target", None)
    if type(version) is not int or version != VERSION:
        raise invalid("version", f"this speaks version {VERSION}: say so")
    if body:
        raise invalid("body", "a request has the fields version and target, and no other")
    check_shape(target)
    checked: dict[str, Any] = target
    return checked


def check_shape(target: Any) -> None:  # noqa: ANN401  # decoded JSON
    """Raises Refusal INVALID_ARGUMENT unless this can be a target."""
    if not _shaped_like(target, _SHAPE):
        raise invalid("target", "the target is broker_epoch, record, instance_id and the pane's")


def check_target(target: dict[str, Any], own: RecordView) -> None:
    """Raises Refusal STALE_GENERATION unless the target is the attachment of ``own``, exactly."""
    if target != target_of(own):
        raise Refusal(
            ErrorCode.STALE_GENERATION,
            "the pane shell has another attachment now: read it from its Term again",
            field="target",
        )


def target_of(own: RecordView) -> dict[str, Any]:
    """What a request for this attachment names as its target."""
    return {
        "broker_epoch": own.broker_epoch,
        "record": own.ref.to_json(),
        "instance_id": own.instance_id,
        "pane_id": str(own.pane_id),
        "pane_generation": str(own.pane_generation),
    }


_SHAPE: Final[dict[str, Any]] = {
    "broker_epoch": str,
    "record": {"record_id": str, "incarnation": str, "binding_generation": str},
    "instance_id": str,
    "pane_id": str,
    "pane_generation": str,
}


def _shaped_like(value: Any, shape: Any) -> bool:  # noqa: ANN401  # decoded JSON against a pattern
    if not isinstance(shape, dict):
        return isinstance(value, shape)
    return (
        isinstance(value, dict)
        and value.keys() == shape.keys()
        and all(_shaped_like(value[key], inner) for key, inner in shape.items())
    )
