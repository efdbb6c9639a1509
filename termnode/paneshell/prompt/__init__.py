"""What the sidecar knows and decides about the person's prompt, and commands that run there."""
