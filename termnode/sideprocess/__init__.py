"""What the processes beside the service have in common: the pane host and the pane shells' zygote.

Each is exec'd with one end of a SOCK_SEQPACKET pair, speaks in msgpack records, and ends when the
other end closes. The modules for such a process itself (``records``, ``descriptors``, ``waking``)
import neither Trio nor ZeroMQ.
"""
