"""The broker without I/O: who is connected, what they may say, and what goes out next.

Every call is synchronous, takes the time as an argument and leaves the state whole; what is to be
sent waits in queues that the caller drains. The same core runs behind the real socket and inside
tests.
"""

from brokerd.core.broker import BrokerCore
from brokerd.principal import PeerCredentials

__all__ = ["BrokerCore", "PeerCredentials"]
