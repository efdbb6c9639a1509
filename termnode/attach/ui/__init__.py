"""Keys, mouse and messages in, effects out: what a person's view does, without I/O."""
