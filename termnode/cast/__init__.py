"""Recordings of a pane's output (asciicast), and following it as plain text."""
