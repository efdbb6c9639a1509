"""Termnode: terminals that people and agents share safely."""
