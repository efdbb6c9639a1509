"""Native control: what is decided about requests that are bound to a pane (specs/control.md)."""
