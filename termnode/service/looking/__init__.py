"""What panes show: lists, snapshots, titles."""
