"""A program on a pseudo-terminal and its screen."""
