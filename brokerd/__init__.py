"""The mesh broker of Termnode and its client library."""

__version__ = "0.1.0"
