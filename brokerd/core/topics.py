"""Topics: the latest value of each, its sequence number, and whose it is.

A topic is charged to the uid that published it until it is gone: ``topic_grace_ms`` after its
publisher went. Sequence numbers never go back within an epoch, not even when a topic is made anew.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from brokerd.core.charges import Meter
from brokerd.core.connections import Connection
from brokerd.core.deadlines import Alarm, Deadlines
from brokerd.errors import ErrorCode, Refusal
from brokerd.limits import Limits


@dataclass(slots=True, eq=False)
class Topic:
    """One topic, charged to ``user``.

    ``owner`` published its value; None once it is gone: the value is stale.
    """

    name: str
    user: Hashable
    owner: Connection | None
    seq: int
    value: bytes
    protected: bool = False
    """Somebody who held a record published it once."""


class Topics:
    """All topics by name."""

    def __init__(self, limits: Limits, alarm: Alarm) -> None:
        self._topics: dict[str, Topic] = {}
        self.stale: Deadlines[str] = Deadlines(limits.topic_grace_ms, alarm)
        self._floor = 0
        self.per_uid = Meter("topics_per_uid", limits.topics_per_uid, "publish under fewer topics")
        self.bytes_per_uid = Meter(
            "topic_bytes_per_uid", limits.topic_bytes_per_uid, "publish smaller values"
        )

    def get(self, name: str) -> Topic | None:
        """The topic, if it was published and is not gone."""
        return self._topics.get(name)

    def publish(self, name: str, value: bytes, publisher: Connection) -> Topic:
        """Store ``value`` (JSON) as the newest of ``name``.

        Raises Refusal: CONFLICT (another's topic), RESOURCE_LIMIT (topics or bytes of the uid).
        """
        topic = self._topics.get(name)
        if topic is None:
            topic = self._create(name, value, publisher)
        else:
            self._replace(topic, value, publisher)
        self.stale.discard(name)
        topic.seq += 1
        publisher.owned_topics[name] = None
        return topic

    def orphan(self, publisher: Connection, now_ms: int) -> None:
        """The publisher goes: its topics are stale, and gone after the grace."""
        for name in publisher.owned_topics:
            self._topics[name].owner = None
            self.stale.add(name, now_ms)
        publisher.owned_topics.clear()

    def expire(self, now_ms: int, at_most: int) -> None:
        """Remove topics whose grace is over."""
        for name in self.stale.expired(now_ms, at_most):
            topic = self._topics.pop(name)
            self._floor = max(self._floor, topic.seq)
            self.per_uid.remove(topic.user)
            self.bytes_per_uid.remove(topic.user, len(topic.value))

    def all(self) -> Iterable[Topic]:
        """Every topic, stale ones too."""
        return self._topics.values()

    def __len__(self) -> int:
        return len(self._topics)

    def _create(self, name: str, value: bytes, publisher: Connection) -> Topic:
        user = publisher.owner
        self.per_uid.require(user)
        self.bytes_per_uid.require(user, len(value))
        self.per_uid.add(user)
        self.bytes_per_uid.add(user, len(value))
        topic = self._topics[name] = Topic(name, user, publisher, self._floor, value)
        return topic

    def _replace(self, topic: Topic, value: bytes, publisher: Connection) -> None:
        if topic.user != publisher.owner:
            raise Refusal(
                ErrorCode.CONFLICT,
                "another user publishes that topic; choose a different name",
                reason="topic_in_use",
            )
        growth = len(value) - len(topic.value)
        self.bytes_per_uid.require(topic.user, growth)
        self.bytes_per_uid.add(topic.user, growth)
        if topic.owner is not None:  # several services of a user may share a topic
            topic.owner.owned_topics.pop(topic.name, None)
        topic.value = value
        topic.owner = publisher
