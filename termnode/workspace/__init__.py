"""Tabs, panes and where they are on the screen; knows nothing of programs or of who asks."""
