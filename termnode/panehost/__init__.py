"""The pane host: the small process that forks programs on pseudo-terminals.

Promises and messages: specs/pane-host.md. ``client`` is the Trio side, used by the Term service;
everything else runs inside the host, which imports neither Trio nor ZeroMQ.
"""
