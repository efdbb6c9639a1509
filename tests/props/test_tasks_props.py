"""Any order of events leads a task to one outcome; texts and requests stay in their bounds."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from brokerd.client import Refusal, encode
from termnode.paneshell.tasks.capture import Capture, Stream, cut, encoded_size
from termnode.paneshell.tasks.ladder import Ladder, Status, Step
from termnode.paneshell.tasks.limits import GRACE, MAX_STREAM
from termnode.paneshell.tasks.request import submission
from termnode.paneshell.tasks.result import result_of

_EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["tick", "cancel", "kill", "exited"]),
        st.floats(min_value=0, max_value=3, allow_nan=False),
    ),
    max_size=30,
)


@given(_EVENTS, st.floats(min_value=0.001, max_value=5))
def test_a_ladder_only_climbs_and_its_outcome_stays(
    events: list[tuple[str, float]], timeout: float
) -> None:
    now, ladder, steps = 0.0, Ladder(0.0, timeout), []
    outcome = None
    for event, later in events:
        now += later
        had_settled = ladder.settled
        match event:
            case "tick":
                steps.append(ladder.tick(now))
            case "cancel":
                steps.append(ladder.cancel(now))
            case "kill":
                steps.append(ladder.kill(now))
            case _:
                ladder.exited(Status(0, None))
        if had_settled:
            assert steps == [] or steps[-1] is Step.NOTHING or event == "exited"
            assert ladder.outcome() == outcome
        outcome = ladder.outcome() if ladder.settled else None
    climbed = [step for step in steps if step in (Step.TERMINATE, Step.KILL)]
    assert climbed in ([], [Step.TERMINATE], [Step.KILL], [Step.TERMINATE, Step.KILL])


@given(_EVENTS, st.floats(min_value=0.001, max_value=5))
def test_a_ladder_always_ends_in_time(events: list[tuple[str, float]], timeout: float) -> None:
    now, ladder = 0.0, Ladder(0.0, timeout)
    for event, later in events:
        if event in ("tick", "cancel", "kill"):
            now = min(now + later, ladder.deadline)
            getattr(ladder, event)(now)
    for _ in range(3):
        ladder.tick(ladder.deadline)
    assert ladder.settled
    assert ladder.deadline <= timeout + 2 * GRACE + 1e-9


@given(st.text(max_size=300), st.integers(min_value=2, max_value=200))
def test_a_cut_is_the_longest_beginning_that_fits(text: str, budget: int) -> None:
    text = text.encode("utf-8", "replace").decode()
    shown = cut(text, budget)
    assert text.startswith(shown)
    spelled_short = 4 * sum(map(shown.count, "\b\f"))  # by this encoder, not by every one
    assert encoded_size(shown) == len(encode(shown)) + spelled_short <= budget
    if shown != text:
        assert encoded_size(text[: len(shown) + 1]) > budget


@given(st.lists(st.binary(min_size=1, max_size=50_000), max_size=5))
def test_a_capture_is_a_beginning_and_a_count(parts: list[bytes]) -> None:
    capture = Capture()
    for part in parts:
        capture.take(part)
    whole = b"".join(parts)
    assert capture.kept == whole[:MAX_STREAM]
    assert capture.bytes == len(whole)


def _result(capture: Capture) -> dict[str, Any]:
    return result_of(Stream(capture.kept, capture.bytes, capture.open))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=20,
)


@given(_JSON, st.integers(min_value=1, max_value=200))
def test_a_result_is_the_value_or_torn(value: object, missing: int) -> None:
    raw = json.dumps(value).encode()
    whole, part = Capture(), Capture()
    for capture, data in ((whole, raw), (part, raw[:-missing])):
        if data:
            capture.take(data)
        capture.take(b"")
    told = _result(whole)
    assert told["kind"] in ("value", "result_torn")
    if told["kind"] == "value":
        assert told["data"] == value or told["data"]["truncated"]
    assert _result(part)["kind"] in ("value", "result_torn", "result_missing")


@given(
    st.dictionaries(
        st.sampled_from(["request_id", "source", "argv", "cwd", "env", "timeout_ms"]),
        _JSON | st.just("1") | st.just("/") | st.just(["a"]) | st.just([["A", "1"]]),
    )
)
def test_every_request_is_read_or_refused(body: dict[str, Any]) -> None:
    try:
        read = submission(body)
    except Refusal as refusal:
        encode(refusal.body())
    else:
        assert (read.source is None) == bool(read.words)
