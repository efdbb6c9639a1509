"""Events: what happened, and who is told."""
