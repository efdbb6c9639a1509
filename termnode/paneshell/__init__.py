"""The pane shell: the process beside a pane's shell that proves who the pane is."""
