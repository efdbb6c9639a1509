"""The protocol between the service and a person's view (specs/view.md). No I/O."""
