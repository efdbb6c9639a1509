"""Waits: until a row matches, until quiet, prompt, exit or a change."""
