"""Rows of a screen in the forms in which they leave the service. Nothing here does I/O."""
