"""Input for panes: text, keys, pastes, the mouse, and what became of it."""
