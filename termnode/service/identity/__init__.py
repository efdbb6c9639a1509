"""What the service can prove: its own record, and those of the shells in its panes."""
