"""Isolated tasks: programs and scripts run beside a pane's shell, never in its terminal."""
