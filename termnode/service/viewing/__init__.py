"""What people at views see and do: the service's side of ``termnode attach``."""
