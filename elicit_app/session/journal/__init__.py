"""The journal of a session: its events, how they are written and read, and the state after them."""
