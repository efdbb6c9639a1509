"""Verified sessions, from the side of whoever proves one. See specs/sessions.md.

Typed calls (``api``), the checks before a signature (``proofs``), and a keeper that attaches,
renews and attaches again (``keeper``), whose ``Authority`` ends with the lease at the latest.
"""
