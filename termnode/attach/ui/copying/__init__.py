"""Copy mode: a pane's lines, scrolled, searched and selected, while its program goes on."""
