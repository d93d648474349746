"""Frozen views of a session: all that a window or a terminal is given to show."""
