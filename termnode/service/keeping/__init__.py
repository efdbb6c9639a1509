"""What keeps a service running: its broker, host, name, lock and files."""
